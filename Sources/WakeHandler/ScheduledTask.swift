// A job that is in hand: its expiration, its progress and its end. The shape is that of iOS's BGTask.

/// A job that is due and that you have. ``BackgroundTaskScheduler`` hands it to you.
///
/// Unlike ``BackgroundTask``, which you begin, it was begun by the daemon.
@MainActor
public struct ScheduledTask: Sendable {
    /// The daemon's description: its kind, its deadline and what that waived.
    public nonisolated let details: DueTask
    /// The event that brought it; its ``BackgroundEvent/attempt`` counts the deliveries.
    public nonisolated let event: BackgroundEvent
    let work: EventWork

    /// Nil where the work is not that of a job.
    init?(_ work: EventWork) {
        guard case .task(let details) = work.event.kind else { return nil }
        (self.details, event, self.work) = (details, work.event, work)
    }

    /// The job's id in the manifest.
    public nonisolated var identifier: String { details.identifier }

    /// Called once when the time of the task is nearly over, at once where that is so already: stop, and complete the task.
    public var expirationHandler: (@MainActor () -> Void)? {
        get { work.expiration.handler }
        nonmutating set { work.setExpiration(newValue) }
    }

    /// Why the time is nearly over; nil before that.
    public var expirationReason: ExpirationReason? { work.expiration.reason }

    /// Ends the task: true that it is done, false that it comes again after the daemon's back-off.
    ///
    /// The second time, or after the daemon took the task back, it is an error in ``SessionNotice/failed(_:)``.
    public func setTaskCompleted(success: Bool) { complete(success ? .useful : .retry(after: nil)) }

    /// Ends the task with more than success: ``WorkResult/failed`` means that it went wrong and need not come again.
    public func complete(_ result: WorkResult) { work.complete(result) }

    /// Reports how far it is. Long work goes on for as long as `done` grows at least once a minute.
    /// - Parameters:
    ///   - done: counts from 0, in what you like.
    ///   - total: what it counts to, for people.
    public func progress(_ done: Int, of total: Int? = nil) { work.progress(done, of: total) }

    /// Gives the task back without a charge: it comes again when all of this is true.
    public func handBack(until conditions: [RunCondition]) { work.handBack(until: conditions) }
}
