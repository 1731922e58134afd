// A session's works and orders: begins registered closures, ends their works, asks the daemon.
internal import WakeModel

extension BackgroundSession {
    /// The jobs of the manifest.
    public var scheduler: BackgroundTaskScheduler { BackgroundTaskScheduler(session: self) }
    /// Alarms.
    public var alarms: AlarmCenter { AlarmCenter(session: self) }
    /// The poll.
    public var backgroundFetch: BackgroundFetch { BackgroundFetch(session: self) }
    /// The inbox.
    public var remoteNotifications: RemoteNotifications { RemoteNotifications(session: self) }

    /// All that is scheduled for the handler, and what each waits for.
    /// - Throws: where the daemon does not answer.
    public func pendingRequests() async throws(BridgeError) -> [PendingRequest] {
        try await order(HandlerOrder(.pending, .boolean(true))).pending
    }

    /// Whether one of a region's beacons is near; unknown until the daemon's radio has listened for long enough.
    /// - Throws: where the daemon does not answer, or the manifest has no such region.
    public func regionState(of identifier: String) async throws(BridgeError) -> RegionState {
        let order = HandlerOrder(.state, .object(of: "region", .string(identifier)))
        return RegionState(word: try await self.order(order).outcome.word)
    }

    /// Gives an alarm, a poll, a job or a message back without a charge: it comes again when all of this is true. Ignores other events.
    public func handBack(_ event: BackgroundEvent, until conditions: [RunCondition]) {
        if let work = work(for: event) { handBack(work, until: conditions) }
    }
}

// Orders.
extension BackgroundSession {
    /// Sends an order whose refusal is reported as ``SessionNotice/failed(_:)``.
    func order(_ order: HandlerOrder) { send(.order(order), nil) }

    func order(_ order: HandlerOrder, _ completion: @escaping (Result<ScheduleAnswer, BridgeError>) -> Void) {
        ask(.order(order)) { answer in
            switch answer {
            case .scheduled(let answer): completion(.success(answer))
            case .refused(let error): completion(.failure(error))
            // An answer without a list is one of a later version.
            case .bytes, .remaining: completion(.success(ScheduleAnswer.unknown))
            }
        }
    }

    func order(_ order: HandlerOrder) async throws(BridgeError) -> ScheduleAnswer {
        let result = await withCheckedContinuation { waiting in
            self.order(order) { waiting.resume(returning: $0) }
        }
        return try result.get()
    }
}

// Works.
extension BackgroundSession {
    /// True while a registered closure that awaits has not returned.
    package var isPerforming: Bool { works.running != nil }

    func register(_ subject: EventWorks.Subject, _ closure: @escaping @MainActor (EventWork) -> Void) -> Bool {
        guard works.register(subject, closure) else { return false }
        if case .task(let identifier) = subject { order(HandlerOrder(.register, .string(identifier))) }
        return true
    }

    /// The work on an open event; nil where that is of a device, or finished.
    func work(for event: BackgroundEvent) -> EventWork? {
        guard !event.isOfDevice, open.isOpen(event.sequence) else { return nil }
        if let work = works[event.sequence] { return work }
        let work = EventWork(event, in: self)
        works.add(work)
        return work
    }

    func begin(_ event: BackgroundEvent, _ closure: @MainActor (EventWork) -> Void) {
        if open.open(event) { closure(beginWork(on: event)) }
    }

    /// A later delivery takes the place of an earlier one.
    func beginWork(on event: BackgroundEvent) -> EventWork {
        works[event.sequence]?.expire(.budget)
        let work = EventWork(event, in: self)
        works.add(work)
        return work
    }

    /// After a thaw: the daemon has taken back what it does not count as owed.
    func loseWorks(but owed: [UInt64]) {
        for work in works.removeAll(but: owed) { work.expire(.budget) }
    }

    func complete(_ work: EventWork, _ result: WorkResult) {
        if checkHeld(work) { settle(work.event.sequence, result) }
    }

    func progress(_ work: EventWork, done: Int, of total: Int?) {
        guard checkHeld(work) else { return }
        send(
            .progress(Sequence(work.event.sequence), done: Int64(max(0, done)), total: total.map { Int64(max(0, $0)) }),
            nil)
    }

    func handBack(_ work: EventWork, until conditions: [RunCondition]) {
        guard checkHeld(work) else { return }
        let sequence = work.event.sequence
        guard !conditions.isEmpty else { return settle(sequence, .retry(after: nil)) }
        guard open.giveBack(sequence) else { return }
        works.remove(sequence)
        send(.handBack(Sequence(sequence), until: conditions.map(\.word)), nil)
        acknowledge(open.acknowledgeable())
    }

    /// Reports a work that is no longer held as the daemon would, and writes nothing: an acknowledgement could
    /// cover other events that are open.
    private func checkHeld(_ work: EventWork) -> Bool {
        let sequence = work.event.sequence
        if works.holds(work), open.isOpen(sequence) { return true }
        report(.failed(.noLongerHeld(work.event.name, sequence)))
        return false
    }
}
