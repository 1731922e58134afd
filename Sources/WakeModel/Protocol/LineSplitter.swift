// Cuts bytes from a descriptor into lines. A line that never ends costs one fault and no memory.

public struct LineSplitter: Sendable {
    /// The longest line in bytes, without its newline.
    public let limit: Int
    private var buffer: [UInt8] = []
    /// Where the next line starts in `buffer`.
    private var start = 0
    /// How far `buffer` has been searched for a newline, so that a line that comes byte by byte is searched once.
    private var searched = 0
    private var isSkipping = false

    public init(limit: Int = ReplyLine.lengthLimit) { self.limit = limit }

    /// Appends the bytes read. Call ``next()`` until it returns nil before reading more.
    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        buffer.removeFirst(start)
        searched -= start
        start = 0
        buffer.append(contentsOf: bytes)
    }

    /// The next whole line, without its newline or CR LF; skips empty lines.
    /// A line over the limit gives one fault, and reading resumes after its newline. Nil until there is more.
    public mutating func next() -> Result<ArraySlice<UInt8>, ProtocolFault>? {
        while let newline = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = buffer[start..<newline]
            (start, searched) = (newline + 1, newline + 1)
            let wasSkipping = isSkipping
            isSkipping = false
            if let result = wasSkipping ? nil : checked(line) { return result }
        }
        searched = buffer.count
        return discardUnending()
    }

    /// The bytes after the last newline, once no more will come. Call after ``next()`` returned nil.
    public mutating func finish() -> Result<ArraySlice<UInt8>, ProtocolFault>? {
        let line = buffer[start...]
        let wasSkipping = isSkipping
        self = LineSplitter(limit: limit)
        return wasSkipping ? nil : checked(line)
    }

    public mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

    private func checked(_ line: ArraySlice<UInt8>) -> Result<ArraySlice<UInt8>, ProtocolFault>? {
        let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        guard !text.isEmpty else { return nil }
        return text.count <= limit ? .success(text) : .failure(.lineTooLong)
    }

    /// The byte after the limit may be the carriage return of a line that just fits.
    private mutating func discardUnending() -> Result<ArraySlice<UInt8>, ProtocolFault>? {
        guard isSkipping || buffer.count - start > limit + 1 else { return nil }
        buffer.removeAll(keepingCapacity: true)
        (start, searched) = (0, 0)
        guard !isSkipping else { return nil }
        isSkipping = true
        return .failure(.lineTooLong)
    }
}
