// The work on one event that is in hand: what ends it in time, and what it writes to the daemon.

/// Held by its session until it is finished, or until the daemon has taken the event back.
@MainActor
final class EventWork {
    /// The action when its time is nearly over.
    enum Expiration {
        case awaited((@MainActor () -> Void)?)
        case told(ExpirationReason)

        var handler: (@MainActor () -> Void)? { if case .awaited(let handler) = self { handler } else { nil } }
        var reason: ExpirationReason? { if case .told(let reason) = self { reason } else { nil } }
    }

    let event: BackgroundEvent
    private let session: BackgroundSession
    private(set) var expiration = Expiration.awaited(nil)
    /// A closure that awaits, until it returns.
    private(set) var running: Task<Void, Never>?

    init(_ event: BackgroundEvent, in session: BackgroundSession) { (self.event, self.session) = (event, session) }

    func setExpiration(_ handler: (@MainActor () -> Void)?) {
        switch expiration {
        case .awaited: expiration = .awaited(handler)
        case .told: handler?()
        }
    }

    func expire(_ reason: ExpirationReason) {
        guard case .awaited(let handler) = expiration else { return }
        expiration = .told(reason)
        running?.cancel()
        handler?()
    }

    /// Does work that awaits, and completes with its result.
    @discardableResult
    func perform(_ body: @escaping @MainActor @Sendable () async throws -> WorkResult) -> Task<Void, Never> {
        let task = Task {
            let result: Result<WorkResult, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            running = nil
            conclude(result)
        }
        running = task
        return task
    }

    /// Does work at once, and completes with its result.
    func perform(now body: () throws -> WorkResult) { conclude(Result(catching: body)) }

    private func conclude(_ result: Result<WorkResult, any Error>) {
        switch result {
        // The event was finished in the work, or is to stay open after it.
        case .success(.pending): break
        case .success(let result): complete(result)
        case .failure(let handBack as HandBack): self.handBack(until: handBack.conditions)
        case .failure(let error):
            if !(error is CancellationError) { session.log("\(event.name): \(error); it comes again", level: .error) }
            complete(.retry(after: nil))
        }
    }

    func complete(_ result: WorkResult) { session.complete(self, result) }
    func progress(_ done: Int, of total: Int?) { session.progress(self, done: done, of: total) }
    func handBack(until conditions: [RunCondition]) { session.handBack(self, until: conditions) }
}
