// Single keys of a terminal, without Return and without an echo, until the object ends.
import Glibc
import WakeSystem

final class TerminalKeys {
    private let input: FileDescriptor
    private let settings: termios

    /// Nil where standard input is no terminal.
    init?() throws(SystemError) {
        var current = termios()
        guard isatty(0) == 1, tcgetattr(0, &current) == 0 else { return nil }
        settings = current
        input = try FileDescriptor.duplicate(of: 0)
        current.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // VMIN and VTIME: a read takes what was typed and never waits.
        current.c_cc.6 = 0
        current.c_cc.5 = 0
        tcsetattr(0, TCSANOW, &current)
    }

    deinit {
        var before = settings
        tcsetattr(0, TCSANOW, &before)
    }

    /// The keys that were typed since the last call.
    func typed() -> [UInt8] {
        var keys: [UInt8] = []
        _ = try? input.read(appendingTo: &keys, limit: 64)
        return keys
    }
}
