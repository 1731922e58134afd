// The name of an accessory in a trace, made of a recording's facts.

struct AccessoryName {
    /// Nil if the recording does not contain it.
    var vendor: UInt16?
    var product: UInt16
    var serial: String?
    /// Where it was plugged in, for those without a serial number.
    var port: String
    var interface: UInt8?

    /// `1050:0120:12345:00`, or by its port `1050:0120:@usb-1-4:00`.
    var text: String {
        let individual = serial.flatMap { $0.isEmpty ? nil : Self.written($0) } ?? "@" + Self.written(port)
        let maker = vendor.map { "\($0.hexadecimal):\(product.hexadecimal)" } ?? "unknown:unknown"
        return "\(maker):\(individual)" + (interface.map { ":" + [$0].hexadecimal } ?? "")
    }

    /// As udev names them, by which profiles know a device.
    var properties: [(key: String, value: String)] {
        guard let vendor else { return [] }
        return [("ID_MODEL_ID", product.hexadecimal), ("ID_VENDOR_ID", vendor.hexadecimal)]
    }

    /// Letters, digits, `.`, `_` and `-`, at most 64 of them.
    static func written(_ text: String) -> String {
        String(
            text.unicodeScalars.prefix(64).map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": Character(scalar)
                case ":": "-"
                default: "_"
                }
            })
    }
}
