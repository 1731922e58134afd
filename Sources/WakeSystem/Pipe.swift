// Pipes and socket pairs, close-on-exec from birth, our own end non-blocking and the child's end as programs expect it.
import CLinux
import Glibc

/// A one-way channel.
public struct Pipe: ~Copyable {
    public let readEnd: FileDescriptor
    public let writeEnd: FileDescriptor

    /// Which end stays with us, and is therefore non-blocking; the other one belongs to a program that expects to wait.
    public enum Ours: Sendable { case read, write, both }

    public init(ours: Ours) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let flags = ours == .both ? O_CLOEXEC | O_NONBLOCK : O_CLOEXEC
        _ = try attemptC { clinux_pipe(&ends, flags) }.get("make", "a pipe")
        let readEnd = FileDescriptor(owning: ends[0])
        let writeEnd = FileDescriptor(owning: ends[1])
        if ours == .read { try readEnd.setNonblocking() }
        if ours == .write { try writeEnd.setNonblocking() }
        self.readEnd = readEnd
        self.writeEnd = writeEnd
    }

    /// Hands out both ends; who takes them owns them.
    public consuming func take() -> (readEnd: Int32, writeEnd: Int32) {
        (readEnd.release(), writeEnd.release())
    }

    /// Hands out one end, and closes the other.
    consuming func takeReadEnd() -> Int32 { readEnd.release() }
    consuming func takeWriteEnd() -> Int32 { writeEnd.release() }
}

/// A connected pair of Unix stream sockets: ours non-blocking, theirs not.
public struct SocketPair: ~Copyable {
    public let ours: FileDescriptor
    public let theirs: FileDescriptor

    public init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        _ = try attempt { Int(socketpair(AF_UNIX, kind, 0, &ends)) }.get("make", "a socket pair")
        let ours = FileDescriptor(owning: ends[0])
        let theirs = FileDescriptor(owning: ends[1])
        try ours.setNonblocking()
        self.ours = ours
        self.theirs = theirs
    }

    /// Hands out both ends; who takes them owns them.
    public consuming func take() -> (ours: Int32, theirs: Int32) { (ours.release(), theirs.release()) }

    /// Hands out our end, and closes the other.
    consuming func takeOurs() -> Int32 { ours.release() }
}
