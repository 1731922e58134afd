// An answer that goes on: lines for one client, in a buffer that is bounded because the loop never waits for anyone.
import WakeModel

/// A streamed answer. Lives as long as its connection; belongs to the loop's thread.
public final class ControlStream {
    /// Bytes that may wait for a client; one that lets more than this gather is dropped.
    public static let capacity = 256 * 1024

    public let contentType: String
    /// False from ``close()``, from the client's leaving, and from the moment it read too slowly.
    public private(set) var isOpen = true
    /// Called at most once, when the stream ends for any other reason than ``close()``; perhaps from within
    /// ``send(_:)``. It is given the stream, which need not be kept for it.
    public var onClose: ((ControlStream) -> Void)?

    private var backlog = StreamBacklog(capacity: ControlStream.capacity)
    /// Set by the edge while the connection sleeps for want of bytes.
    var wake: (() -> Void)?

    init(contentType: String) { self.contentType = contentType }

    /// Queues whole lines; never blocks. Ignored when the stream is no longer open.
    public func send(_ lines: [UInt8]) {
        guard isOpen, !lines.isEmpty else { return }
        if !backlog.append(lines) {
            let sentence =
                "this reader let \(Self.capacity / 1024) KiB gather and is let go; read faster, or ask for less"
            backlog.truncate { gapLine($0, sentence) }
            end()
        }
        rouse()
    }

    /// Tells that so many lines are missing at this place, and why.
    public func sendGap(of lines: Int, _ sentence: String) { send(gapLine(lines, sentence)) }

    /// Ends the answer after what is queued.
    public func close() {
        isOpen = false
        onClose = nil
        rouse()
    }

    enum Portion: Equatable {
        case bytes([UInt8])
        /// Nothing now; `wake` will be called when there is.
        case none
        case end
    }

    /// The next bytes for the client, at most `limit`.
    func take(upTo limit: Int) -> Portion {
        let bytes = backlog.take(upTo: limit)
        if !bytes.isEmpty { return .bytes(bytes) }
        return isOpen ? .none : .end
    }

    /// The connection is gone, whoever ended it.
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

    private func gapLine(_ lost: Int, _ sentence: String) -> [UInt8] {
        guard contentType.hasPrefix("application/") else { return Array("… \(lost) lines lost: \(sentence)\n".utf8) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("gap")
        writer.beginObject()
        writer.field("cause", "overflow")
        writer.field("lines", lost)
        writer.field("message", sentence)
        writer.endObject()
        writer.endObject()
        writer.newline()
        return writer.bytes
    }
}

/// Bytes that wait for a slow reader, cut only between the pieces they came in, so that no line is halved.
struct StreamBacklog {
    let capacity: Int
    private var pieces: [[UInt8]] = []
    private var head = 0
    private var offset = 0
    private(set) var count = 0

    init(capacity: Int) { self.capacity = capacity }

    /// False, with nothing kept of `piece`, where it does not fit.
    mutating func append(_ piece: [UInt8]) -> Bool {
        guard count + piece.count <= capacity else { return false }
        pieces.append(piece)
        count += piece.count
        return true
    }

    mutating func take(upTo limit: Int) -> [UInt8] {
        var taken: [UInt8] = []
        while head < pieces.count, taken.count < limit {
            let part = pieces[head][offset...].prefix(limit - taken.count)
            taken.append(contentsOf: part)
            offset += part.count
            if offset == pieces[head].count { advance() }
        }
        count -= taken.count
        return taken
    }

    /// Drops every piece but a half-taken first one, and puts `line`, made from the number of lines lost, in their
    /// place. The piece that did not fit counts as one lost line.
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
        // Moving the rest up at every piece would make a long queue quadratic.
        if head == pieces.count || head > 64 {
            pieces.removeFirst(head)
            head = 0
        }
    }
}

extension [UInt8] {
    fileprivate func count(of byte: UInt8) -> Int { reduce(0) { $1 == byte ? $0 + 1 : $0 } }
}
