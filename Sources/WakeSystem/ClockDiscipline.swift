// Whether the wall clock can be trusted: by the kernel's state of the program that keeps it, and by the hardware clock.
import CLinux
import Glibc
import WakeModel

public enum ClockDiscipline {
    /// The kernel begins with this error at boot and after each set, and lets it grow up to this. Any program that
    /// keeps the clock brings it below. STA_UNSYNC is less reliable: chrony clears it only with `rtcsync`.
    static let unkept = TimeSpan.seconds(16)

    /// Whether a program keeps the clock.
    public static var isKept: Bool { isKept(maxError: clinux_clock_max_error()) }

    /// - Parameter answer: microseconds, or -errno.
    static func isKept(maxError answer: Int64) -> Bool {
        // A program without the permission is in a container, whose host keeps the clock.
        if answer == -Int64(EPERM) { return true }
        return answer >= 0 && .microseconds(answer) < unkept
    }
}

/// The clock that a battery keeps while the machine is off.
enum HardwareClock {
    static let root = "/sys/class/rtc"

    /// Whether the kernel set the wall clock from it at boot. A clock without a battery begins at its own zero, and so shows
    /// a time before `earliest`, when this program was made: then it does not count.
    static func didSetWallClock(under root: String = root, notBefore earliest: WallTime?) -> Bool {
        ((try? Directory.names(in: root)) ?? []).contains { name in
            guard File.word(at: "\(root)/\(name)/hctosys") == "1",
                let seconds = File.word(at: "\(root)/\(name)/since_epoch").flatMap({ Int64($0) })
            else { return false }
            return earliest.map { seconds >= $0.microseconds / 1_000_000 } ?? true
        }
    }
}
