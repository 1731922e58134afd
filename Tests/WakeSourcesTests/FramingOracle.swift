// Framing done in another way, for whole streams at once: what a framer's frames are compared with.
import TestBench
import WakeModel

@testable import WakeSources

extension Framer {
    /// What came at an instant, and was read at once.
    mutating func append(_ bytes: ArraySlice<UInt8>, at now: Instant) -> [Frame] { append(bytes, at: now, readBy: now) }
}

extension Frame {
    var bytes: [UInt8] {
        switch self {
        case .message(let bytes), .fragment(let bytes, _): bytes
        }
    }
    var isMessage: Bool {
        switch self {
        case .message: true
        case .fragment: false
        }
    }
    var fault: FramingFault? {
        switch self {
        case .message: nil
        case .fragment(_, let fault): fault
        }
    }
}

/// All frames of a stream that comes in calls as long as `sizes` say, and then ends.
func frames(of bytes: [UInt8], _ framing: Framing, limit: Int, inCallsOf sizes: () -> Int) -> [Frame] {
    var framer = Framer(framing, limit: limit)
    var frames: [Frame] = []
    var rest = bytes[...]
    while !rest.isEmpty {
        let part = rest.prefix(max(1, sizes()))
        frames += framer.append(part, at: .zero)
        rest = rest.dropFirst(part.count)
    }
    return frames + framer.end()
}

/// One frame as the oracle knows it: it tells messages from fragments, and does not say why.
struct ExpectedFrame: Equatable, CustomStringConvertible {
    var isMessage: Bool
    var bytes: [UInt8]
    var description: String { (isMessage ? "message " : "fragment ") + bytes.hexadecimal }
}

struct FramingOracle {
    let framing: Framing
    let limit: Int

    /// A message with its framing around it.
    func encoded(_ message: [UInt8]) -> [UInt8] {
        switch framing {
        case .none, .idle, .fixed, .lengthPrefix, .marked: message
        case .hdlc: message.flatMap { $0 == 0x7d || $0 == 0x7e ? [0x7d, $0 ^ 0x20] : [$0] } + [0x7e]
        case .line: message + [0x0d, 0x0a]
        case .delimiter(let mark): message + mark
        case .slip: [0xc0] + escaped(message) + [0xc0]
        case .cobs: stuffed(message) + [0]
        }
    }

    /// What must come of `bytes`; nil for framings that cut by time or by call.
    func expected(_ bytes: [UInt8]) -> [ExpectedFrame]? {
        switch framing {
        case .none, .idle, .marked: nil
        case .hdlc: ended(bytes, by: [0x7e])
        case .line: ended(bytes, by: [0x0a])
        case .delimiter(let mark): ended(bytes, by: mark)
        case .slip: ended(bytes, by: [0xc0])
        case .cobs: ended(bytes, by: [0])
        case .fixed(let length):
            pieces(bytes, length).map { ExpectedFrame(isMessage: $0.count == length, bytes: $0) }
        case .lengthPrefix: nil
        }
    }

    private func ended(_ bytes: [UInt8], by mark: [UInt8]) -> [ExpectedFrame] {
        var expected: [ExpectedFrame] = []
        var start = 0
        var place = 0
        while place + mark.count <= bytes.count {
            guard Array(bytes[place..<(place + mark.count)]) == mark else {
                place += 1
                continue
            }
            var part = Array(bytes[start..<place])
            if framing == .line, part.last == 0x0d { part.removeLast() }
            if let message = decoded(part), message.count <= limit {
                if !message.isEmpty { expected.append(ExpectedFrame(isMessage: true, bytes: message)) }
            } else {
                expected += pieces(part, limit).map { ExpectedFrame(isMessage: false, bytes: $0) }
            }
            place += mark.count
            start = place
        }
        return expected + pieces(Array(bytes[start...]), limit).map { ExpectedFrame(isMessage: false, bytes: $0) }
    }

    private func decoded(_ part: [UInt8]) -> [UInt8]? {
        switch framing {
        case .slip: unescaped(part)
        case .cobs: unstuffed(part)
        case .hdlc: unchanged(part)
        case .none, .line, .delimiter, .lengthPrefix, .fixed, .idle, .marked: part
        }
    }

    /// By looking for each escape from the left; nil where one cannot stand.
    private func unchanged(_ part: [UInt8]) -> [UInt8]? {
        guard let escape = part.firstIndex(of: 0x7d) else { return part }
        guard escape + 1 < part.count, part[escape + 1] != 0x7d else { return nil }
        return unchanged(Array(part[(escape + 2)...])).map { part[..<escape] + [part[escape + 1] ^ 0x20] + $0 }
    }

    private func pieces(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
        stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
    }
}

/// Messages with a length in them.
extension FramingOracle {
    /// A message of `form` around `body`, which must be long enough for its header.
    func lengthened(_ body: [UInt8], _ form: Framing.LengthPrefix) -> [UInt8] {
        var message = form.start + body
        let said = message.count - form.extra
        for index in 0..<form.size {
            let place = form.endian == .little ? index : form.size - 1 - index
            message[form.offset + place] = UInt8(said >> (8 * index) & 0xff)
        }
        return message
    }

    /// The whole messages of a stream that was looked through from its beginning, byte after byte.
    func messages(in bytes: [UInt8], _ form: Framing.LengthPrefix) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var place = 0
        let header = form.offset + form.size
        while place + header <= bytes.count {
            let candidate = Array(bytes[place...].prefix(header))
            var digits = Array(candidate.suffix(form.size))
            if form.endian == .big { digits.reverse() }
            var length = form.extra
            for (index, digit) in digits.enumerated() { length += Int(digit) << (8 * index) }
            guard candidate.starts(with: form.start), length >= header, length <= limit else {
                place += 1
                continue
            }
            guard place + length <= bytes.count else { break }
            messages.append(Array(bytes[place..<(place + length)]))
            place += length
        }
        return messages
    }
}

/// SLIP and COBS.
extension FramingOracle {
    func escaped(_ message: [UInt8]) -> [UInt8] {
        message.flatMap { $0 == 0xc0 ? [0xdb, 0xdc] : $0 == 0xdb ? [0xdb, 0xdd] : [$0] }
    }

    private func unescaped(_ part: [UInt8]) -> [UInt8]? {
        var rest = part
        var message: [UInt8] = []
        while !rest.isEmpty {
            let byte = rest.removeFirst()
            guard byte == 0xdb else {
                message.append(byte)
                continue
            }
            guard let next = rest.first, next == 0xdc || next == 0xdd else { return nil }
            rest.removeFirst()
            message.append(next == 0xdc ? 0xc0 : 0xdb)
        }
        return message
    }

    func stuffed(_ message: [UInt8]) -> [UInt8] {
        var stuffed: [UInt8] = []
        var run: [UInt8] = []
        for byte in message + [0] {
            if byte == 0 {
                stuffed += [UInt8(run.count + 1)] + run
                run = []
            } else {
                run.append(byte)
                if run.count == 254 {
                    stuffed += [0xff] + run
                    run = []
                }
            }
        }
        return stuffed
    }

    private func unstuffed(_ part: [UInt8]) -> [UInt8]? {
        var message: [UInt8] = []
        var isZeroDue = false
        var rest = part[...]
        while let code = rest.popFirst() {
            if isZeroDue { message.append(0) }
            guard rest.count >= Int(code) - 1 else { return nil }
            message += rest.prefix(Int(code) - 1)
            rest = rest.dropFirst(Int(code) - 1)
            isZeroDue = code != 0xff
        }
        return message
    }
}
