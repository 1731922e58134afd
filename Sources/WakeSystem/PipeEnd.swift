// One end of a pipe, with one owner, until it is closed: by its owner, or because the other side is gone for good.

/// Reading a closed one says that the stream has ended, and writing that it is closed.
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

    /// Writes once what stands in `bytes` from `offset` on.
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
