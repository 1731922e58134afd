// Jobs as iOS's BGTaskScheduler has them: closures registered for their ids, and requests that are submitted.
internal import WakeModel

/// Registers work for the jobs of the manifest, and asks for them to run. ``BackgroundSession/scheduler`` is one.
///
/// ```swift
/// session.scheduler.register(forTaskWithIdentifier: "backup") { task in
///     for (number, file) in files.enumerated() {
///         try await copy(file)
///         task.progress(number + 1, of: files.count)
///     }
///     return .useful
/// }
/// ```
///
/// A job for which nothing is registered comes to ``BackgroundSessionDelegate`` or ``BackgroundSession/events``.
@MainActor
public struct BackgroundTaskScheduler: Sendable {
    let session: BackgroundSession

    /// Registers a closure that begins the work, as on iOS. Register before the session runs.
    /// - Parameters:
    ///   - identifier: the job's id in the manifest. The daemon reports an error where the manifest has none of it.
    ///   - launchHandler: is called when the job is due, and sees to it that ``ScheduledTask/setTaskCompleted(success:)`` is.
    /// - Returns: false where a closure is registered for it already; that one stays.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, launchHandler: @escaping @MainActor (ScheduledTask) -> Void
    ) -> Bool {
        session.register(.task(identifier)) { work in
            if let task = ScheduledTask(work) { launchHandler(task) }
        }
    }

    /// Registers work that awaits. It is cancelled when its time is nearly over.
    /// - Parameters:
    ///   - identifier: the job's id in the manifest. The daemon reports an error where the manifest has none of it.
    ///   - work: its result completes the task. An error gives the task back: it comes again, after a ``HandBack`` when
    ///     its conditions are true.
    /// - Returns: false where a closure is registered for it already; that one stays.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String,
        work body: @escaping @MainActor @Sendable (ScheduledTask) async throws -> WorkResult
    ) -> Bool {
        session.register(.task(identifier)) { work in
            if let task = ScheduledTask(work) { work.perform { try await body(task) } }
        }
    }

    /// The task of an event of ``BackgroundSession/events``; nil where that is about something else, or is finished.
    public func task(for event: BackgroundEvent) -> ScheduledTask? {
        session.work(for: event).flatMap(ScheduledTask.init)
    }

    /// Asks for a job to run. A request that is pending for the same job is replaced.
    /// - Parameter completion: called on the main actor; fails where the daemon or the manifest refuses.
    public func submit(
        _ request: some BackgroundTaskRequest,
        completion: @escaping (Result<ScheduleAnswer, BridgeError>) -> Void = { _ in }
    ) {
        session.order(request.order(at: .now), completion)
    }

    /// Asks for a job to run. A request that is pending for the same job is replaced.
    /// - Throws: where the daemon or the manifest refuses.
    @discardableResult
    public func submit(_ request: some BackgroundTaskRequest) async throws(BridgeError) -> ScheduleAnswer {
        try await session.order(request.order(at: .now))
    }

    /// Cancels what was submitted for a job. What runs already runs on.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        session.order(HandlerOrder(.cancel, .object(of: "job", .string(identifier))))
    }

    /// Cancels what was submitted for all jobs.
    public func cancelAllTaskRequests() {
        session.order(HandlerOrder(.cancel, .object(of: "jobs", .boolean(true))))
    }

    /// The jobs that are pending, and what each waits for.
    /// - Throws: where the daemon does not answer.
    public func pendingTaskRequests() async throws(BridgeError) -> [PendingRequest] {
        try await session.pendingRequests().filter { $0.source == .job }
    }
}
