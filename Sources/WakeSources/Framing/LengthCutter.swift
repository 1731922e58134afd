// Messages that say how long they are, and finding the next one where something else stands in their place.
import WakeModel

struct LengthCutter: FrameCutter {
    private let form: Framing.LengthPrefix
    private let limit: Int
    /// Bytes up to the end of the length.
    private let header: Int
    /// What begins where a message may begin.
    private var open: [UInt8] = []
    /// How long the open message is; nil until its length has come.
    private var length: Int?
    /// What stands before `open` and is no message.
    private var strays: StrayBytes

    init(_ form: Framing.LengthPrefix, limit: Int) {
        self.form = form
        header = max(form.offset + form.size, form.start.count)
        self.limit = max(limit, header)
        strays = StrayBytes(limit: self.limit)
    }

    var openCount: Int { strays.count + open.count }

    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        for byte in bytes {
            open.append(byte)
            if length == nil { seek(into: &frames) }
            if open.count == length { close(into: &frames) }
        }
    }

    /// Finds the length. What cannot begin a message is put aside a byte at a time, so that the beginning of the next is
    /// not stepped over. While it is sought, no more than a header is open.
    private mutating func seek(into frames: inout [Frame]) {
        while !open.isEmpty {
            guard zip(open, form.start).allSatisfy(==) else {
                strays.append(open.removeFirst(), because: .noStart, into: &frames)
                continue
            }
            guard open.count >= header else { return }
            let said = form.said(in: open)
            if (header...limit).contains(said) {
                strays.report(into: &frames)
                length = said
                return
            }
            strays.append(open.removeFirst(), because: .badLength(said, possible: header...limit), into: &frames)
        }
    }

    private mutating func close(into frames: inout [Frame]) {
        frames.append(.message(open))
        open.removeAll(keepingCapacity: true)
        length = nil
    }

    mutating func end(into frames: inout [Frame]) {
        strays.report(into: &frames)
        frames.appendPieces(of: open, limit: limit, .cutShort)
        open.removeAll()
        length = nil
    }
}
