// Bytes on their way out of the tool: all of them come out, or the tool ends and says why.
import Glibc
import WakeSystem

enum Output {
    static let standard = "standard output"

    /// Unbuffered, so that a line of a stream is seen when it comes; a reader that is slow is waited for. One that is gone ends the
    /// process by SIGPIPE, as it does other tools.
    /// - Parameter name: what a person calls it; nil where nobody could be told.
    static func write(_ bytes: [UInt8], to descriptor: Int32, called name: String?) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            // Whoever gave us the descriptor, or shares it with us, wants to be spared waiting itself.
            case EAGAIN: awaitRoom(in: descriptor)
            default: return end(name, Errno.last)
            }
        }
    }

    private static func awaitRoom(in descriptor: Int32) {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
    }

    private static func end(_ name: String?, _ error: Errno) {
        guard let name else { return }
        if error != .brokenPipe {
            Console.say("failed: cannot write \(name): \(error); what was printed is not whole")
        }
        // A bridge in the foreground, which alone ignores SIGPIPE, lets its handler end in order first.
        if Signals.isIgnored(SIGPIPE) { kill(getpid(), SIGTERM) } else { exit(1) }
    }
}
