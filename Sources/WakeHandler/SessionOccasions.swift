// What a session does with occasions and orders: begins registered closures, ends their works, asks the daemon.
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
    public func handBack(_ event: AccessoryEvent, until conditions: [RunCondition]) {
        if let work = work(for: event) { handBack(work, until: conditions) }
    }
}

// Orders.
extension BackgroundSession {
    /// An order whose refusal is told as ``SessionNotice/failed(_:)``.
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
    package var isPerforming: Bool { occasions.running != nil }

    func register(_ subject: OccasionBook.Subject, _ closure: @escaping @MainActor (OccasionWork) -> Void) -> Bool {
        guard occasions.register(subject, closure) else { return false }
        if case .task(let identifier) = subject { order(HandlerOrder(.register, .string(identifier))) }
        return true
    }

    /// The work on an open event; nil where that is of a device, or finished.
    func work(for event: AccessoryEvent) -> OccasionWork? {
        guard event.occasion != nil, open.isOpen(event.sequence) else { return nil }
        if let work = occasions[event.sequence] { return work }
        let work = OccasionWork(event, in: self)
        occasions.add(work)
        return work
    }

    func begin(_ event: AccessoryEvent, _ closure: @MainActor (OccasionWork) -> Void) {
        guard open.open(event) else { return }
        // A later delivery takes the place of an earlier one.
        occasions[event.sequence]?.expire(.budget)
        let work = OccasionWork(event, in: self)
        occasions.add(work)
        closure(work)
    }

    /// After a thaw: the daemon has taken back what it does not count as owed.
    func loseWorks(but owed: [UInt64]) {
        for work in occasions.removeAll(but: owed) { work.expire(.budget) }
    }

    func complete(_ work: OccasionWork, _ result: WorkResult) {
        if checkHeld(work) { settle(work.event.sequence, result) }
    }

    func progress(_ work: OccasionWork, done: Int, of total: Int?) {
        guard checkHeld(work) else { return }
        send(
            .progress(Sequence(work.event.sequence), done: Int64(max(0, done)), total: total.map { Int64(max(0, $0)) }),
            nil)
    }

    func handBack(_ work: OccasionWork, until conditions: [RunCondition]) {
        guard checkHeld(work) else { return }
        let sequence = work.event.sequence
        guard !conditions.isEmpty else { return settle(sequence, .retry(after: nil)) }
        guard open.giveBack(sequence) else { return }
        occasions.remove(sequence)
        send(.handBack(Sequence(sequence), until: conditions.map(\.word)), nil)
        acknowledge(open.acknowledgeable())
    }

    /// What is not held any more is told as the daemon would tell it, and nothing is written: an acknowledgement could
    /// cover other events that are open.
    private func checkHeld(_ work: OccasionWork) -> Bool {
        let sequence = work.event.sequence
        if occasions.holds(work), open.isOpen(sequence) { return true }
        report(.failed(.noLongerHeld(work.event.device, sequence)))
        return false
    }
}
