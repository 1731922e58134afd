// Standard input, output and error: the parent process may have closed them, and the last sentence needs one.
import Glibc

public enum StandardStreams {
    /// Opens a file at the number of each that is closed. The next socket would get that number, and printed text would
    /// go into it. A closed stream stays one that can be neither read nor written, so that the loss is reported.
    public static func occupyClosed() {
        for number in [0, 1, 2] as [Int32] where fcntl(number, F_GETFD) < 0 {
            // The lowest free number is given.
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes all bytes, unbuffered, and opens nothing: a process that may open no more files still reports why it ends.
    /// Waits for a slow reader. A closed reader ends the process by SIGPIPE, unless that is ignored.
    /// - Parameters:
    ///   - descriptor: a standard stream, or a file in its place. A closed one is an error and no trap, unlike in `attempt`.
    ///   - name: its name in the error.
    public static func write(_ bytes: [UInt8], to descriptor: Int32, called name: String) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch Errno.last {
            case .interrupted: continue
            // The descriptor is non-blocking for another process that shares it, so wait here.
            case .wouldBlock: awaitRoom(in: descriptor)
            case let errno: throw SystemError("write", name, errno)
            }
        }
    }

    private static func awaitRoom(in descriptor: Int32) {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
    }
}
