// A session's work on events: the closures that are registered for them, and the works that are in hand.

@MainActor
struct EventWorks {
    /// The events that a closure is registered for.
    enum Subject: Hashable {
        case task(String)
        case alarm(String)
        case anyAlarm, fetch, message
        /// A session of them.
        case transfers(String)
        case socket(String)
        case keepAlive(String)
    }

    private enum Registration {
        case closure(@MainActor (EventWork) -> Void)
    }

    private var registrations: [Subject: Registration] = [:]
    private var works: [UInt64: EventWork] = [:]

    /// A closure that awaits and has not returned.
    var running: Task<Void, Never>? { works.values.lazy.compactMap(\.running).first }

    /// False where one is registered already.
    mutating func register(_ subject: Subject, _ closure: @escaping @MainActor (EventWork) -> Void) -> Bool {
        guard registrations[subject] == nil else { return false }
        registrations[subject] = .closure(closure)
        return true
    }

    func closure(for event: BackgroundEvent) -> (@MainActor (EventWork) -> Void)? {
        guard case .closure(let closure)? = registration(for: event) else { return nil }
        return closure
    }

    private func registration(for event: BackgroundEvent) -> Registration? {
        switch event.kind {
        case .task(let task): registrations[.task(task.identifier)]
        case .alarm(let alarm): registrations[.alarm(alarm.identifier)] ?? registrations[.anyAlarm]
        case .fetch: registrations[.fetch]
        case .message: registrations[.message]
        case .transfer(let change): registrations[.transfers(change.sessionIdentifier)]
        case .socket(let event): event.isKeepAlive ? keepAlive(event) : registrations[.socket(event.name)]
        case .peripheral, .accessory, .region, .flow, .central, .other: nil
        }
    }

    private func keepAlive(_ event: SocketEvent) -> Registration? {
        registrations[.keepAlive(event.name)] ?? registrations[.socket(event.name)]
    }

    subscript(sequence: UInt64) -> EventWork? { works[sequence] }

    func holds(_ work: EventWork) -> Bool { works[work.event.sequence] === work }

    mutating func add(_ work: EventWork) { works[work.event.sequence] = work }

    mutating func remove(_ sequence: UInt64) { works[sequence] = nil }

    /// After a thaw, removes and returns the works on what the daemon has taken back.
    mutating func removeAll(but owed: [UInt64]) -> [EventWork] {
        let lost = works.filter { !owed.contains($0.key) }
        for sequence in lost.keys { works[sequence] = nil }
        return lost.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The works among `owed` whose time ends for this reason.
    func works(expiring reason: ExpirationReason, among owed: [UInt64]) -> [EventWork] {
        owed.compactMap { works[$0] }.filter { work in
            switch reason {
            // The machine's sleep stops the clock of all, and the batch's budget is not that of long work.
            case .systemSleep: false
            case .budget: !work.event.isStanding
            case .stalled, .maxRun: work.event.isTask && work.event.isStanding
            case .condition: work.event.isFetch || work.event.isTask
            case .cancelled: work.event.isTask
            case .extension, .lock, .operator, .memory, .thermal, .shutdown, .other: true
            }
        }
    }
}

extension SocketEvent {
    fileprivate var isKeepAlive: Bool { if case .keepAlive = kind { true } else { false } }
}

extension ExpirationReason {
    /// It is about one job, and takes no time from what else is open.
    var isOfOneTask: Bool {
        switch self {
        case .condition, .stalled, .maxRun, .cancelled: true
        case .budget, .extension, .lock, .operator, .systemSleep, .memory, .thermal, .shutdown, .other: false
        }
    }
}
