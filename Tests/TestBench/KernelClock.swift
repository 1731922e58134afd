// What the kernel believes of its wall clock, as a program that keeps the clock tells it; put back by the test.
import Glibc
import WakeSystem

package final class KernelClock {
    /// Of adjtimex(2): the bits of `modes`, and where the fields lie.
    private static let script = """
        import ctypes, struct, sys
        libc = ctypes.CDLL(None, use_errno=True)
        def adjtimex(modes, **fields):
            timex = bytearray(256)
            struct.pack_into("@I", timex, 0, modes)
            for name, (form, place) in {"maxerror": ("@q", 24), "status": ("@i", 40), "seconds": ("@q", 72), "rest": ("@q", 80)}.items():
                struct.pack_into(form, timex, place, fields.get(name, 0))
            space = (ctypes.c_char * 256).from_buffer(timex)
            if libc.adjtimex(space) < 0: sys.exit(ctypes.get_errno())
            return struct.unpack_from("@q", timex, 24)[0], struct.unpack_from("@i", timex, 40)[0]
        """
    private static let maxErrorMode = 0x4
    private static let statusMode = 0x10
    private static let unsynchronized: Int64 = 0x40

    private let before: [Int64]
    /// One test at a time: there is one clock.
    private let lock = open("/tmp/wakebridge-kernel-clock.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)

    /// Whether this machine lets us say how well its clock is kept.
    package static let canBeKept: Bool = {
        guard Machine.isRoot, let clock = try? KernelClock() else { return false }
        return (try? clock.put(clock.before[0], clock.before[1])) != nil
    }()

    /// Whether the kernel alone says if the clock is synchronized: a machine with a hardware clock is synchronized anyway.
    package static let decides: Bool = {
        guard canBeKept, let clock = try? KernelClock() else { return false }
        return (try? clock.set(maxError: 16_000_000, isUnsynchronized: true)) != nil && !SystemClock.isSynchronized
    }()

    package init() throws {
        flock(lock, LOCK_EX)
        before = try Self.run("print(*adjtimex(0))")
    }

    deinit {
        _ = try? put(before[0], before[1])
        close(lock)
    }

    package func set(maxError: Int64, isUnsynchronized: Bool) throws {
        let status = isUnsynchronized ? before[1] | Self.unsynchronized : before[1] & ~Self.unsynchronized
        try put(maxError, status)
    }

    /// Sets the clock forward or back by so much: a microsecond is told as every set is, and harms nothing.
    package func step(microseconds: Int) throws {
        let (seconds, rest) = microseconds < 0 ? (-1, 1_000_000 + microseconds) : (0, microseconds)
        // ADJ_SETOFFSET.
        try Self.run("print(*adjtimex(0x100, seconds=\(seconds), rest=\(rest)))")
    }

    private func put(_ maxError: Int64, _ status: Int64) throws {
        let modes = Self.maxErrorMode | Self.statusMode
        try Self.run("print(*adjtimex(\(modes), maxerror=\(maxError), status=\(status)))")
    }

    @discardableResult
    private static func run(_ line: String) throws -> [Int64] {
        let (exit, output, talk) = try Child(["/usr/bin/python3", "-c", script + "\n" + line]).finish()
        guard exit == 0 else { throw SystemError("ask", "the kernel's clock: \(talk)", Errno(code: exit)) }
        return output.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
    }
}
