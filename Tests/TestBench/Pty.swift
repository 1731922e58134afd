// A pair of terminals, for tests of serial lines: what a device would say is written to its master.
import Glibc
import WakeSystem

package struct Pty: ~Copyable {
    package let master: FileDescriptor
    /// The line to open.
    package let path: String

    package init() throws {
        let (raw, path) = try Self.open()
        master = FileDescriptor(owning: raw)
        self.path = path
    }

    /// A master of the caller's own, which never waits, and its line.
    package static func open() throws -> (master: Int32, path: String) {
        let raw = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard raw >= 0 else { throw SystemError("open", "/dev/ptmx", .last) }
        var (locked, number): (CInt, CInt) = (0, -1)
        // TIOCSPTLCK and TIOCGPTN: what the C library has for this, Swift's Glibc module does not show.
        guard ioctl(raw, 0x4004_5431, &locked) == 0, ioctl(raw, 0x8004_5430, &number) == 0 else {
            throw SystemError("unlock", "/dev/ptmx", .last)
        }
        return (raw, "/dev/pts/\(number)")
    }

    package consuming func hangUp() { close(master.release()) }

    /// The master shows the settings of the line.
    package func settings() throws -> termios {
        var settings = termios()
        guard tcgetattr(master.raw, &settings) == 0 else { throw SystemError("read the settings of", path, .last) }
        return settings
    }
}
