// Answers to those who watch: charts, timelines, findings, nearby devices, pairings, recordings, replays.
import WakeControl
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

struct WatchingAnswers {
    let watching: Watching
    let names: HandlerNames
    let devices: KnownDevices
    var streams: ToolStreams { watching.streams }
    var findings: FindingsLook { watching.findings }
    private var catalog: Catalog { names.catalog }

    private func kept<Part>(_ part: () throws(SystemError) -> Part) throws(ControlRefusal) -> Part {
        do throws(SystemError) { return try part() } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "nothing can be kept to look at: \(error.description)",
                advice: "look at the daemon's limits on memory and open files")
        }
    }

    // MARK: Devices

    func history(of name: String, _ span: HistorySpan) throws(ControlRefusal) -> ControlResponse {
        let entry = try devices.device(name)
        let now = SystemClock.wall()
        let page = try kept(watching.histories).devices.page(of: entry, at: now)
        let from = now - span.length
        return .object { writer in
            writer.field("device", entry.device.alias)
            writer.moment("from", from)
            writer.moment("until", now)
            writer.field("step_s", span.stepSeconds)
            writer.fields(of: page, span, until: now)
            writer.objects("gaps", page?.gaps(from: from, until: now) ?? []) { writer, gap in
                writer.moment("from", gap.from)
                writer.moment("until", gap.until ?? now)
                writer.field("cause", gap.cause)
                writer.field("why", gap.why)
            }
        }
    }

    func record(_ name: String) throws(ControlRefusal) -> ControlResponse {
        let entry = try devices.device(name)
        return try kept(watching.recordings).answer(devices.report(entry), as: entry.id)
    }

    // MARK: Handlers

    func timeline(of name: String, _ span: HistorySpan) throws(ControlRefusal) -> ControlResponse {
        let handler = try names.handler(name)
        let now = SystemClock.wall()
        let timelines = try kept(watching.histories).handlers
        timelines.keep { catalog.handlers[$0] != nil }
        let timeline = timelines.timeline(of: handler)
        let from = now - span.length
        let spans = timeline?.spans(from: from, until: now) ?? []
        let timers = catalog.handlers[handler]?.settings.timers ?? HandlerTimers()
        return .object { writer in
            writer.field("handler", catalog.name(of: handler))
            writer.moment("from", from)
            writer.moment("until", now)
            writer.field(spans)
            writer.field((timeline?.ends ?? []).filter { $0.time >= from })
            writer.field("budget_ms", timers.budget.wholeMilliseconds)
            writer.field("awake_ms", spans.awake.wholeMilliseconds)
            writer.key("awake_ratio")
            writer.number(spans.awakeRatio)
        }
    }

    func replay(_ trace: String, to name: String) throws(ControlRefusal) -> ControlResponse {
        guard let manifest = catalog.handlers[try names.handler(name)] else {
            throw ControlRefusal(
                .conflict, code: "conflict", message: "the handler has no manifest any more",
                advice: "reload, and try again")
        }
        let file = watching.nextFile()
        do throws(SystemError) { try File.replace(file, with: Array(trace.utf8)) } catch {
            throw ControlRefusal(
                .failed, code: "failed", message: "the trace could not be put where it is read: \(error.description)",
                advice: "make room in the runtime directory")
        }
        return try streams.replay(file, manifest: manifest.file)
    }
}

extension ControlRefusal {
    static func unknownPairing(_ id: Int64) -> ControlRefusal {
        ControlRefusal(
            .notFound, code: "unknown-pairing", message: "there is no pairing \(id) at work",
            advice: "begin one with POST /v1/pairing, and answer while its stream is open")
    }
}

extension [StateTimeline.Span] {
    fileprivate var awakeRatio: Double {
        guard length > .zero else { return 0 }
        return (Double(awake.nanoseconds) / Double(length.nanoseconds) * 1_000_000).rounded() / 1_000_000
    }
}

extension JSONWriter {
    /// Unix seconds, as charts count.
    mutating func moment(_ time: WallTime) { number(Double(time.microseconds) / 1_000_000) }

    fileprivate mutating func moment(_ name: StaticString, _ time: WallTime) {
        key(name)
        moment(time)
    }

    fileprivate mutating func field(_ spans: [StateTimeline.Span]) {
        objects("spans", spans) { writer, span in
            writer.field("state", span.state.word)
            writer.moment("from", span.from)
            writer.moment("until", span.until)
        }
    }

    fileprivate mutating func field(_ ends: [StateTimeline.End]) {
        objects("ends", ends) { writer, end in
            writer.moment("time", end.time)
            writer.field("what", end.reason)
            writer.field("why", end.sentence)
        }
    }

    fileprivate mutating func fields(of page: HistoryBook.Page?, _ span: HistorySpan, until: WallTime) {
        objects("fields", page?.names ?? []) { writer, name in
            writer.field("name", name)
            writer.field("unit", FieldUnit.of(name))
            writer.key("points")
            writer.beginArray()
            for step in page?.fields[name]?.steps(span, until: until) ?? [] {
                writer.beginArray()
                writer.integer(Int64(step.index) * span.stepSeconds)
                for number in [step.mean, step.least, step.most] { writer.number(number) }
                writer.endArray()
            }
            writer.endArray()
        }
    }
}
