// Due work and arrivals beside devices: an alarm, a poll, a job, a message, a region, as plain values.

/// An alarm that fired.
public struct FiredAlarm: Hashable, Sendable {
    /// As in ``AlarmRequest/identifier``, or in the manifest.
    public let identifier: String
    /// When it was to fire.
    public let due: Timestamp
    /// By how much it is late, in whole seconds.
    public let lateBy: Duration
    /// How many earlier times of it were missed, and are folded into this one.
    public let missed: Int
    /// The content of ``AlarmRequest/data``; nil where it had none.
    public let data: DecodedValue?
    /// Its line for people, as in ``AlarmRequest/alert``. Show it if a person looks at you now.
    public let alert: String?
}

/// A poll that is due.
public struct DueFetch: Hashable, Sendable {
    /// The interval of now, which follows the results.
    public let interval: Duration
    /// Your result of the last one; nil where you gave none, or there was none.
    public let last: FetchResult?
    /// The conditions that are not met, since it waited long enough for them.
    public let waived: [RunCondition]
}

/// The result of a poll or a message. The daemon polls more often while there is news, and less often otherwise.
public enum FetchResult: Hashable, Sendable {
    /// There was news.
    case newData
    /// There was none.
    case noData
    /// It failed; the next one comes as usual. To have this one again, throw an error.
    case failed

    /// The result as the acknowledgement contains it.
    var workResult: WorkResult {
        switch self {
        case .newData: .useful
        case .noData: .nothing
        case .failed: .failed
        }
    }
}

/// A due job, as the event describes it. ``ScheduledTask`` is what you work with.
public struct DueTask: Hashable, Sendable {
    /// The job's id in the manifest.
    public let identifier: String
    /// The kind that the manifest gives it.
    public let kind: TaskKind
    /// By then it was to run; nil where it has no deadline.
    public let deadline: Timestamp?
    /// The conditions that are not met, and that the deadline waived.
    public let waived: [RunCondition]
    /// Why the run before this one was broken off, such as ``ExpirationReason/condition``; nil where none was.
    public let returned: ExpirationReason?
    /// How many earlier times of the manifest's schedule were missed, and are folded into this one.
    public let missed: Int
}

/// A region that was entered or left.
public struct RegionChange: Hashable, Sendable {
    /// The region's id in the manifest.
    public let identifier: String
    /// True where it was entered, false where it was left.
    public let isEntered: Bool
    /// It was so when the region became known: nothing has moved.
    public let isInitial: Bool
}

/// A message that came into the handler's inbox.
public struct ReceivedMessage: Hashable, Sendable {
    /// The identifier that the sender got for it.
    public let identifier: String
    /// Messages of one topic take each other's place.
    public let topic: String?
    /// The topic of the broker that it was published under; nil where it came over HTTP.
    public let brokerTopic: String?
    /// How much the sender hurries: `very-low`, `low`, `normal` or `high`.
    public let urgency: String
    /// Its media type, where the sender gave one.
    public let contentType: String?
    /// Exactly what was sent.
    public let payload: [UInt8]
    /// When it was sent, which may be long ago.
    public let received: Timestamp
    /// The number of earlier messages of the topic that it replaces.
    public let collapsed: Int

    /// The payload as text; nil where it is none.
    public var text: String? { String(validating: payload, as: UTF8.self) }
}

/// Throw it from the work of an alarm, a fetch or a task that cannot go on now: it comes again when all of this is true.
public struct HandBack: Error, Hashable, Sendable {
    /// The required conditions; 16 at most.
    public let conditions: [RunCondition]

    /// - Parameter conditions: none at all leaves the wait to the daemon.
    public init(until conditions: RunCondition...) { self.conditions = conditions }
}
