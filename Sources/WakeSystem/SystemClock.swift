// The kernel's clocks, read through the vDSO without a system call, and the identity of this boot.
import CLinux
import Glibc
import WakeModel

public enum SystemClock {
    /// CLOCK_MONOTONIC: stops while the system sleeps.
    public static func monotonic() -> Instant { Instant(nanoseconds: clinux_clock_nanoseconds(CLOCK_MONOTONIC)) }

    /// CLOCK_BOOTTIME: continues while the system sleeps.
    public static func boottime() -> Instant { Instant(nanoseconds: clinux_clock_nanoseconds(CLOCK_BOOTTIME)) }

    public static func wall() -> WallTime {
        WallTime(microseconds: clinux_clock_nanoseconds(CLOCK_REALTIME) / 1000)
    }

    /// The same clock as an instant, in nanoseconds since 1970: for timers that wait on it.
    public static func realtime() -> Instant { Instant(nanoseconds: clinux_clock_nanoseconds(CLOCK_REALTIME)) }

    /// Processor time of all threads of this process.
    public static func processorTime() -> TimeSpan {
        TimeSpan(nanoseconds: clinux_clock_nanoseconds(CLOCK_PROCESS_CPUTIME_ID))
    }

    /// Blocks the thread: only for where nothing else is left to do, as at the very end.
    public static func pause(_ span: TimeSpan) { usleep(UInt32(clamping: span.nanoseconds / 1000)) }

    public static func now() -> Moment { Moment(monotonic: monotonic(), boottime: boottime()) }

    public static func stamp() -> Stamp {
        Stamp(moment: now(), wall: wall(), isClockSynchronized: isSynchronized)
    }

    /// Whether the wall clock was set after boot, by time synchronisation or from a battery-backed clock.
    public static var isSynchronized: Bool { wasSetFromHardware || ClockDiscipline.isKept }

    /// The kernel's name for this boot; empty where /proc is not mounted.
    public static let bootID: String = {
        guard let text = try? File.text(at: "/proc/sys/kernel/random/boot_id") else { return "" }
        return String(text.prefix { $0 != "\n" })
    }()

    /// Read once: the kernel sets the clock from the hardware while it boots, or never.
    private static let wasSetFromHardware = HardwareClock.didSetWallClock(
        notBefore: File.modificationTime(of: "/proc/self/exe"))
}

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
