// A handler's requests to have a job run: one type for each kind, as in iOS's BackgroundTasks.
internal import WakeModel

/// A request to run a job once. The manifest declares the job under `jobs`, with the same id and kind.
///
/// The times count from ``BackgroundTaskScheduler/submit(_:)``. Where both ``delay`` and ``earliestBeginDate`` are set, the
/// later one counts.
public protocol BackgroundTaskRequest: Hashable, Sendable {
    /// The job's id in the manifest.
    var identifier: String { get }
    /// It begins no sooner than after this; nil for at once.
    var delay: Duration? { get }
    /// It begins no sooner than then; nil for at once.
    var earliestBeginDate: Timestamp? { get }
    /// After this it runs without the conditions that can be waived; nil for the manifest's value.
    var deadline: Duration? { get }
    /// The conditions of its run; nil for the manifest's value.
    var conditions: [RunCondition]? { get }
    /// The strategy where it cannot begin now.
    var strategy: SubmissionStrategy { get }
}

/// The treatment of a request that cannot begin now.
public enum SubmissionStrategy: Hashable, Sendable {
    /// It waits.
    case queue
    /// It is refused with ``BridgeError/Code-swift.enum/unavailable``.
    case fail
}

/// Asks for a short look for news: as `BGAppRefreshTaskRequest`. One can be pending.
public struct BackgroundRefreshRequest: BackgroundTaskRequest {
    public let identifier: String
    public var delay: Duration?
    public var earliestBeginDate: Timestamp?
    public var deadline: Duration?
    public var conditions: [RunCondition]?
    public var strategy: SubmissionStrategy { .queue }

    /// - Parameter identifier: a job of the kind `refresh`.
    public init(identifier: String, delay: Duration? = nil, deadline: Duration? = nil) {
        (self.identifier, self.delay, self.deadline) = (identifier, delay, deadline)
    }
}

/// Asks for long work in the background: as `BGProcessingTaskRequest`. Ten can be pending.
public struct BackgroundProcessingRequest: BackgroundTaskRequest {
    public let identifier: String
    public var delay: Duration?
    public var earliestBeginDate: Timestamp?
    public var deadline: Duration?
    public var conditions: [RunCondition]?
    public var strategy: SubmissionStrategy { .queue }

    /// - Parameters:
    ///   - identifier: a job of the kind `processing`.
    ///   - conditions: the conditions of its run; nil for the manifest's value.
    public init(
        identifier: String, delay: Duration? = nil, deadline: Duration? = nil, conditions: [RunCondition]? = nil
    ) {
        (self.identifier, self.delay, self.deadline) = (identifier, delay, deadline)
        self.conditions = conditions
    }

    /// Whether ``conditions`` have ``RunCondition/power``. Setting it replaces what the manifest requires.
    public var requiresExternalPower: Bool {
        get { requires(.power) }
        set { require(.power, newValue) }
    }

    /// Whether ``conditions`` have ``RunCondition/network``. Setting it replaces what the manifest requires.
    public var requiresNetworkConnectivity: Bool {
        get { requires(.network) }
        set { require(.network, newValue) }
    }

    private func requires(_ condition: RunCondition) -> Bool { conditions?.contains(condition) ?? false }

    private mutating func require(_ condition: RunCondition, _ isRequired: Bool) {
        let others = (conditions ?? []).filter { $0 != condition }
        conditions = isRequired ? others + [condition] : others
    }
}

/// Asks for work that a person began and waits for: as `BGContinuedProcessingTaskRequest`.
///
/// It begins only while the handler is attached, or where a person runs it with `wakebridge run-job`.
public struct ContinuedProcessingRequest: BackgroundTaskRequest {
    public let identifier: String
    public var strategy: SubmissionStrategy
    public var deadline: Duration?
    public var conditions: [RunCondition]?
    public var delay: Duration? { nil }
    public var earliestBeginDate: Timestamp? { nil }

    /// - Parameter identifier: a job of the kind `continued`.
    public init(identifier: String, strategy: SubmissionStrategy = .queue) {
        (self.identifier, self.strategy) = (identifier, strategy)
    }
}

extension BackgroundTaskRequest {
    /// As descriptor 3 has it.
    func order(at now: Timestamp) -> HandlerOrder {
        var members = JSONMembers()
        members.add("job", .string(identifier))
        let wait = max(delay ?? .zero, earliestBeginDate.map { $0 - now } ?? .zero)
        if wait > .zero { members.add("not_before_s", .seconds(wait)) }
        members.add("deadline_s", deadline.map(JSONValue.seconds))
        members.add("require", conditions.map { .array($0.map { .string($0.word) }) })
        switch strategy {
        case .queue: break
        case .fail: members.add("strategy", .string("fail"))
        }
        return HandlerOrder(.submit, members.object)
    }
}
