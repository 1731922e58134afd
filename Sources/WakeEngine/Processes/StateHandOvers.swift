// State directories on their way from a former user to a handler's own, which may take longer than the loop can wait.
import WakeModel
import WakeSystem

/// Most trees are given at once. A large one is given on a thread, and its handler starts when that is done.
final class StateHandOvers {
    private var underWay: [String: BackgroundJob<Result<HandOver.Outcome, SystemError>>] = [:]
    /// The loop stands still for so long at most.
    private static let patience = TimeSpan.milliseconds(40)
    private let log = Log("handlers")

    /// Throws while the work is under way; ask again then.
    func give(_ path: String, from former: UInt32, to account: Account) throws(SystemError) {
        let job = try job(for: path, former, account)
        guard let answer = job.removeResult(within: Self.patience) else {
            throw SystemError(
                "start in", path, .wouldBlock,
                advice: "its files are being given to user \(account.user), and the handler starts when that is done")
        }
        underWay[path] = nil
        tell(of: try answer.get(), path, former, account)
    }

    private func job(
        for path: String, _ former: UInt32, _ account: Account
    ) throws(SystemError) -> BackgroundJob<Result<HandOver.Outcome, SystemError>> {
        if let job = underWay[path] { return job }
        let work = HandOver(of: path, from: former, to: account)
        let job = try BackgroundJob { work.perform() }
        underWay[path] = job
        return job
    }

    private func tell(of outcome: HandOver.Outcome, _ path: String, _ former: UInt32, _ account: Account) {
        if outcome.given > 0 {
            log.notice("\(path): \(outcome.given.counted("file")) of user \(former) now belong to user \(account.user)")
        }
        guard outcome.left > 0 else { return }
        log.warning(
            "\(path) holds more of user \(former) than could be given to the handler: give it the rest with 'chown -hR --from=\(former) \(account.user):\(account.group) \(path)'"
        )
    }
}
