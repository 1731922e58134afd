// An open descriptor with one owner: it is closed exactly once, when its owner releases it.
import CLinux
import Glibc

/// The result of a read.
public enum ReadResult: Hashable, Sendable {
    /// At least one byte.
    case bytes(Int)
    /// No byte to read yet; wait for readiness.
    case wouldBlock
    case endOfFile
    /// The other side reset the connection.
    case closed
}

/// The result of a write.
public enum WriteResult: Hashable, Sendable {
    /// The number of bytes written, perhaps fewer than offered.
    case wrote(Int)
    /// No byte was written; wait for readiness.
    case wouldBlock
    /// The other side has closed: it will never read.
    case closed
}

/// An open descriptor. This layer makes all of them close-on-exec.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor's number; valid only while this value exists, and never closed by other code.
    public var raw: Int32 { number }

    /// Stored apart from `raw`: Swift 6.0 crashes at -O where a stored number is read through the local that owns its
    /// descriptor, as in `pipe.readEnd.raw`.
    private let number: Int32

    /// Whether it is a device's node: closing it may take long.
    private let isNode: Bool

    /// Becomes the owner of `raw`, which must be open and have no other owner.
    public init(owning raw: Int32) { self.init(raw, isNode: false) }

    /// The same for a device's node.
    init(owningNode raw: Int32) { self.init(raw, isNode: true) }

    private init(_ raw: Int32, isNode: Bool) {
        number = raw
        self.isNode = isNode
    }

    deinit { if isNode { NodeClosing.begin(raw) } else { _ = Glibc.close(raw) } }

    /// Gives up the number; the caller must close it.
    public consuming func release() -> Int32 {
        let released = number
        discard self
        return released
    }

    /// Reads once, at most `limit` bytes, into the front of `buffer`, which keeps its size; later bytes stay as they were.
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

    /// The same, for callers that treat error numbers differently from a stream.
    borrowing func answerOfRead(appendingTo bytes: inout [UInt8], limit: Int) -> Answer {
        withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { space in
            let answer = attempt { Glibc.read(raw, space.baseAddress, space.count) }
            if case .value(let count) = answer { bytes.append(contentsOf: space[..<count]) }
            return answer
        }
    }

    /// Reads once at a fixed offset of a file, without moving its position; kernel files are generated again at offset 0.
    public borrowing func read(into buffer: inout [UInt8], at offset: Int) throws(SystemError) -> Int {
        let answer = buffer.withUnsafeMutableBytes { space in
            attempt { pread(raw, space.baseAddress, space.count, off_t(offset)) }
        }
        return try answer.get("read", "descriptor \(raw)")
    }

    /// Writes `bytes` once. For a pipe whose reader may be gone, the process must ignore SIGPIPE.
    public borrowing func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult {
        try writeResult(answerOfWrite(bytes))
    }

    borrowing func answerOfWrite(_ bytes: ArraySlice<UInt8>) -> Answer {
        bytes.withUnsafeBytes { space in attempt { Glibc.write(raw, space.baseAddress, space.count) } }
    }

    /// Writes `bytes` once, from `offset` on.
    public borrowing func write(_ bytes: [UInt8], from offset: Int = 0) throws(SystemError) -> WriteResult {
        try write(bytes[offset...])
    }

    /// Writes once at a fixed offset of a file, without moving its position.
    public borrowing func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) -> WriteResult {
        let answer = bytes.withUnsafeBytes { space in
            attempt { pwrite(raw, space.baseAddress, space.count, off_t(offset)) }
        }
        return try writeResult(answer)
    }

    /// Writes all of it from `offset` of a file on, without moving its position. A full disk may take a part of it, and
    /// report that only at the write of the rest.
    public borrowing func write(all bytes: [UInt8], at offset: Int64, of name: String) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let place = off_t(offset) + off_t(done)
            let answer = bytes.withUnsafeBytes { space in
                attempt { pwrite(raw, space.baseAddress?.advanced(by: done), space.count - done, place) }
            }
            let count = try answer.get("write to", name)
            guard count > 0 else { throw SystemError("write to", name, .noSpace) }
            done += count
        }
    }

    /// Sends once on a socket; a closed peer is `.closed`, and raises no signal.
    public borrowing func send(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult {
        let answer = bytes.withUnsafeBytes { space in
            attempt { Glibc.send(raw, space.baseAddress, space.count, Int32(MSG_NOSIGNAL)) }
        }
        return try writeResult(answer)
    }

    /// The bytes of a stream socket that wait to be read.
    public borrowing func bytesWaiting() throws(SystemError) -> Int {
        let number = raw
        return try attemptC { clinux_bytes_waiting(number) }.get("ask how much waits in", "descriptor \(number)")
    }

    /// Makes reads and writes return `.wouldBlock` instead of waiting, for every process that shares the open file.
    public borrowing func setNonblocking() throws(SystemError) {
        let flags = try attempt { Int(fcntl(raw, F_GETFL)) }.get("read the flags of", "descriptor \(raw)")
        let answer = attempt { Int(fcntl(raw, F_SETFL, Int32(flags) | O_NONBLOCK)) }
        _ = try answer.get("make non-blocking", "descriptor \(raw)")
    }

    /// Another descriptor for the same open file, close-on-exec.
    public borrowing func duplicate() throws(SystemError) -> FileDescriptor {
        try Self.duplicate(of: raw)
    }

    /// The same for a descriptor with another owner, such as standard output.
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
