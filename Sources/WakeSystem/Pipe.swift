// Pipes: close-on-exec from the start, the daemon's end non-blocking, the child's end blocking as programs expect.
import CLinux
import Glibc

/// A one-way channel.
public struct Pipe: ~Copyable {
    public let readEnd: FileDescriptor
    public let writeEnd: FileDescriptor

    /// The end that the daemon keeps, which is therefore non-blocking; the other belongs to a program that expects to
    /// wait.
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

/// A read of a closed one returns the end of the stream, and a write returns `closed`.
public struct PipeEnd: ~Copyable {
    private var descriptor: FileDescriptor?

    init(owning raw: Int32) { descriptor = FileDescriptor(owning: raw) }

    private init(_ descriptor: consuming FileDescriptor?) { self.descriptor = descriptor }

    public init(_ descriptor: consuming FileDescriptor) { self.descriptor = consume descriptor }

    /// The number to be watched; nil once closed.
    public var raw: Int32? {
        switch descriptor {
        case .some(let open): open.raw
        case .none: nil
        }
    }

    /// Hands the end to another owner; this one is closed from then on.
    public mutating func release() -> PipeEnd { PipeEnd(descriptor.take()) }

    public mutating func close() { descriptor = nil }

    /// Reads once into the front of `buffer`, which keeps its size.
    public borrowing func read(into buffer: inout [UInt8]) throws(SystemError) -> ReadResult {
        switch descriptor {
        case .some(let open): try open.read(into: &buffer)
        case .none: .endOfFile
        }
    }

    /// Reads once and appends at most `limit` bytes to `bytes`.
    public borrowing func read(appendingTo bytes: inout [UInt8], limit: Int) throws(SystemError) -> ReadResult {
        switch descriptor {
        case .some(let open): try open.read(appendingTo: &bytes, limit: limit)
        case .none: .endOfFile
        }
    }

    /// Writes the bytes from `offset` on once.
    public borrowing func write(_ bytes: [UInt8], from offset: Int = 0) throws(SystemError) -> WriteResult {
        switch descriptor {
        case .some(let open): try open.write(bytes, from: offset)
        case .none: .closed
        }
    }

    /// Bytes that were written and not read; nil once closed.
    public borrowing func bytesWaiting() throws(SystemError) -> Int? {
        switch descriptor {
        case .some(let open): try open.bytesWaiting()
        case .none: nil
        }
    }
}
