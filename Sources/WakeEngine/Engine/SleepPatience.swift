// How long the machine's sleep waits for handlers: the same in a daemon and in a replay.
import WakeModel

package enum SleepPatience {
    /// The time that handlers get; logind may wait for less.
    package static let longest = TimeSpan.seconds(4)
    /// Kept of the machine's time for the freeze and for our own answer.
    package static let reserve = TimeSpan.milliseconds(500)
}
