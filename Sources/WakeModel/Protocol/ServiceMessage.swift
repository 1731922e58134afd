// A message of sd_notify(3): one datagram of KEY=VALUE lines, of which the bridge uses a few.

public struct ServiceMessage: Hashable, Sendable {
    public enum Order: Hashable, Sendable {
        /// READY=1
        case ready
        /// EXTEND_TIMEOUT_USEC=n
        case extend(TimeSpan)
        /// WATCHDOG=trigger: the program asks to be ended.
        case abort
    }

    public var orders: [Order] = []
    /// STATUS=…, for people; empty text removes the last one.
    public var status: String?

    /// The longest datagram in bytes, as in a service manager.
    public static let lengthLimit = 4_096
    /// The bytes of a status that are kept.
    public static let statusLimit = 256
    /// Longer than any pool: an extension above it changes nothing.
    private static let longestExtension: UInt64 = 86_400_000_000

    /// Nil where the datagram is no such message. Keys that the bridge does not use, such as MAINPID, are ignored.
    public init?(parsing bytes: ArraySlice<UInt8>) {
        guard !bytes.isEmpty, !bytes.contains(0) else { return nil }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex else { return nil }
            let value = line[(equals + 1)...]
            switch String(decoding: line[..<equals], as: UTF8.self) {
            case "READY": if value.elementsEqual("1".utf8) { orders.append(.ready) }
            case "WATCHDOG": if value.elementsEqual("trigger".utf8) { orders.append(.abort) }
            case "EXTEND_TIMEOUT_USEC":
                guard let span = Self.microseconds(value) else { return nil }
                orders.append(.extend(span))
            case "STATUS":
                guard let text = Self.shown(value) else { return nil }
                status = text
            default: break
            }
        }
    }

    private static func microseconds(_ digits: ArraySlice<UInt8>) -> TimeSpan? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = UInt64(String(decoding: digits, as: UTF8.self)), count > 0
        else { return nil }
        return .microseconds(Int64(min(count, longestExtension)))
    }

    /// Cuts at a whole character and drops control characters, which could rewrite an operator's terminal.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var shown = String.UnicodeScalarView()
        var length = 0
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value)
            let kept: Unicode.Scalar = isControl ? "\u{fffd}" : scalar
            length += UTF8.width(kept)
            guard length <= statusLimit else { break }
            shown.append(kept)
        }
        return String(shown)
    }
}
