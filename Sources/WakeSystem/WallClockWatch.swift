// Steps of the wall clock: a Raspberry Pi without a battery gets the time minutes after its start.
import CLinux
import WakeModel

/// Readable when the wall clock was set.
public struct WallClockWatch: ~Copyable {
    private let timer: FileDescriptor
    /// The wall-clock time at which CLOCK_BOOTTIME was zero.
    private var origin: TimeSpan

    public var raw: Int32 { timer.raw }

    public init() throws(SystemError) {
        let made = attemptC { clinux_wall_clock_watch() }
        origin = Self.currentOrigin
        timer = FileDescriptor(owning: Int32(try made.get("watch", "the wall clock")))
    }

    /// How far the clock was set since the last call, forward being positive; nil where it was not.
    public mutating func readStep() throws(SystemError) -> TimeSpan? {
        let raw = timer.raw
        guard try attemptC({ clinux_wall_clock_was_set(raw) }).get("watch", "the wall clock") == 1 else { return nil }
        let before = origin
        origin = Self.currentOrigin
        return origin - before
    }

    private static var currentOrigin: TimeSpan {
        TimeSpan(nanoseconds: SystemClock.wall().microseconds * 1000 - SystemClock.boottime().nanoseconds)
    }
}
