// The latest log lines of handlers, bounded, and who follows them.
import WakeAgenda
import WakeControl
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Every line goes to the bridge's own log as well, rate-limited a handler, so that a chatty one costs the others nothing.
package final class HandlerLogBook: HandlerLog, DecisionListener {
    private struct Line {
        /// Counts all lines of the bridge, so that those of several handlers can be shown in their order.
        var number: UInt64
        var bytes: [UInt8]
    }

    private struct Page {
        var lines: [Line] = []
        var limit: RateLimiter
        /// The last line on standard error: most programs write there why they end.
        var lastError: String?
    }

    private let catalog: Catalog
    private let clock: any WakeClock
    private var linesPerSecond: Int
    private var burst: Int
    private var pages: [HandlerID: Page] = [:]
    private var lineCount: UInt64 = 0
    /// Followers without names follow all handlers.
    private var followers: [(handlers: Set<HandlerID>?, stream: ControlStream)] = []
    private let log = Log("handler")

    private static let linesKept = 200
    /// The reader has read nothing yet when these are sent; what follows has the rest of the stream's room.
    private static let mostBytesAtOnce = ControlStream.capacity * 3 / 4

    package init(catalog: Catalog, clock: any WakeClock, settings: BridgeSettings.LogLimit) {
        self.catalog = catalog
        self.clock = clock
        linesPerSecond = settings.linesPerSecond
        burst = settings.burst
    }

    /// Other limits: each handler begins anew with them.
    package func adopt(_ settings: BridgeSettings.LogLimit) {
        guard (linesPerSecond, burst) != (settings.linesPerSecond, settings.burst) else { return }
        (linesPerSecond, burst) = (settings.linesPerSecond, settings.burst)
        let limit = newPage(clock.stamp()).limit
        for id in pages.keys { pages[id]?.limit = limit }
    }

    package func handler(_ id: HandlerID, logged line: String, as voice: LogVoice) {
        let stamp = clock.stamp()
        // Our own words are few, and are in the bridge's log already.
        guard voice != .bridge else { return keep(line, of: id, voice, stamp) }
        var page = pages[id] ?? newPage(stamp)
        // A line of some KiB costs as much as so many short ones.
        let cost = min(max(line.utf8.count >> 10, 1), burst)
        let isAdmitted = page.limit.consume(cost, now: stamp.moment.monotonic)
        let dropped = isAdmitted ? page.limit.drainRefused() : 0
        pages[id] = page
        guard isAdmitted else { return }
        let name = catalog.name(of: id)
        if dropped > 0 {
            let sentence = "\(dropped) log lines over the limit of \(linesPerSecond) a second are dropped"
            log.warning("\(name): \(sentence)")
            keep(sentence, of: id, .bridge, stamp)
        }
        log.info("\(name): \(line)")
        keep(line, of: id, voice, stamp)
    }

    package func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        if let sentence = decision.sentence { tell(sentence, of: handler) }
    }

    package func hear(_ decision: AgendaDecision, of handler: HandlerID, at stamp: Stamp) {
        if let sentence = decision.sentence { tell(sentence, of: handler) }
    }

    private func tell(_ sentence: String, of handler: HandlerID) {
        log.notice("\(catalog.name(of: handler)): \(sentence)")
        // The stamp is the cause's; a trace's may be years back.
        keep(sentence, of: handler, .bridge, clock.stamp())
    }

    private func newPage(_ stamp: Stamp) -> Page {
        Page(limit: RateLimiter(perSecond: linesPerSecond, burst: burst, now: stamp.moment.monotonic))
    }

    private func keep(_ line: String, of id: HandlerID, _ voice: LogVoice, _ stamp: Stamp) {
        lineCount += 1
        let written = Self.write(line, of: catalog.name(of: id), voice, at: stamp.wall)
        var page = pages[id] ?? newPage(stamp)
        page.lines.append(Line(number: lineCount, bytes: written))
        if voice == .handler(.errors), !line.isEmpty { page.lastError = line }
        if page.lines.count > Self.linesKept { page.lines.removeFirst() }
        pages[id] = page
        for follower in followers where follower.handlers?.contains(id) ?? true { follower.stream.send(written) }
    }

    func lastError(of id: HandlerID) -> String? { pages[id]?.lastError }

    /// Sends the latest `count` lines of these handlers or of all, in their order, and goes on with new ones where asked.
    func send(_ handlers: Set<HandlerID>?, count: Int, follows: Bool, to stream: ControlStream) {
        let chosen = handlers.map { $0.compactMap { pages[$0] } } ?? Array(pages.values)
        let lines = chosen.flatMap(\.lines).sorted { $0.number < $1.number }.suffix(count)
        var room = Self.mostBytesAtOnce
        let fitting = lines.reversed().prefix { line in
            room -= line.bytes.count
            return room >= 0
        }
        if fitting.count < lines.count {
            stream.sendGap(
                of: lines.count - fitting.count,
                "\(lines.count - fitting.count) older lines are left out, because all together are too long; ask for fewer, or for "
                    + "those of one handler: the daemon's own log has them all")
        }
        for line in fitting.reversed() { stream.send(line.bytes) }
        guard follows else { return stream.close() }
        follow(handlers, stream)
    }

    func follow(_ handlers: Set<HandlerID>?, _ stream: ControlStream) {
        followers.append((handlers, stream))
    }

    func forget(_ stream: ControlStream) { followers.removeAll { $0.stream === stream } }

    private static func write(_ line: String, of name: String, _ voice: LogVoice, at time: WallTime) -> [UInt8] {
        var writer = JSONWriter(reserving: 128)
        writer.beginObject()
        writer.key("time")
        writer.time(time)
        writer.field("handler", name)
        writer.field("stream", voice.wireName)
        writer.field("text", line)
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}
