// Messages that end with a mark: lines, and any other delimiter.
import WakeModel

struct DelimiterCutter: FrameCutter {
    private static let lineFeed: UInt8 = 0x0a
    private static let carriageReturn: UInt8 = 0x0d

    private let mark: [UInt8]
    /// A carriage return before the mark is part of it.
    private let takesReturn: Bool
    /// Bytes since the last mark that no frame contains yet.
    private var open: OpenMessage

    init(mark: [UInt8], limit: Int, trial: MessageTrial?) {
        self.mark = mark
        takesReturn = false
        open = OpenMessage(limit: limit, trial: trial)
    }

    init(lineLimit: Int, trial: MessageTrial?) {
        mark = [Self.lineFeed]
        takesReturn = true
        open = OpenMessage(limit: lineLimit, trial: trial)
    }

    var openCount: Int { open.bytes.count }

    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        for byte in bytes {
            open.bytes.append(byte)
            if byte == mark.last, endsWithMark {
                open.bytes.removeLast(mark.count)
                if takesReturn, open.bytes.last == Self.carriageReturn { open.bytes.removeLast() }
                open.close(into: &frames)
            } else if certain > open.limit {
                open.shed(into: &frames)
            }
        }
    }

    private var endsWithMark: Bool {
        open.bytes.count >= mark.count && open.bytes.suffix(mark.count).elementsEqual(mark)
    }

    /// Open bytes that are part of the message whatever comes next; the others may be the beginning of the mark.
    private var certain: Int {
        if takesReturn { return open.bytes.count - (open.bytes.last == Self.carriageReturn ? 1 : 0) }
        return open.bytes.count - (mark.count - 1)
    }

    mutating func end(into frames: inout [Frame]) { open.report(.cutShort, into: &frames) }
}
