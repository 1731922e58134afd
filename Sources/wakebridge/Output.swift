// Output of the tool: writes all bytes, or ends the tool and says why.
import Glibc
import WakeSystem

enum Output {
    static let standard = "standard output"

    /// Unbuffered, so that a line of a stream is seen at once; waits for a slow reader. A closed reader ends the process by
    /// SIGPIPE, as in other tools.
    /// - Parameter name: its name in an error; nil where no error can be shown.
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
            // The descriptor is non-blocking for another process that shares it, so wait here.
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
        // A bridge in the foreground, the only mode that ignores SIGPIPE, ends its handler in order first.
        if Signals.isIgnored(SIGPIPE) { kill(getpid(), SIGTERM) } else { exit(1) }
    }
}
