// Levels of topics: names of devices and handlers, with what MQTT reserves escaped.
import WakeModel

public enum TopicName {
    /// One level: `a/b` becomes `a%2Fb`. MQTT reserves `+`, `#`, `/`, and `$` at the start.
    public static func escaped(_ name: String) -> String {
        var result: [UInt8] = []
        for (place, byte) in name.utf8.enumerated() {
            guard isReserved(byte) || place == 0 && byte == UInt8(ascii: "$") else {
                result.append(byte)
                continue
            }
            result.append(UInt8(ascii: "%"))
            result.append(contentsOf: [digit(byte >> 4), digit(byte & 15)])
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Nil for a level that no name is escaped to.
    public static func unescaped(_ level: some StringProtocol) -> String? {
        var result: [UInt8] = []
        var rest = Array(level.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value) else {
                return nil
            }
            result.append(high << 4 | low)
        }
        guard let name = String(validating: result, as: UTF8.self), escaped(name) == String(level) else { return nil }
        return name
    }

    private static func isReserved(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7f || "+#/%".utf8.contains(byte) }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
