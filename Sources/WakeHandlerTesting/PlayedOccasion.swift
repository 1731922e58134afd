// Alarms, polls and jobs of a recording: what a test writes down, and the events that they become.
import WakeHandler
internal import WakeModel

/// An alarm, a poll or a job that comes due in a ``Recording``.
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
        case task(String, kind: TaskKind, deadline: Duration?, waived: [RunCondition], returned: ExpirationReason?)
    }

    private var content: Content
    /// How long after the start of the recording it is due.
    public var after: Duration
    /// Why the handler is told that its time ends, if it has not finished this one by the next line; nil for never.
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
}

// As the daemon has it.
extension PlayedOccasion {
    var elapsed: TimeSpan { TimeSpan(after) }

    /// The entry of the agenda as an event's device.
    var device: Device {
        switch content {
        case .alarm(let id, _, _, _):
            Device(uri: "/alarm/\(Self.handler)/\(id)", alias: id, profile: nil, kind: .alarm)
        case .fetch: Device(uri: "/poll/\(Self.handler)", alias: "poll", profile: nil, kind: .poll)
        case .task(let id, _, _, _, _):
            Device(uri: "/job/\(Self.handler)/\(id)", alias: id, profile: nil, kind: .job)
        }
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
        case .task: "job.due"
        }
    }

    private var budgetClass: BudgetClass {
        switch content {
        case .alarm: .data
        case .fetch: .content
        case .task(_, let kind, _, _, _):
            switch kind {
            case .processing, .continued: .work(longest: .seconds(600))
            case .refresh, .other: .content
            }
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
        case .task(let id, let kind, let deadline, let waived, let returned):
            writer.field("job", id)
            writer.field("kind", kind.word)
            if let deadline { writer.field("deadline", now + TimeSpan(deadline)) }
            writer.field("waived", waived.map(\.word))
            if let returned { writer.field("returned", returned.word) }
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
