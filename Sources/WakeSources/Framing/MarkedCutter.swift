// Messages that begin with a mark, of one kind or of several on one line; what stands before a mark is told as garbage.
import WakeModel

struct MarkedCutter: FrameCutter {
    private let forms: [Framing.Marked]
    private let limit: Int
    /// What begins where a message may begin.
    private var open: [UInt8] = []
    /// Of the open message; nil until its mark has come.
    private var form: Framing.Marked?
    /// The length of the open message, where it is known.
    private var length: Int?
    /// Pieces of the open message were let go already.
    private var isTooLong = false
    /// What stands before `open` and is no message.
    private var strays: StrayBytes

    init(_ forms: [Framing.Marked], limit: Int) {
        self.forms = forms
        self.limit = limit
        strays = StrayBytes(limit: limit)
    }

    var openCount: Int { strays.count + open.count }

    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        for byte in bytes {
            open.append(byte)
            advance(into: &frames)
        }
    }

    /// A message that cannot be is looked through for the next one, a byte at a time.
    private mutating func advance(into frames: inout [Frame]) {
        while !open.isEmpty {
            guard let form = form ?? found() else {
                if isMark { return }
                strays.append(open.removeFirst(), because: .noStart, into: &frames)
                continue
            }
            if self.form == nil { strays.report(into: &frames) }
            self.form = form
            switch state(of: form) {
            case .whole(let message): close(message, of: form, into: &frames)
            case .open: return shedIfTooLong(form, into: &frames)
            case .impossible(let fault):
                self.form = nil
                strays.append(open.removeFirst(), because: fault, into: &frames)
            }
        }
    }

    /// The form whose mark the open bytes begin with.
    private func found() -> Framing.Marked? { forms.first { open.starts(with: $0.start) } }

    /// Whether they may become a mark.
    private var isMark: Bool { forms.contains { $0.start.starts(with: open) } }

    private func limit(of form: Framing.Marked) -> Int { max(1, form.limit ?? limit) }

    private enum State {
        case whole([UInt8])
        case open
        case impossible(FramingFault)
    }

    private mutating func state(of form: Framing.Marked) -> State {
        switch form.rest {
        case .line:
            guard open.last == 0x0a else { return .open }
            return .whole(open.dropLast(open.dropLast().last == 0x0d ? 2 : 1))
        case .delimiter(let mark, let tail):
            // The start is no part of the end, where it is still there.
            let head = isTooLong ? 0 : form.start.count
            if length == nil, open.count >= head + mark.count, open.suffix(mark.count).elementsEqual(mark) {
                length = open.count + (tail ?? 0)
            }
            guard let length, open.count >= length else { return .open }
            return .whole(tail == nil ? open.dropLast(mark.count) : open)
        case .fixed(let count): return open.count >= count ? .whole(open) : .open
        case .length(let prefix):
            let header = max(prefix.offset + prefix.size, form.start.count)
            guard open.count >= header else { return .open }
            let said = prefix.said(in: open)
            let possible = header...max(limit(of: form), header)
            guard possible.contains(said) else { return .impossible(.badLength(said, possible: possible)) }
            return open.count >= said ? .whole(open) : .open
        }
    }

    /// - Parameter message: what is open of it, without its end.
    private mutating func close(_ message: [UInt8], of form: Framing.Marked, into frames: inout [Frame]) {
        if isTooLong || message.count > longest(of: form) {
            frames.appendPieces(of: message, limit: limit(of: form), .tooLong(limit: limit(of: form)))
        } else if !message.isEmpty {
            frames.append(.message(message))
        }
        clear()
    }

    /// What has a length of its own is never longer.
    private func longest(of form: Framing.Marked) -> Int {
        switch form.rest {
        case .line, .delimiter: limit(of: form)
        case .fixed, .length: .max
        }
    }

    /// Lets a piece go, and goes on to the end of the form: a mark within the message begins none. So much is left that its
    /// end is seen whole.
    private mutating func shedIfTooLong(_ form: Framing.Marked, into frames: inout [Frame]) {
        let end =
            switch form.rest {
            case .line: 2
            case .delimiter(let mark, _): mark.count
            case .fixed, .length: 0
            }
        let most = longest(of: form)
        guard open.count - end > most else { return }
        frames.append(.fragment(Array(open.prefix(most)), .tooLong(limit: most)))
        open.removeFirst(most)
        length = length.map { $0 - most }
        isTooLong = true
    }

    private mutating func clear() {
        open.removeAll(keepingCapacity: true)
        form = nil
        length = nil
        isTooLong = false
    }

    mutating func end(into frames: inout [Frame]) {
        strays.report(into: &frames)
        frames.appendPieces(of: open, limit: form.map { self.limit(of: $0) } ?? limit, .cutShort)
        clear()
    }
}

extension Framing.LengthPrefix {
    /// Bytes of the whole message, as it says itself in its first.
    func said(in bytes: [UInt8]) -> Int {
        let digits = bytes[offset..<(offset + size)]
        let value =
            switch endian {
            case .big: digits.reduce(0) { $0 << 8 | Int($1) }
            case .little: digits.reversed().reduce(0) { $0 << 8 | Int($1) }
            }
        return value + extra
    }
}
