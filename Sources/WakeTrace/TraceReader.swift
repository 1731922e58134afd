// Reads a trace from chunks of bytes in constant memory, one operation at a time.
import WakeModel

/// Returns a header, then operations until the line `end`. A file without that line was cut, and is an error.
/// After an error, every call throws the same error.
public struct TraceReader {
    private let supply: () -> [UInt8]?
    private var buffer: [UInt8] = []
    /// The start of the next line; the bytes before it are used.
    private var position = 0
    private var line = 0
    private var offset = TimeSpan.zero
    private var clock: TraceClock?
    private var parsed: TraceHeader?
    /// The place in `header.devices` plus one, by device number. An array, because every line looks here and numbers are small.
    private var places: [Int] = []
    /// The line that ended the header, to be read as an operation.
    private var pending: TraceLine?
    private var isEnded = false
    private var failure: TraceError?

    /// `supply` returns the file's bytes in pieces of any size, then nil.
    public init(supplyingChunks supply: @escaping () -> [UInt8]?) { self.supply = supply }

    public init(bytes: [UInt8]) {
        self.init(supplyingChunks: { nil })
        buffer = bytes
    }

    /// Reads up to the first operation; a second call costs little.
    public mutating func header() throws(TraceError) -> TraceHeader {
        if let parsed { return parsed }
        if let failure { throw failure }
        do {
            let header = try readHeader()
            parsed = header
            return header
        } catch {
            failure = error
            throw error
        }
    }

    /// The next operation, or nil after the line `end`.
    public mutating func next() throws(TraceError) -> TraceOperation? {
        let start = try header().start
        if let failure { throw failure }
        do {
            return try readOperation(clock ?? TraceClock(start: start))
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func readHeader() throws(TraceError) -> TraceHeader {
        guard var version = try nextLine() else { throw truncated("`wakebridge-trace 1`") }
        try version.version()
        guard var clock = try nextLine() else { throw truncated("`clock`") }
        var header = try clock.clock()
        while var current = try nextLine() {
            let word = try current.token("a line")
            guard current.matches(word, "device") else {
                current.position = current.start
                pending = current
                return header
            }
            let place = current.position
            let device = try current.device()
            while places.count <= device.number { places.append(0) }
            guard places[device.number] == 0 else {
                throw current.error("device \(device.number) is declared twice", at: place + 1)
            }
            header.devices.append(device)
            places[device.number] = header.devices.count
        }
        throw truncated("`end`")
    }

    private mutating func readOperation(_ now: TraceClock) throws(TraceError) -> TraceOperation? {
        if isEnded { return nil }
        guard var current = try heldLine() else { throw truncated("`end`") }
        current.skipSpaces()
        guard current.next == UInt8(ascii: "+") else { return try finish(&current) }
        current.position += 1
        let place = current.position - 1
        offset = offset + (try current.span("the time"))
        let subject = try subject(&current, at: now.wall(at: offset))
        let operation = TraceOperation(line: current.number, offset: offset, subject: subject)
        var clock = now
        clock.follow(operation)
        guard clock.elapsed(at: offset) <= TraceLimit.span else {
            throw current.error("the trace is over ten years long", at: place)
        }
        self.clock = clock
        return operation
    }

    private mutating func heldLine() throws(TraceError) -> TraceLine? {
        guard let held = pending else { return try nextLine() }
        pending = nil
        return held
    }

    /// A device's number, `machine`, or `handler` and its name; then its action.
    private func subject(
        _ current: inout TraceLine, at wall: WallTime
    ) throws(TraceError) -> TraceOperation.Subject {
        current.skipSpaces()
        guard let first = current.next, isLetter(first) else {
            let device = try device(&current)
            return .device(device, try current.kind(now: wall))
        }
        if let deed = try current.deed() { return deed }
        let word = try current.token("a device number, `machine` or `handler`")
        let name = current.text(word)
        throw current.error(
            "`\(name)` does nothing in a trace; a device number, `machine` or `handler` is expected here"
                + advice(on: name, among: ["machine", "handler"]), at: word.lowerBound)
    }

    private func device(_ current: inout TraceLine) throws(TraceError) -> Int {
        let place = current.position
        let number = Int(try current.unsigned("the device number", upTo: UInt64(TraceLimit.deviceNumber)))
        guard number < places.count, places[number] > 0 else {
            throw current.error("device \(number) is not declared", at: place)
        }
        return places[number] - 1
    }

    /// Reads the line `end`, after which only blank lines and comments are allowed.
    private mutating func finish(_ current: inout TraceLine) throws(TraceError) -> TraceOperation? {
        let word = try current.token("a line")
        guard current.matches(word, "end") else { throw unknown(current, word) }
        try current.expectEnd()
        isEnded = true
        guard let extra = try nextLine() else { return nil }
        throw extra.error("nothing but comments may follow `end`")
    }

    private func unknown(_ current: TraceLine, _ word: Range<Int>) -> TraceError {
        if current.matches(word, "device") {
            return current.error("devices are declared before the first operation", at: word.lowerBound)
        }
        if current.bytes[word.lowerBound] == UInt8(ascii: "-") {
            return current.error("the time is negative; time never runs back", at: word.lowerBound)
        }
        let name = current.text(word)
        let hint = advice(on: name, among: ["device", "end"])
        return current.error(
            "`\(name)` starts no line; operations start with `+` and seconds" + hint, at: word.lowerBound)
    }

    private func truncated(_ wanted: String) -> TraceError {
        TraceError(line: line + 1, column: 1, reason: "the file ends before \(wanted); it was cut")
    }
}

// Lines out of chunks.
extension TraceReader {
    /// The next line that is neither blank nor a comment. Nil at the end of the file.
    private mutating func nextLine() throws(TraceError) -> TraceLine? {
        while let end = try endOfLine() {
            line += 1
            var current = TraceLine(bytes: buffer, start: position, end: end, number: line)
            position = end + 1
            current.skipSpaces()
            guard let first = current.next, first != UInt8(ascii: "#") else { continue }
            guard buffer[end - 1] != UInt8(ascii: "\r") else {
                throw current.error("the line ends in a carriage return; lines end in a line feed alone", at: end - 1)
            }
            current.position = current.start
            return current
        }
        return nil
    }

    /// The place of the next line feed. Does not search bytes again when a chunk is added.
    private mutating func endOfLine() throws(TraceError) -> Int? {
        var searched = position
        while true {
            while searched < buffer.count {
                if buffer[searched] == UInt8(ascii: "\n") { break }
                searched += 1
            }
            guard searched - position <= TraceLimit.lineBytes else {
                throw TraceError(
                    line: line + 1, column: TraceLimit.lineBytes + 1, reason: "the line is over 128 KiB long")
            }
            if searched < buffer.count { return searched }
            guard let chunk = supply() else { return try endOfFile() }
            searched -= position
            buffer.removeSubrange(..<position)
            position = 0
            buffer.append(contentsOf: chunk)
        }
    }

    private func endOfFile() throws(TraceError) -> Int? {
        guard position < buffer.count else { return nil }
        throw TraceError(
            line: line + 1, column: buffer.count - position + 1,
            reason: "the file ends inside this line, without a line feed; it was cut")
    }
}
