// The callbacks of a session of transfers: its tasks' ends, challenges of servers, and the end of all that was open.
internal import WakeModel

/// The callbacks for tasks of a ``TransferSession``. All run on the main actor, one at a time, and all have a default.
/// An event is acknowledged when its call returns; where there is a completion handler, when you call that.
@MainActor
public protocol TransferSessionDelegate: AnyObject {
    /// The file is whole at `path`, from your state directory on. The end of the task is reported next.
    func transferSession(
        _ session: TransferSession, downloadTask: TransferTask, didFinishDownloadingTo path: String)
    /// The task has ended; `failure` is nil where all of its file was received or sent.
    func transferSession(
        _ session: TransferSession, task: TransferTask, didCompleteWith end: FinishedTransfer, failure: TransferFailure?
    )
    /// The server asks who you are. Call the completion handler within your time; the task itself waits for an hour.
    func transferSession(
        _ session: TransferSession, task: TransferTask, didReceive challenge: TransferChallenge,
        completionHandler: @escaping @MainActor (TransferChallenge.Answer) -> Void)
    /// All tasks of the session have ended. Call the completion handler when you have made use of what came.
    func transferSessionDidFinishEvents(
        _ session: TransferSession, finished: Int, failed: Int, completionHandler: @escaping @MainActor () -> Void)
}

extension TransferSessionDelegate {
    public func transferSession(
        _ session: TransferSession, downloadTask: TransferTask, didFinishDownloadingTo path: String
    ) {}
    public func transferSession(
        _ session: TransferSession, task: TransferTask, didCompleteWith end: FinishedTransfer, failure: TransferFailure?
    ) {}
    /// Cancels the task.
    public func transferSession(
        _ session: TransferSession, task: TransferTask, didReceive challenge: TransferChallenge,
        completionHandler: @escaping @MainActor (TransferChallenge.Answer) -> Void
    ) { completionHandler(.cancelTask) }
    public func transferSessionDidFinishEvents(
        _ session: TransferSession, finished: Int, failed: Int, completionHandler: @escaping @MainActor () -> Void
    ) { completionHandler() }
}

extension BackgroundSession {
    /// The session of transfers with this name, whose delegate is notified of its tasks' changes.
    /// - Parameters:
    ///   - identifier: declared in `transfers` of the manifest.
    ///   - delegate: held until the process ends. The first of a session stays.
    public func transferSession(
        withIdentifier identifier: String, delegate: any TransferSessionDelegate
    ) -> TransferSession {
        let transfers = TransferSession(session: self, identifier: identifier)
        _ = register(.transfers(identifier)) { work in transfers.begin(work, delegate) }
        return transfers
    }

    /// The session of transfers with this name. What becomes of its tasks comes to ``BackgroundSessionDelegate`` or ``events``.
    /// - Parameter identifier: declared in `transfers` of the manifest.
    public func transferSession(withIdentifier identifier: String) -> TransferSession {
        TransferSession(session: self, identifier: identifier)
    }
}

extension TransferSession {
    fileprivate func begin(_ work: EventWork, _ delegate: any TransferSessionDelegate) {
        guard case .transfer(let change) = work.event.kind else { return }
        switch change {
        case .finished(let end):
            let task = task(end.identifier)
            if end.isDownload, end.failure == nil {
                delegate.transferSession(self, downloadTask: task, didFinishDownloadingTo: end.path)
            }
            delegate.transferSession(self, task: task, didCompleteWith: end, failure: end.failure)
            work.complete(.useful)
        case .challenge(let challenge):
            let task = task(challenge.identifier)
            delegate.transferSession(self, task: task, didReceive: challenge) { answer in
                answer.give(to: task)
                work.complete(.useful)
            }
        case .settled(_, let finished, let failed):
            delegate.transferSessionDidFinishEvents(self, finished: finished, failed: failed) { work.complete(.useful) }
        }
    }
}

extension TransferChallenge.Answer {
    /// Gives it to the daemon, for a task of an event that you take from ``BackgroundSession/events``.
    @MainActor
    public func give(to task: TransferTask) {
        switch self {
        case .useCredential(let user, let password): task.answer(user, password)
        case .cancelTask: task.cancel()
        }
    }
}
