// Messages that begin with a mark, or have a length: of one kind, or of several on one line.
import WakeModel

/// Bytes before a mark are garbage. The cutter searches a message with a wrong check for the next mark. The first mark
/// may be chance. Or the message lost a byte or its end, and swallowed the beginning of a whole one.
struct MarkedCutter: FrameCutter {
    /// A message that is not whole yet.
    private struct Unfinished {
        /// The bytes at a place where a message may begin.
        var bytes: [UInt8] = []
        /// Nil until its mark has come.
        var form: Framing.Marked?
        /// Its length, where that is known.
        var length: Int?
        /// Pieces of it were emitted already.
        var isTooLong = false
    }

    private let forms: [Framing.Marked]
    private let limit: Int
    private let hasInterruptions: Bool
    /// An end is seen as its last byte comes, so bytes are taken again one by one.
    private let isEndedByBytes: Bool
    private var open = Unfinished()
    /// The message that goes on after the open one, which interrupted it.
    private var interrupted: Unfinished?
    /// Bytes before `open` that form no message.
    private var strays: StrayBytes
    private var secondLook: SecondLook

    init(_ forms: [Framing.Marked], limit: Int, trial: MessageTrial?) {
        self.forms = forms
        hasInterruptions = forms.contains(where: \.interrupts)
        isEndedByBytes = forms.contains(where: \.isEnded)
        self.limit = forms.reduce(limit) { max($0, $1.header) }
        strays = StrayBytes(limit: self.limit)
        secondLook = SecondLook(trial, limit: self.limit)
    }

    var openCount: Int { strays.count + (interrupted?.bytes.count ?? 0) + open.bytes.count }

    mutating func append(_ bytes: ArraySlice<UInt8>, readBy end: Instant, into frames: inout [Frame]) {
        secondLook.earn(bytes.count)
        take(bytes, into: &frames)
    }

    /// Takes bytes for the first time, or once more.
    private mutating func take(_ bytes: ArraySlice<UInt8>, into frames: inout [Frame]) {
        var rest = bytes
        while let byte = rest.popFirst() {
            open.bytes.append(byte)
            if hasInterruptions { interruptIfMarked() }
            if let again = advance(into: &frames) { rest = again + rest }
        }
    }

    /// - Returns: bytes to take once more, because the message around them was none.
    private mutating func advance(into frames: inout [Frame]) -> ArraySlice<UInt8>? {
        while !open.bytes.isEmpty {
            guard let form = open.form ?? found() else {
                if isMark { return nil }
                strays.append(open.bytes.removeFirst(), because: .noStart, into: &frames)
                continue
            }
            open.form = form
            switch state(of: form) {
            case .begun: return nil
            case .whole(let message): return close(message, of: form, into: &frames)
            case .open:
                if !form.start.isEmpty { strays.report(into: &frames) }
                return shedIfTooLong(form, into: &frames)
            case .impossible(let fault):
                strays.append(open.bytes.removeFirst(), because: fault, into: &frames)
                let rest = open.bytes
                open = Unfinished(bytes: isEndedByBytes ? [] : rest)
                if isEndedByBytes { return rest[...] }
            }
        }
        return nil
    }

    /// The form whose mark the open bytes begin with; any byte begins one without a mark.
    private func found() -> Framing.Marked? {
        forms.first { !$0.start.isEmpty && open.bytes.starts(with: $0.start) } ?? forms.first { $0.start.isEmpty }
    }

    /// Whether they may become a mark.
    private var isMark: Bool { forms.contains { $0.start.starts(with: open.bytes) } }

    private func limit(of form: Framing.Marked) -> Int { max(1, form.limit ?? limit) }

    private enum State {
        case whole([UInt8])
        case open
        /// Its mark is there, and its length has not come.
        case begun
        case impossible(FramingFault)
    }

    private mutating func state(of form: Framing.Marked) -> State {
        let bytes = open.bytes
        switch form.rest {
        case .line:
            guard bytes.last == 0x0a else { return .open }
            return .whole(bytes.dropLast(bytes.dropLast().last == 0x0d ? 2 : 1))
        case .delimiter(let mark, let tail):
            // The start is no part of the end, where it is still there.
            let head = open.isTooLong ? 0 : form.start.count
            if open.length == nil, bytes.count >= head + mark.count, bytes.suffix(mark.count).elementsEqual(mark) {
                open.length = bytes.count + (tail ?? 0)
            }
            guard let length = open.length, bytes.count >= length else { return .open }
            return .whole(tail == nil ? bytes.dropLast(mark.count) : bytes)
        case .fixed(let count): return bytes.count >= count ? .whole(bytes) : .open
        case .length(let prefix):
            guard bytes.count >= form.header else { return .begun }
            let length = open.length ?? prefix.said(in: bytes)
            let possible = form.header...max(limit(of: form), form.header)
            guard possible.contains(length) else { return .impossible(.badLength(length, possible: possible)) }
            open.length = length
            return bytes.count >= length ? .whole(bytes) : .open
        }
    }

    mutating func end(into frames: inout [Frame]) {
        secondLook.earn(openCount)
        if let outer = interrupted {
            frames.appendPieces(of: outer.bytes, limit: outer.form.map { limit(of: $0) } ?? limit, .cutShort)
            interrupted = nil
        }
        // An unfinished message may contain a whole one.
        while let place = secondLook.next(in: open.bytes, marks: marks) {
            strays.report(into: &frames)
            frames.appendPieces(of: Array(open.bytes[..<place]), limit: limit, .cutShort)
            let rest = open.bytes[place...]
            open = Unfinished()
            take(rest, into: &frames)
        }
        strays.report(into: &frames)
        frames.appendPieces(of: open.bytes, limit: open.form.map { limit(of: $0) } ?? limit, .cutShort)
        open = Unfinished()
    }
}

/// The end of a message.
extension MarkedCutter {
    /// - Parameter message: what is open of it, without its end.
    /// - Returns: bytes to take once more.
    private mutating func close(
        _ message: [UInt8], of form: Framing.Marked, into frames: inout [Frame]
    ) -> ArraySlice<UInt8>? {
        let bytes = open.bytes
        let isTooLong = open.isTooLong || message.count > longest(of: form)
        if !isTooLong, let place = placeOfNext(in: message, of: form) {
            resume()
            for byte in bytes[..<place] { strays.append(byte, because: .badCheck, into: &frames) }
            // Where any byte may begin one, the search goes on a byte at a time.
            if !form.start.isEmpty { strays.report(into: &frames) }
            return bytes[place...]
        }
        strays.report(into: &frames)
        if isTooLong {
            frames.appendPieces(of: message, limit: limit(of: form), .tooLong(limit: limit(of: form)))
        } else if form.isEndedOnly {
            frames += secondLook.frames(of: message, limit: limit(of: form))
        } else if !message.isEmpty {
            frames.append(.message(message))
        }
        resume()
        return nil
    }

    /// Where the next message may begin within one whose check is wrong. Nil if it begins nowhere: the message is then
    /// emitted whole, and its decoder finds the fault.
    private mutating func placeOfNext(in message: [UInt8], of form: Framing.Marked) -> Int? {
        guard !form.isEndedOnly, !form.interrupts, secondLook.isDamaged(message) else { return nil }
        return secondLook.next(in: open.bytes, marks: marks)
    }

    /// An empty one is found at every byte.
    private var marks: [[UInt8]] { forms.filter { !$0.isEndedOnly && !$0.interrupts }.map(\.start) }

    /// A message with a length of its own is never longer.
    private func longest(of form: Framing.Marked) -> Int { form.isEnded ? limit(of: form) : .max }

    /// Emits a piece, and continues to the end of the form. The rest is long enough that the end is found whole. A mark
    /// within the message begins another only if a check shows damage.
    private mutating func shedIfTooLong(_ form: Framing.Marked, into frames: inout [Frame]) -> ArraySlice<UInt8>? {
        let most = longest(of: form)
        guard form.isEnded, open.bytes.count - form.endCount > most else { return nil }
        if !open.isTooLong, let place = secondLook.next(in: open.bytes, marks: marks) {
            let bytes = open.bytes
            resume()
            for byte in bytes[..<place] { strays.append(byte, because: .tooLong(limit: most), into: &frames) }
            return bytes[place...]
        }
        frames.append(.fragment(Array(open.bytes.prefix(most)), .tooLong(limit: most)))
        open.bytes.removeFirst(most)
        open.length = open.length.map { $0 - most }
        open.isTooLong = true
        return nil
    }
}

/// Messages within others.
extension MarkedCutter {
    /// Bytes after a delimiter may be anything, as in a message with a length.
    private mutating func interruptIfMarked() {
        guard interrupted == nil, let form = open.form, form.isEnded, !form.interrupts, open.length == nil,
            let inner = forms.first(where: { $0.interrupts && open.bytes.ends(with: $0.start) })
        else { return }
        open.bytes.removeLast(inner.start.count)
        interrupted = open
        open = Unfinished(bytes: inner.start, form: inner)
    }

    private mutating func resume() {
        open = interrupted ?? Unfinished()
        interrupted = nil
    }
}

extension Framing.Marked {
    /// Bytes up to the end of the length.
    fileprivate var header: Int {
        if case .length(let prefix) = rest { max(prefix.offset + prefix.size, start.count) } else { start.count }
    }

    /// Only what comes ends it.
    fileprivate var isEnded: Bool {
        switch rest {
        case .line, .delimiter: true
        case .fixed, .length: false
        }
    }

    /// It has no mark by which its beginning is known.
    fileprivate var isEndedOnly: Bool { isEnded && start.isEmpty }

    /// How many bytes of its end may be open.
    fileprivate var endCount: Int {
        switch rest {
        case .line: 2
        case .delimiter(let mark, _): mark.count
        case .fixed, .length: 0
        }
    }
}

extension Framing.LengthPrefix {
    /// Length of the whole message, as its first bytes give it.
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

extension [UInt8] {
    fileprivate func ends(with bytes: [UInt8]) -> Bool {
        count >= bytes.count && suffix(bytes.count).elementsEqual(bytes)
    }
}
