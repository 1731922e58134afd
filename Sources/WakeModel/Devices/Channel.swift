// The part of a device that bytes came from, and the name that it has on every surface.

/// Why bytes of a serial accessory do not fit its framing.
public enum Fragment: String, Hashable, Sendable, CaseIterable {
    case tooLong = "too-long"
    case noStart = "no-start"
    case badLength = "bad-length"
    case badEscape = "bad-escape"
    case badCode = "bad-code"
    case badCheck = "bad-check"
    case cutShort = "cut-short"

    /// The name in event lines.
    public var sentence: String {
        switch self {
        case .tooLong: "too long: no end came within the limit, and this is a piece of it"
        case .noStart: "garbage: it stands before the start of a message"
        case .badLength: "a length that cannot be"
        case .badEscape: "a bad escape"
        case .badCode: "a bad code"
        case .badCheck: "damaged: its check is wrong, and another message begins within it"
        case .cutShort: "cut short: the line ended before the message did"
        }
    }
}

/// The part of a device that bytes came from.
public enum Channel: Hashable, Sendable {
    case characteristic(CharacteristicName)
    /// Bytes of a serial accessory that are no message; they are never decoded or coalesced with messages.
    case fragment(Fragment)
    /// A HID report by its number; 0 where the device does not number reports.
    case report(UInt8)
    /// Another stream of its source, by name: a word of a-z, 0-9 and `-`.
    case stream(String)

    /// The only one of its UUID, or the first of several.
    public static func characteristic(_ uuid: BluetoothUUID) -> Channel { .characteristic(CharacteristicName(uuid)) }

    /// The channel that a profile names: characteristics of one UUID have the same layout.
    public var first: Channel {
        if case .characteristic(let name) = self { .characteristic(name.first) } else { self }
    }

    /// The name that distinguishes its values from those of the first of its UUID, such as `2a19_2`; nil for the
    /// first.
    public var nameOfTwin: String? {
        guard case .characteristic(let name) = self, name.number > 1 else { return nil }
        return "\(name.uuid)_\(name.number)"
    }

    /// The byte stream of a serial accessory.
    public static let serial = Channel.stream("serial")
    /// Input events (evdev).
    public static let input = Channel.stream("input")
    /// A broadcast, received without a link: AD structures in the order sent.
    public static let advertisement = Channel.stream("advertisement")

    /// Bytes that the name of a stream has at most: the journal keeps its length in one byte.
    public static let longestName = 255
}

extension Channel {
    /// The field that names the channel in an event line, and its text.
    public var wireName: (field: StaticString, text: String) {
        switch self {
        case .characteristic(let name): ("characteristic", name.description)
        case .fragment(let fragment): ("stream", Self.fragmentPrefix + fragment.rawValue)
        case .report(let number): ("stream", "\(Self.reportPrefix)\(number)")
        case .stream(let name): ("stream", name)
        }
    }

    /// Reads the text of ``wireName``; nil for anything else, such as a stream that no registered kind of source has.
    public init?(wireName text: some StringProtocol) {
        if let name = CharacteristicName(text) {
            self = .characteristic(name)
        } else if text == "advertisement" {
            self = .advertisement
        } else if text.hasPrefix(Self.fragmentPrefix) {
            guard let fragment = Fragment(rawValue: String(text.dropFirst(Self.fragmentPrefix.count))) else {
                return nil
            }
            self = .fragment(fragment)
        } else {
            self.init(stream: String(text))
        }
    }

    /// Reads a ``wireName`` that a bridge wrote, also of a stream that this program does not know; nil for what no stream
    /// can be called.
    public init?(kept text: String) {
        if let channel = Channel(wireName: text) {
            self = channel
        } else {
            guard (1...Self.longestName).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > UInt8(ascii: " ") })
            else { return nil }
            self = .stream(text)
        }
    }

    /// Reads the ``wireName`` of a stream that can be written to and read from: a broadcast cannot.
    public init?(stream text: String) {
        if text.hasPrefix(Self.reportPrefix) {
            guard let number = UInt8(text.dropFirst(Self.reportPrefix.count)), text == "\(Self.reportPrefix)\(number)"
            else { return nil }
            self = .report(number)
        } else {
            guard SourceKind.allCases.contains(where: { $0.streams.contains(text) }) else { return nil }
            self = .stream(text)
        }
    }

    private static let reportPrefix = "report-"
    private static let fragmentPrefix = "serial-"
}
