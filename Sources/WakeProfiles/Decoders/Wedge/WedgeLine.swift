// A keyboard wedge: scanners and readers that type what they read. Key events become a line of text.
import WakeModel

struct WedgeLine: Hashable, Sendable {
    private enum Modifier: Hashable, Sendable { case leftShift, rightShift, control, alt, altGr, meta }

    private enum Key {
        static let backspace: UInt16 = 14
        static let enter: UInt16 = 28
        static let capsLock: UInt16 = 58
        static let keypadEnter: UInt16 = 96
        static let modifiers: [UInt16: Modifier] = [
            42: .leftShift, 54: .rightShift, 29: .control, 97: .control, 56: .alt, 100: .altGr, 125: .meta, 126: .meta,
        ]
    }

    /// Type EV_KEY of an input event.
    private static let keyEvent: UInt64 = 1
    private static let eventLength = 8
    /// A longer line is given up: it is no code.
    private static let longest = 4_096

    private let layout: KeyLayout
    private let pause: TimeSpan
    private var text = ""
    private var held: Set<Modifier> = []
    private var isCapsLocked = false
    /// Digits of the keypad while Alt is held: the number of a character.
    private var number = ""
    /// When the silence since the last key ends the line.
    private(set) var deadline: Instant?

    init(layout: KeyLayout, pause: TimeSpan) {
        self.layout = layout
        self.pause = pause
    }

    /// Nil while the line goes on.
    mutating func decode(_ message: DecoderMessage) throws(DecoderFault) -> DecodedFields? {
        guard message.bytes.count.isMultiple(of: Self.eventLength) else {
            throw DecoderFault.unfit("not input events: \(message.bytes.count.counted("byte")), where each event has 8")
        }
        var lines = DecodedFields()
        if let deadline, message.heard >= deadline { end(&lines) }
        for start in stride(from: 0, to: message.bytes.count, by: Self.eventLength) {
            let event = message.bytes[start..<(start + Self.eventLength)]
            guard event.prefix(2).littleEndianNumber == Self.keyEvent else { continue }
            let code = UInt16(truncatingIfNeeded: event.dropFirst(2).prefix(2).littleEndianNumber)
            try take(code, value: event.suffix(4).littleEndianSigned, &lines)
        }
        deadline = text.isEmpty ? nil : message.heard + pause
        return lines.isEmpty ? nil : lines
    }

    /// The line, if the silence that ends it is over.
    mutating func finish(at now: Instant) -> DecodedFields? {
        guard let deadline, now >= deadline else { return nil }
        var lines = DecodedFields()
        end(&lines)
        return lines.isEmpty ? nil : lines
    }

    /// A key goes down (1) or up (0). Held keys repeat (2), which no scanner means.
    private mutating func take(_ code: UInt16, value: Int64, _ lines: inout DecodedFields) throws(DecoderFault) {
        if let modifier = Key.modifiers[code] { return hold(modifier, isDown: value != 0) }
        guard value == 1 else { return }
        switch code {
        case Key.enter, Key.keypadEnter: end(&lines)
        case Key.backspace: _ = text.popLast()
        case Key.capsLock: isCapsLocked.toggle()
        default: try type(code, &lines)
        }
    }

    private mutating func hold(_ modifier: Modifier, isDown: Bool) {
        if isDown {
            held.insert(modifier)
        } else {
            held.remove(modifier)
            if modifier == .alt { typeNumber() }
        }
    }

    private mutating func type(_ code: UInt16, _ lines: inout DecodedFields) throws(DecoderFault) {
        if held.contains(.alt) {
            if let digit = KeyLayout.keypadDigits[code] { number.append(digit) }
            return
        }
        let level: KeyLayout.Level =
            held.contains(.altGr)
            ? .altGr : held.contains(.leftShift) || held.contains(.rightShift) ? .shifted : .plain
        guard !held.contains(.meta), let character = layout.character(code, level, isCapsLocked) else { return }
        guard held.contains(.control) else { return try append(character) }
        guard let control = Self.control(character) else { return }
        // Line feed and carriage return end a line as Enter does.
        if control == "\n" || control == "\r" { end(&lines) } else { try append(control) }
    }

    private mutating func append(_ character: Character) throws(DecoderFault) {
        text.append(character)
        guard text.utf8.count > Self.longest else { return }
        text = ""
        throw DecoderFault.unfit("a line of more than \(Self.longest) bytes, which no Enter has ended")
    }

    /// Maps a character to its control character, such as `]` to the group separator, by which codes divide their
    /// parts.
    private static func control(_ character: Character) -> Character? {
        guard let ascii = character.uppercased().utf8.first, (64..<96).contains(ascii) else { return nil }
        return Character(UnicodeScalar(ascii & 31))
    }

    /// Windows' way to type any character by its number, whatever the layout. A zero before it means Latin 1.
    private mutating func typeNumber() {
        defer { number = "" }
        guard let value = UInt8(number), value > 0, value < 128 || number.hasPrefix("0") else { return }
        text.append(Character(UnicodeScalar(value)))
    }

    private mutating func end(_ lines: inout DecodedFields) {
        if !text.isEmpty { lines.add("text", text) }
        text = ""
        deadline = nil
    }
}
