// Pipes, close-on-exec from birth, our own end non-blocking and the child's end as programs expect it.
import CLinux
import Glibc

/// A one-way channel.
public struct Pipe: ~Copyable {
    public let readEnd: FileDescriptor
    public let writeEnd: FileDescriptor

    /// Which end stays with us, and is therefore non-blocking; the other one belongs to a program that expects to wait.
    public enum Ours: Sendable { case read, write, both }

    /// - Parameter capacity: bytes that may wait to be read; nil for the kernel's default, 64 KiB. It is refused to users whose pipes
    ///   hold /proc/sys/fs/pipe-user-pages-soft already, for whom the default has to do.
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

    /// Hands out both ends; who takes them owns them.
    public consuming func take() -> (readEnd: Int32, writeEnd: Int32) {
        (readEnd.release(), writeEnd.release())
    }

    /// Hands out one end, and closes the other.
    consuming func takeReadEnd() -> Int32 { readEnd.release() }
    consuming func takeWriteEnd() -> Int32 { writeEnd.release() }
}
