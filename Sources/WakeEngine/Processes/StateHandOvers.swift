// Gives state directories of a former user to a handler's own user, which may take longer than the loop can wait.
import WakeModel
import WakeSystem

/// Most trees take no time. A large one is given on a thread, and its handler starts when that is done.
final class StateHandOvers {
    private var running: [String: BackgroundJob<Result<HandOver.Outcome, SystemError>>] = [:]
    /// The longest time that the loop waits.
    private static let patience = TimeSpan.milliseconds(40)
    private let log = Log("handlers")

    /// Throws while the work is running; try again then.
    func give(_ path: String, from former: UInt32, to account: Account) throws(SystemError) {
        let job = try job(for: path, former, account)
        guard let answer = job.removeResult(within: Self.patience) else {
            throw SystemError(
                "start in", path, .wouldBlock,
                advice: "its files are being given to user \(account.user), and the handler starts when that is done")
        }
        running[path] = nil
        log(try answer.get(), path, former, account)
    }

    private func job(
        for path: String, _ former: UInt32, _ account: Account
    ) throws(SystemError) -> BackgroundJob<Result<HandOver.Outcome, SystemError>> {
        if let job = running[path] { return job }
        let work = HandOver(of: path, from: former, to: account)
        let job = try BackgroundJob { work.perform() }
        running[path] = job
        return job
    }

    private func log(_ outcome: HandOver.Outcome, _ path: String, _ former: UInt32, _ account: Account) {
        if outcome.given > 0 {
            log.notice("\(path): \(outcome.given.counted("file")) of user \(former) now belong to user \(account.user)")
        }
        guard outcome.left > 0 else { return }
        log.warning(
            "\(path) holds more of user \(former) than could be given to the handler: give it the rest with 'chown -hR --from=\(former) \(account.user):\(account.group) \(path)'"
        )
    }
}
