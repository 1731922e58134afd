// A pair of terminals, for tests of serial lines: what a device would say is written to its master.
import Glibc
import Testing
import WakeSystem

struct Pty: ~Copyable {
    let master: FileDescriptor
    /// The line to open.
    let path: String

    init() throws {
        let raw = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var (locked, number): (CInt, CInt) = (0, -1)
        // TIOCSPTLCK and TIOCGPTN: what the C library has for this, Swift's Glibc module does not show.
        try #require(raw >= 0 && ioctl(raw, 0x4004_5431, &locked) == 0 && ioctl(raw, 0x8004_5430, &number) == 0)
        master = FileDescriptor(owning: raw)
        path = "/dev/pts/\(number)"
    }

    consuming func hangUp() { close(master.release()) }

    /// The master shows the settings of the line.
    func settings() throws -> termios {
        var settings = termios()
        try #require(tcgetattr(master.raw, &settings) == 0)
        return settings
    }
}

/// Sends all of `bytes` in chunks of chance, both ends being served in turn, and returns what arrived.
func carry(
    _ bytes: [UInt8], chunk: () -> Int, write: (ArraySlice<UInt8>) throws -> WriteResult,
    read: () throws -> NodeReading<[UInt8]>
) throws -> [UInt8] {
    var (rest, arrived): (ArraySlice<UInt8>, [UInt8]) = (bytes[...], [])
    _ = try eventually {
        if !rest.isEmpty, case .wrote(let count) = try write(rest.prefix(chunk())) { rest = rest.dropFirst(count) }
        while case .content(let more) = try read() { arrived += more }
        return arrived.count >= bytes.count
    }
    return arrived
}
