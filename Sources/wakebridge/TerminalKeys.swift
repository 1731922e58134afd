// Single keys of a terminal, without Return and without an echo, until the object ends.
import Glibc
import WakeLoop
import WakeSystem

final class TerminalKeys {
    private let input: FileDescriptor
    private let settings: termios
    private var watch: Watch?
    private var typed: [UInt8] = []

    /// Nil where standard input is no terminal. Calls `body` with each byte that is typed.
    init?(on loop: EventLoop, _ body: @escaping (UInt8) -> Void) throws(SystemError) {
        var current = termios()
        guard isatty(0) == 1, tcgetattr(0, &current) == 0 else { return nil }
        settings = current
        input = try FileDescriptor.duplicate(of: 0)
        current.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(0, TCSANOW, &current)
        watch = try loop.watch(input.raw, for: .readable) { [unowned self] _ in read(body) }
    }

    deinit {
        watch?.cancel()
        var before = settings
        tcsetattr(0, TCSANOW, &before)
    }

    private func read(_ body: (UInt8) -> Void) {
        guard case .bytes? = try? input.read(appendingTo: &typed, limit: 64) else {
            watch?.disable()
            return
        }
        let keys = typed
        typed = []
        for key in keys { body(key) }
    }
}
