// Accounts for the loop's time by cause: the longest call, the number of long calls, and the log's sentence about one.
import WakeModel
import WakeSystem

/// Shared by a loop and its sources; each source sets its cause when it is called.
final class LoopAccount {
    private static let period = TimeSpan.seconds(3_600)

    /// The cause of the current call.
    var cause = LoopCause.bus
    var isLogged = false
    /// Indexed by the cause's number.
    private var stays = [LoopStay](repeating: LoopStay(), count: LoopCause.allCases.count)
    private var toldAt: [LoopCause: Instant] = [:]

    func stay(of cause: LoopCause) -> LoopStay { stays[Int(cause.rawValue)] }

    var longest: TimeSpan { stays.reduce(.zero) { max($0, $1.longest) } }
    var overPatience: Int { stays.reduce(0) { $0 + $1.overPatience } }

    /// Counts a call that has ended, and logs a long one.
    func count(_ length: TimeSpan, endedAt end: Instant) {
        let place = Int(cause.rawValue)
        if length > stays[place].longest { stays[place].longest = length }
        guard length > EventLoop.patience else { return }
        stays[place].overPatience += 1
        if isLogged, let sentence = sentence(on: length, at: end) { Log("loop").notice(sentence) }
    }

    /// The log's sentence about a long call; nil within an hour of the cause's last one, so that trouble does not fill
    /// the log.
    func sentence(on length: TimeSpan, at now: Instant) -> String? {
        if let told = toldAt[cause], now - told < Self.period { return nil }
        toldAt[cause] = now
        return "one thing kept the daemon for \(length.wholeMilliseconds) ms, by: \(cause.name); "
            + "'wakebridge status --json' has the longest of each cause"
    }
}
