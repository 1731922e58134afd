// Levels of topics: names of devices and handlers, escaped so that every broker takes them.
import WakeModel

public enum TopicName {
    /// Escapes a level: `a/b` becomes `a%2Fb`. MQTT reserves `+`, `#`, `/`, and `$` at the start; brokers of NATS take
    /// no `.` and no space.
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

    /// Nil for a level that no name is escaped to. Earlier bridges left `.` and spaces as they are.
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
        let newer = String(level).replacing(".", with: "%2E").replacing(" ", with: "%20")
        guard let name = String(validating: result, as: UTF8.self), escaped(name) == newer else { return nil }
        return name
    }

    /// Whether MQTT takes the text for a level of a topic, as a person writes it into the settings.
    public static func isLevel(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && !text.hasPrefix("$") && !text.utf8.contains { isReservedByMQTT($0) }
    }

    private static func isReserved(_ byte: UInt8) -> Bool { isReservedByMQTT(byte) || ". ".utf8.contains(byte) }

    private static func isReservedByMQTT(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7f || "+#/%".utf8.contains(byte)
    }

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
