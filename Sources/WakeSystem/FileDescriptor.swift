// One open descriptor with one owner: it is closed exactly once, when its owner lets go of it.
import CLinux
import Glibc

/// What a read brought.
public enum ReadResult: Hashable, Sendable {
    /// At least one byte.
    case bytes(Int)
    /// Nothing is there yet; wait for readiness.
    case wouldBlock
    case endOfFile
    /// The other side reset the connection.
    case closed
}

/// What a write took.
public enum WriteResult: Hashable, Sendable {
    /// So many bytes were taken, perhaps fewer than offered.
    case wrote(Int)
    /// Nothing was taken; wait for readiness.
    case wouldBlock
    /// Nobody will ever read it: the other side has closed.
    case closed
}

/// An open descriptor. It is close-on-exec from birth wherever this layer makes one.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number the kernel knows it by; valid only while this value lives, and never to be closed by anybody else.
    public var raw: Int32 { number }

    /// Not `raw` itself: Swift 6.0 crashes at -O where a stored number is read through the local that owns its descriptor,
    /// as in `pipe.readEnd.raw`.
    private let number: Int32

    /// It is a device's node: closing it may take long.
    private let isNode: Bool

    /// Takes over `raw`, which must be open and owned by nobody else.
    public init(owning raw: Int32) { self.init(raw, isNode: false) }

    /// The same of a device's node.
    init(owningNode raw: Int32) { self.init(raw, isNode: true) }

    private init(_ raw: Int32, isNode: Bool) {
        number = raw
        self.isNode = isNode
    }

    deinit { if isNode { NodeClosing.begin(raw) } else { _ = Glibc.close(raw) } }

    /// Gives the number away; who receives it closes it.
    public consuming func release() -> Int32 {
        let released = number
        discard self
        return released
    }

    /// Reads once, at most `limit` bytes, into the front of `buffer`, which keeps its size; the bytes after those read are
    /// left as they were.
    public borrowing func read(into buffer: inout [UInt8], limit: Int = .max) throws(SystemError) -> ReadResult {
        let answer = buffer.withUnsafeMutableBytes { space in
            attempt { Glibc.read(raw, space.baseAddress, min(space.count, limit)) }
        }
        return try readResult(answer)
    }

    /// Reads once and appends at most `limit` bytes to `bytes`.
    public borrowing func read(appendingTo bytes: inout [UInt8], limit: Int) throws(SystemError) -> ReadResult {
        try readResult(answerOfRead(appendingTo: &bytes, limit: limit))
    }

    /// The same, for those to whom the error numbers mean something else than to a stream.
    borrowing func answerOfRead(appendingTo bytes: inout [UInt8], limit: Int) -> Answer {
        withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { space in
            let answer = attempt { Glibc.read(raw, space.baseAddress, space.count) }
            if case .value(let count) = answer { bytes.append(contentsOf: space[..<count]) }
            return answer
        }
    }

    /// Reads once from a fixed place of a file, without moving its position; kernel files answer anew from 0 each time.
    public borrowing func read(into buffer: inout [UInt8], at offset: Int) throws(SystemError) -> Int {
        let answer = buffer.withUnsafeMutableBytes { space in
            attempt { pread(raw, space.baseAddress, space.count, off_t(offset)) }
        }
        return try answer.get("read", "descriptor \(raw)")
    }

    /// Writes once what stands in `bytes`. On a pipe whose reader is gone the process must ignore SIGPIPE.
    public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult {
        try writeResult(answerOfWrite(bytes))
    }

    borrowing func answerOfWrite(_ bytes: ArraySlice<UInt8>) -> Answer {
        bytes.withUnsafeBytes { space in attempt { Glibc.write(raw, space.baseAddress, space.count) } }
    }

    /// Writes once what stands in `bytes` from `offset` on.
    public borrowing func write(_ bytes: [UInt8], from offset: Int = 0) throws(SystemError) -> WriteResult {
        try write(bytes[offset...])
    }

    /// Writes once at a fixed place of a file, without moving its position.
    public borrowing func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) -> WriteResult {
        let answer = bytes.withUnsafeBytes { space in
            attempt { pwrite(raw, space.baseAddress, space.count, off_t(offset)) }
        }
        return try writeResult(answer)
    }

    /// Sends once on a socket; a peer that is gone is `.closed`, and raises no signal.
    public borrowing func send(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult {
        let answer = bytes.withUnsafeBytes { space in
            attempt { Glibc.send(raw, space.baseAddress, space.count, Int32(MSG_NOSIGNAL)) }
        }
        return try writeResult(answer)
    }

    /// Bytes that stand in a stream socket to be read.
    public borrowing func bytesWaiting() throws(SystemError) -> Int {
        let number = raw
        return try attemptC { clinux_bytes_waiting(number) }.get("ask how much waits in", "descriptor \(number)")
    }

    /// Makes reads and writes answer `.wouldBlock` instead of waiting; this holds for everybody who shares the open file.
    public borrowing func setNonblocking() throws(SystemError) {
        let flags = try attempt { Int(fcntl(raw, F_GETFL)) }.get("read the flags of", "descriptor \(raw)")
        let answer = attempt { Int(fcntl(raw, F_SETFL, Int32(flags) | O_NONBLOCK)) }
        _ = try answer.get("make non-blocking", "descriptor \(raw)")
    }

    /// Another descriptor for the same open file, close-on-exec.
    public borrowing func duplicate() throws(SystemError) -> FileDescriptor {
        try Self.duplicate(of: raw)
    }

    /// The same of a descriptor that somebody else owns, such as standard output.
    public static func duplicate(of raw: Int32) throws(SystemError) -> FileDescriptor {
        let answer = attempt { Int(fcntl(raw, F_DUPFD_CLOEXEC, 3)) }
        return FileDescriptor(owning: Int32(try answer.get("duplicate", "descriptor \(raw)")))
    }

    private borrowing func readResult(_ answer: Answer) throws(SystemError) -> ReadResult {
        switch answer {
        case .value(0): return .endOfFile
        case .value(let count): return .bytes(count)
        case .failure(.wouldBlock): return .wouldBlock
        case .failure(.connectionReset): return .closed
        case .failure(let errno): throw SystemError("read", "descriptor \(raw)", errno)
        }
    }

    private borrowing func writeResult(_ answer: Answer) throws(SystemError) -> WriteResult {
        switch answer {
        case .value(let count): return .wrote(count)
        case .failure(.wouldBlock): return .wouldBlock
        case .failure(.brokenPipe), .failure(.connectionReset): return .closed
        case .failure(let errno): throw SystemError("write to", "descriptor \(raw)", errno)
        }
    }
}
