// Pipes: close-on-exec from the start, our end non-blocking, the child's end blocking as programs expect.
import CLinux
import Glibc

/// A one-way channel.
public struct Pipe: ~Copyable {
    public let readEnd: FileDescriptor
    public let writeEnd: FileDescriptor

    /// The end that we keep, which is therefore non-blocking; the other belongs to a program that expects to wait.
    public enum Ours: Sendable { case read, write, both }

    /// - Parameter capacity: bytes that may wait to be read; nil for the kernel's default, 64 KiB. Users whose pipes already
    ///   hold /proc/sys/fs/pipe-user-pages-soft keep the default.
    public init(ours: Ours, capacity: Int32? = nil) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        let flags = ours == .both ? O_CLOEXEC | O_NONBLOCK : O_CLOEXEC
        _ = try attemptC { clinux_pipe(&ends, flags) }.get("make", "a pipe")
        if let capacity { _ = clinux_set_pipe_capacity(ends[0], capacity) }
        let readEnd = FileDescriptor(owning: ends[0])
        let writeEnd = FileDescriptor(owning: ends[1])
        if ours == .read { try readEnd.setNonblocking() }
        if ours == .write { try writeEnd.setNonblocking() }
        self.readEnd = readEnd
        self.writeEnd = writeEnd
    }

    /// Gives up both ends; the caller owns them.
    public consuming func releaseEnds() -> (readEnd: Int32, writeEnd: Int32) {
        (readEnd.release(), writeEnd.release())
    }

    /// Gives up one end, and closes the other.
    consuming func releaseReadEnd() -> Int32 { readEnd.release() }
    consuming func releaseWriteEnd() -> Int32 { writeEnd.release() }
}
