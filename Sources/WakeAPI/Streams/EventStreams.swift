// Streams of events, of a whole day, and of handlers' logs.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel

extension Endpoint {
    static let streams: [Endpoint] = [
        Endpoint(
            .get("/v1/events", .read), "events as they come", parameters: [Parameter("device", "the one device")],
            .stream(.named(.event))
        ) { api, asked throws(ControlRefusal) in
            guard let name = asked.named("device") else { return api.events.watch(nil) }
            return api.events.watch(try api.knownDevices.device(name).id)
        },
        Endpoint(.get("/v1/day", .read), "all that a trace can hold, as it comes", .stream(.named(.dayLine))) {
            api, _ throws(ControlRefusal) in try api.day.answer()
        },
        Endpoint(
            .get("/v1/logs", .read), "the latest log lines",
            parameters: [
                Parameter("handler", "the one handler"),
                Parameter("follow", "whether new lines follow", .word(["true", "false", "1", "0", ""])),
                Parameter("lines", "how many of the latest lines", .whole(from: 0, through: LogQuestion.mostLines)),
            ], .stream(.named(.logLine)),
            reads: { asked throws(ControlRefusal) in try LogQuestion(asked.request) },
            answers: { api, _, question throws(ControlRefusal) in try api.logs.answer(question) }),
    ]
}

/// The turn owns it, so it holds no part that owns the turn.
final class EventStreams {
    private let composer: LineComposer
    private var watchers: [(device: EventOrigin?, stream: ControlStream)] = []
    /// Events for the watchers, sent after the turn: no handler waits for them.
    private var unsent: [(event: DeviceEvent, sequence: Sequence?)] = []

    init(_ composer: LineComposer) { self.composer = composer }

    /// - Parameter device: nil for every device.
    func watch(_ device: EventOrigin?) -> ControlResponse {
        .stream(contentType: "application/x-ndjson") { [self] stream in
            watchers.append((device, stream))
            stream.onClose = { [self] stream in watchers.removeAll { $0.stream === stream } }
        }
    }
}

extension EventStreams: EventSink {
    func saw(_ event: DeviceEvent, as sequence: Sequence?) {
        if !watchers.isEmpty { unsent.append((event, sequence)) }
    }
}

extension EventStreams {
    func turnEnded() {
        let events = unsent
        unsent.removeAll(keepingCapacity: true)
        for (event, sequence) in events { send(event, as: sequence) }
    }

    private func send(_ event: DeviceEvent, as sequence: Sequence?) {
        let interested = watchers.filter { $0.device == nil || $0.device == event.origin }
        guard !interested.isEmpty else { return }
        let line =
            sequence.map { composer.compose(event, as: $0, budget: HandlerTimers().budget) }
            ?? composer.compose(unnumbered: event)
        for watcher in interested { watcher.stream.send(line) }
    }
}

struct LogQuestion: Hashable, Sendable {
    /// Nil for every handler.
    var handler: String?
    /// True for a stream that goes on with new lines.
    var follows = false
    /// How many of the latest lines to send first.
    var lines = 100

    static let mostLines = 10_000
}

extension LogQuestion {
    init(_ request: ControlRequest) throws(ControlRefusal) {
        self.init(handler: request.named("handler"), follows: try request.flag("follow"))
        guard let text = request.parameter("lines") else { return }
        guard let count = Int(text), (0...Self.mostLines).contains(count) else {
            throw .badRequest("bad-value", "lines=\(text) is not a number from 0 to 10000", "ask for 0 to 10000 lines")
        }
        lines = count
    }
}

struct LogAnswers {
    let names: HandlerNames
    let logBook: HandlerLogBook

    func answer(_ question: LogQuestion) throws(ControlRefusal) -> ControlResponse {
        let handlers = try question.handler.map { name throws(ControlRefusal) in
            try names.those(meantBy: name, mayBeNone: true, names.handler)
        }
        return .stream(contentType: "application/x-ndjson") { [self] stream in
            stream.onClose = { [self] stream in logBook.forget(stream) }
            logBook.send(handlers.map(Set.init), count: question.lines, follows: question.follows, to: stream)
        }
    }
}
