// What keeps the loop, by cause: the longest stay of each, how many were long, and the log's word of a long one.
import WakeModel
import WakeSystem

/// Shared by a loop and its sources, each of which names its cause when it is called.
final class LoopAccount {
    private static let period = TimeSpan.seconds(3_600)

    /// What the current call is for.
    var cause = LoopCause.bus
    var isLogged = false
    /// By the cause's number.
    private var stays = [LoopStay](repeating: LoopStay(), count: LoopCause.allCases.count)
    private var toldAt: [LoopCause: Instant] = [:]

    func stay(of cause: LoopCause) -> LoopStay { stays[Int(cause.rawValue)] }

    var longest: TimeSpan { stays.reduce(.zero) { max($0, $1.longest) } }
    var overPatience: Int { stays.reduce(0) { $0 + $1.overPatience } }

    /// Counts a call that has ended.
    func count(_ length: TimeSpan, endedAt end: Instant) {
        let place = Int(cause.rawValue)
        if length > stays[place].longest { stays[place].longest = length }
        guard length > EventLoop.patience else { return }
        stays[place].overPatience += 1
        if isLogged, let sentence = sentence(on: length, at: end) { Log("loop").notice(sentence) }
    }

    /// Nil where the cause had one within the hour, so that a daemon in trouble does not fill its log.
    func sentence(on length: TimeSpan, at now: Instant) -> String? {
        if let told = toldAt[cause], now - told < Self.period { return nil }
        toldAt[cause] = now
        return "one thing kept the daemon for \(length.wholeMilliseconds) ms, by: \(cause.name); "
            + "'wakebridge status --json' has the longest of each cause"
    }
}
