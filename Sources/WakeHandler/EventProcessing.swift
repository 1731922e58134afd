// Events that are worked on one after the other, each acknowledged by its work's return and given back by its error.

extension BackgroundSession {
    /// Works on the events one by one, until the daemon ends the input. Returning acknowledges the event. An error gives it
    /// back: it comes again after the daemon's back-off, and after a ``HandBack`` when its conditions are true.
    ///
    /// ```swift
    /// try await session.process { event in
    ///     guard case .peripheral(_, .data(let data)) = event.kind else { return }
    ///     try await store(data)
    /// }
    /// ```
    ///
    /// The work is cancelled when its time is nearly over. A flow that began stays open. To finish an event otherwise, call
    /// ``finish(_:_:)`` in the work. Closures that are registered for alarms, jobs and the like have their events.
    /// - Throws: `CancellationError` where the task that calls it is cancelled before the input ends.
    public func process(
        _ body: @escaping @MainActor @Sendable (BackgroundEvent) async throws -> Void
    ) async throws(CancellationError) {
        for await event in events { await work(on: event, body) }
        await finishWorks()
        if Task.isCancelled { throw CancellationError() }
    }

    /// Serves what is registered in ``scheduler``, ``alarms``, ``backgroundFetch``, ``sockets`` and ``remoteNotifications`` until the
    /// input ends and their closures have returned, for a handler that needs nothing else. All other events are finished as ``WorkResult/nothing``.
    public func serve() async {
        for await event in events { finish(event, .nothing) }
        await finishWorks()
    }

    private func finishWorks() async {
        while let running = works.running { await running.value }
    }

    private func work(
        on event: BackgroundEvent, _ body: @escaping @MainActor @Sendable (BackgroundEvent) async throws -> Void
    ) async {
        let running = beginWork(on: event).perform {
            try await body(event)
            return self.open.isOpen(event.sequence) && !event.startsFlow ? .useful : .pending
        }
        await withTaskCancellationHandler {
            await running.value
        } onCancel: {
            running.cancel()
        }
    }
}
