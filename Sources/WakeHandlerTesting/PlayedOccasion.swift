// Alarms, polls, jobs, messages, flows and transfers of a recording: what a test writes down, and the events that they become.
import WakeHandler
internal import WakeModel

/// An alarm, a poll, a job, a message, a flow or a transfer of a ``Recording``.
///
/// ```swift
/// let recording = Recording(occasions: [
///     .alarm("pill", after: .seconds(5), data: ["dose": 2]),
///     .task("backup", kind: .processing, expires: .condition),
/// ])
/// ```
public struct PlayedOccasion: Hashable, Sendable {
    private enum Content: Hashable, Sendable {
        case alarm(String, data: DecodedValue, missed: Int, lateBy: Duration)
        case fetch(interval: Duration, last: FetchResult?)
        case message(String, id: String, topic: String?, isUrgent: Bool)
        case task(String, kind: TaskKind, deadline: Duration?, waived: [RunCondition], returned: ExpirationReason?)
        case flow(String, FlowChange.Step)
        case finished(String, in: String, path: String, failure: TransferFailure?)
        case challenged(String, in: String, realm: String)
        case settled(String, finished: Int, failed: Int)
        case central(CentralDeed, Characteristic, address: String)
    }

    fileprivate enum CentralDeed: Hashable, Sendable {
        case written([UInt8])
        case read(request: Int)
        case subscribed(maximumUpdateValueLength: Int)
        case unsubscribed

        var word: String {
            switch self {
            case .written: "written"
            case .read: "read"
            case .subscribed: "subscribed"
            case .unsubscribed: "unsubscribed"
            }
        }
    }

    private var content: Content
    /// How long after the start of the recording it is due.
    public var after: Duration
    /// The reason of the handler's expiration, if it has not finished this one by the next line; nil for never.
    ///
    /// With ``ExpirationReason/condition`` the daemon takes it back where it is still open after that, and raises it again.
    public var expires: ExpirationReason?

    private init(_ content: Content, _ after: Duration, _ expires: ExpirationReason?) {
        (self.content, self.after, self.expires) = (content, after, expires)
    }

    /// An alarm that fires.
    public static func alarm(
        _ identifier: String, after: Duration = .zero, data: DecodedValue = [:], missed: Int = 0,
        lateBy: Duration = .zero, expires: ExpirationReason? = nil
    ) -> PlayedOccasion {
        PlayedOccasion(.alarm(identifier, data: data, missed: missed, lateBy: lateBy), after, expires)
    }

    /// A poll that is due.
    public static func fetch(
        after: Duration = .zero, interval: Duration = .seconds(900), last: FetchResult? = nil,
        expires: ExpirationReason? = nil
    ) -> PlayedOccasion {
        PlayedOccasion(.fetch(interval: interval, last: last), after, expires)
    }

    /// A message to its inbox.
    public static func message(
        _ text: String, identifier: String = "1", topic: String? = nil, isUrgent: Bool = false,
        after: Duration = .zero, expires: ExpirationReason? = nil
    ) -> PlayedOccasion {
        PlayedOccasion(.message(text, id: identifier, topic: topic, isUrgent: isUrgent), after, expires)
    }

    /// A job that is due.
    /// - Parameters:
    ///   - kind: as in the manifest.
    ///   - deadline: how long after it is due; nil for a line without one.
    ///   - waived: conditions that its deadline waived.
    public static func task(
        _ identifier: String, kind: TaskKind, after: Duration = .zero, deadline: Duration? = .seconds(86_400),
        waived: [RunCondition] = [], expires: ExpirationReason? = nil
    ) -> PlayedOccasion {
        PlayedOccasion(
            .task(identifier, kind: kind, deadline: deadline, waived: waived, returned: nil), after, expires)
    }

    /// A flow that begins, is interrupted, or ends. Of one that has begun the daemon takes the beginning back with its end.
    public static func flow(_ name: String, _ step: FlowChange.Step, after: Duration = .zero) -> PlayedOccasion {
        PlayedOccasion(.flow(name, step), after, nil)
    }

    /// A download that has ended.
    /// - Parameters:
    ///   - path: the path of its file, from the state directory on.
    ///   - failure: why there is none; nil where it is whole.
    public static func download(
        _ identifier: String, in session: String, to path: String, failure: TransferFailure? = nil,
        after: Duration = .zero
    ) -> PlayedOccasion {
        PlayedOccasion(.finished(identifier, in: session, path: path, failure: failure), after, nil)
    }

    /// A server that asks who the handler is.
    public static func challenge(
        of identifier: String, in session: String, realm: String = "Basic realm=\"test\"", after: Duration = .zero
    ) -> PlayedOccasion {
        PlayedOccasion(.challenged(identifier, in: session, realm: realm), after, nil)
    }

    /// A session of which nothing is open any more.
    public static func settled(
        _ session: String, finished: Int, failed: Int = 0, after: Duration = .zero
    ) -> PlayedOccasion {
        PlayedOccasion(.settled(session, finished: finished, failed: failed), after, nil)
    }

    /// A central that writes to the handler's peripheral.
    public static func write(
        _ bytes: [UInt8], to characteristic: Characteristic, from central: String = "C0:00:00:00:00:01",
        after: Duration = .zero
    ) -> PlayedOccasion {
        PlayedOccasion(.central(.written(bytes), characteristic, address: central), after, nil)
    }

    /// A central that reads a dynamic characteristic.
    /// - Parameter request: the number that the handler's answer names.
    public static func read(
        of characteristic: Characteristic, request: Int = 1, from central: String = "C0:00:00:00:00:01",
        after: Duration = .zero
    ) -> PlayedOccasion {
        PlayedOccasion(.central(.read(request: request), characteristic, address: central), after, nil)
    }

    /// A central that gets the values of a characteristic from now on.
    public static func subscription(
        to characteristic: Characteristic, maximumUpdateValueLength: Int = 182,
        from central: String = "C0:00:00:00:00:01", after: Duration = .zero
    ) -> PlayedOccasion {
        let deed = CentralDeed.subscribed(maximumUpdateValueLength: maximumUpdateValueLength)
        return PlayedOccasion(.central(deed, characteristic, address: central), after, nil)
    }

    /// A central that gets them no more.
    public static func unsubscription(
        from characteristic: Characteristic, by central: String = "C0:00:00:00:00:01", after: Duration = .zero
    ) -> PlayedOccasion {
        PlayedOccasion(.central(.unsubscribed, characteristic, address: central), after, nil)
    }
}

// As the daemon has it.
extension PlayedOccasion {
    var elapsed: TimeSpan { TimeSpan(after) }

    /// The entry of the agenda as an event's device.
    var device: Device {
        switch content {
        case .alarm(let id, _, _, _): Self.device(.alarm, id)
        case .fetch: Self.device(.poll)
        case .message: Self.device(.inbox)
        case .task(let id, _, _, _, _): Self.device(.job, id)
        case .flow(let name, _): Self.device(.flow, name)
        case .finished(let id, let session, _, _), .challenged(let id, let session, _):
            Self.device(.transfer, "\(session)/\(id)")
        case .settled(let session, _, _): Self.device(.transfer, session)
        case .central: Self.device(.peripheral)
        }
    }

    private static func device(_ kind: TriggerKind, _ name: String = "") -> Device {
        Device(
            uri: "\(kind.source.uriPrefix)\(handler)" + (name.isEmpty ? "" : "/\(name)"),
            alias: name.isEmpty ? kind.word : name, profile: nil, kind: kind.source)
    }

    /// The name of the handler under test.
    private static let handler = "model"

    func occasion(at now: WallTime) -> WakeModel.Occasion {
        let payload = JSONWriter.line { write(at: now, into: &$0) }.dropLast()
        return WakeModel.Occasion(name: name, budgetClass: budgetClass, payload: Array(payload))
    }

    private var name: String {
        switch content {
        case .alarm: "alarm.fired"
        case .fetch: "poll.due"
        case .message: "message.received"
        case .task: "job.due"
        case .flow(_, let step):
            switch step {
            case .started: "flow.started"
            case .interrupted: "flow.interrupted"
            case .ended: "flow.ended"
            }
        case .finished: "transfer.finished"
        case .challenged: "transfer.challenge"
        case .settled: "transfer.settled"
        case .central(let deed, _, _): "peripheral.\(deed.word)"
        }
    }

    private var budgetClass: BudgetClass {
        switch content {
        case .alarm, .central: .data
        case .fetch, .message, .finished, .challenged, .settled: .content
        case .task(_, let kind, _, _, _):
            switch kind {
            case .processing, .continued: .work(longest: .seconds(600))
            case .refresh, .other: .content
            }
        case .flow(_, let step): step == .started ? .openEnded(idle: .seconds(5)) : .data
        }
    }

    private func write(at now: WallTime, into writer: inout JSONWriter) {
        switch content {
        case .alarm(let id, let data, let missed, let lateBy):
            writer.field("id", id)
            writer.field("due", now - TimeSpan(lateBy))
            writer.field("late_s", lateBy.components.seconds)
            writer.field("missed", missed)
            writer.key("data")
            writer.fragment(data.jsonText)
        case .fetch(let interval, let last):
            writer.field("interval_s", interval.components.seconds)
            if let last { writer.field("last", last.word) }
        case .message(let text, let id, let topic, let isUrgent):
            var message = InboxMessage(payload: Array(text.utf8))
            (message.topic, message.urgency) = (topic, isUrgent ? .high : .normal)
            writer.field("id", id)
            message.writeWords(into: &writer)
            message.writePayload(into: &writer)
            writer.field("received", now)
        case .task(let id, let kind, let deadline, let waived, let returned):
            writer.field("job", id)
            writer.field("kind", kind.word)
            if let deadline { writer.field("deadline", now + TimeSpan(deadline)) }
            writer.field("waived", waived.map(\.word))
            if let returned { writer.field("returned", returned.word) }
        case .flow(let name, let step):
            writer.field("name", name)
            switch step {
            case .started: writer.field("from", "self")
            case .interrupted(let reason), .ended(let reason): writer.field("reason", reason.word)
            }
        case .finished, .challenged, .settled: writeTransfer(into: &writer)
        case .central(let deed, let characteristic, let address):
            writer.field("service", "180d")
            writer.field("characteristic", characteristic.description)
            writer.field("central", address)
            writer.field("bonded", true)
            deed.write(into: &writer)
        }
    }

    private func writeTransfer(into writer: inout JSONWriter) {
        switch content {
        case .finished(let id, let session, let path, let failure):
            writer.field("session", session)
            writer.field("id", id)
            writer.field("method", "GET")
            writer.field("ok", failure == nil)
            if let failure { writer.field("why", failure.word) }
            writer.field("path", path)
        case .challenged(let id, let session, let realm):
            writer.field("session", session)
            writer.field("id", id)
            writer.field("realm", realm)
        case .settled(let session, let finished, let failed):
            writer.field("session", session)
            writer.field("finished", finished)
            writer.field("failed", failed)
        case .alarm, .fetch, .task, .message, .flow, .central: break
        }
    }

    /// The same again, after what it relied on had gone.
    var returning: PlayedOccasion {
        var again = self
        again.expires = nil
        if case .task(let id, let kind, let deadline, let waived, _) = content {
            again.content = .task(id, kind: kind, deadline: deadline, waived: waived, returned: .condition)
        }
        return again
    }
}

extension FetchResult {
    fileprivate var word: String {
        switch self {
        case .newData: "useful"
        case .noData: "nothing"
        case .failed: "failed"
        }
    }
}

extension TimeSpan {
    /// Ten years at most.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(315_360_000)).components
        self.init(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

extension PlayedOccasion.CentralDeed {
    fileprivate func write(into writer: inout JSONWriter) {
        switch self {
        case .written(let bytes):
            writer.key("hex")
            writer.hexadecimal(bytes)
            writer.field("with_response", true)
        case .read(let request):
            writer.field("request", request)
            writer.field("within_ms", 4_500)
        case .subscribed(let length): writer.field("mtu", length + 3)
        case .unsubscribed: writer.field("reason", "central")
        }
    }
}
