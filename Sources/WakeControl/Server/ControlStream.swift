// A streamed answer: lines for one client, in a bounded buffer, because the loop never waits for a client.
import WakeModel

/// A streamed answer. Exists as long as its connection; belongs to the loop's thread.
public final class ControlStream {
    /// The bytes that a client may leave unread; beyond that it is disconnected.
    public static let capacity = 256 * 1024

    /// The format of lines in the answer.
    enum Framing: Hashable {
        case lines
        /// Server-sent events: browsers connect again by themselves.
        case events
    }

    public let contentType: String
    private let framing: Framing
    /// False after ``close()``, after the client has disconnected, and after it read too slowly.
    public private(set) var isOpen = true
    /// Called at most once, when the stream ends for any other reason than ``close()``; perhaps from within
    /// ``send(_:)``. It is given the stream, which need not be kept for it.
    public var onClose: ((ControlStream) -> Void)?

    private var backlog = StreamBacklog(capacity: ControlStream.capacity)
    /// Set by the edge while the connection is suspended for want of bytes.
    var wake: (() -> Void)?

    init(contentType: String, as framing: Framing = .lines) {
        self.contentType = contentType
        self.framing = framing
        if framing == .events { _ = backlog.append(Self.greeting) }
    }

    /// Goes out with the headers: a browser that is cut off comes again after two seconds.
    private static let greeting = Array("retry: 2000\n\n".utf8)

    /// The media type in which it is sent.
    var sentType: String { framing == .events ? "text/event-stream" : contentType }

    /// Queues whole lines; never blocks. Does nothing when the stream is closed.
    public func send(_ lines: [UInt8]) {
        guard isOpen, !lines.isEmpty else { return }
        if !backlog.append(framed(lines)) {
            let sentence =
                "this reader left \(Self.capacity / 1024) KiB unread and is disconnected; read faster, or ask for less"
            backlog.truncate { lost in framed(gapLine(framing == .events ? (lost + 1) / 2 : lost, sentence)) }
            end()
        }
        rouse()
    }

    /// Reports how many lines are missing at this place, and why.
    public func sendGap(of lines: Int, _ sentence: String) { send(gapLine(lines, sentence)) }

    /// Ends the answer after the queued bytes.
    public func close() {
        isOpen = false
        onClose = nil
        rouse()
    }

    enum Portion: Equatable {
        case bytes([UInt8])
        /// No bytes now; `wake` is called when there are some.
        case none
        case end
    }

    /// Removes and returns the next bytes for the client, at most `limit`.
    func read(upTo limit: Int) -> Portion {
        let bytes = backlog.removeFirst(upTo: limit)
        if !bytes.isEmpty { return .bytes(bytes) }
        return isOpen ? .none : .end
    }

    /// The connection has ended, from either side.
    func disconnect() {
        backlog.clear()
        end()
    }

    private func end() {
        isOpen = false
        let ended = onClose
        onClose = nil
        ended?(self)
    }

    private func rouse() {
        let wakes = wake
        wake = nil
        wakes?()
    }

    private func framed(_ lines: [UInt8]) -> [UInt8] {
        guard framing == .events else { return lines }
        var framed: [UInt8] = []
        framed.reserveCapacity(lines.count + 16)
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            framed.append(contentsOf: "data: ".utf8)
            framed.append(contentsOf: line)
            framed.append(contentsOf: "\n\n".utf8)
        }
        return framed
    }

    private func gapLine(_ lost: Int, _ sentence: String) -> [UInt8] {
        guard contentType.hasPrefix("application/") else { return Array("… \(lost) lines lost: \(sentence)\n".utf8) }
        return JSONWriter.line { writer in
            writer.object("gap") { gap in
                gap.field("cause", "overflow")
                gap.field("lines", lost)
                gap.field("message", sentence)
            }
        }
    }
}

/// Bytes that wait for a slow reader, dropped only in whole pieces, so that no line is cut.
struct StreamBacklog {
    let capacity: Int
    private var pieces: [[UInt8]] = []
    private var head = 0
    private var offset = 0
    private(set) var count = 0

    init(capacity: Int) { self.capacity = capacity }

    /// False, and `piece` is dropped, where it does not fit.
    mutating func append(_ piece: [UInt8]) -> Bool {
        guard count + piece.count <= capacity else { return false }
        pieces.append(piece)
        count += piece.count
        return true
    }

    mutating func removeFirst(upTo limit: Int) -> [UInt8] {
        var removed: [UInt8] = []
        while head < pieces.count, removed.count < limit {
            let part = pieces[head][offset...].prefix(limit - removed.count)
            removed.append(contentsOf: part)
            offset += part.count
            if offset == pieces[head].count { advance() }
        }
        count -= removed.count
        return removed
    }

    /// Replaces all pieces, but a partly read first one, by `line`, made from the number of lines lost. The piece that did
    /// not fit counts as one lost line.
    mutating func truncate(with line: (Int) -> [UInt8]) {
        let started = offset > 0 ? Array(pieces[head][offset...]) : []
        let dropped = pieces[(offset > 0 ? head + 1 : head)...]
        let lost = dropped.reduce(1) { $0 + $1.count(of: UInt8(ascii: "\n")) }
        pieces = [started, line(lost)].filter { !$0.isEmpty }
        (head, offset) = (0, 0)
        count = pieces.reduce(0) { $0 + $1.count }
    }

    mutating func clear() { self = StreamBacklog(capacity: capacity) }

    private mutating func advance() {
        pieces[head] = []
        head += 1
        offset = 0
        // Moving the rest up after every piece would take quadratic time.
        if head == pieces.count || head > 64 {
            pieces.removeFirst(head)
            head = 0
        }
    }
}

extension [UInt8] {
    fileprivate func count(of byte: UInt8) -> Int { reduce(0) { $1 == byte ? $0 + 1 : $0 } }
}
