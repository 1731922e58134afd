// The grammar of the lines before the first operation: version, clock and devices.
import WakeModel

extension TraceLine {
    mutating func version() throws(TraceError) {
        let word = try token("`wakebridge-trace 1`")
        guard matches(word, "wakebridge-trace") else {
            throw error("this is no trace: its first line must be `wakebridge-trace 1`", at: word.lowerBound)
        }
        let place = position
        guard try unsigned("the version", upTo: UInt64(UInt32.max)) == 1 else {
            throw error("this version of the format is not known; known is 1", at: place + 1)
        }
        try expectEnd()
    }

    mutating func clock() throws(TraceError) -> TraceHeader {
        let word = try token("`clock`")
        guard matches(word, "clock") else {
            throw error(
                "the second line must be `clock` and a time such as 2026-11-21T07:42:46.727125Z", at: word.lowerBound)
        }
        let range = try token("the time")
        guard let time = WallTime(rfc3339: text(range)) else {
            throw error("`\(text(range))` is no time such as 2026-11-21T07:42:46.727125Z", at: range.lowerBound)
        }
        var header = TraceHeader(start: time, devices: [])
        try eachKey(["zone", "seed"]) { (line, key) throws(TraceError) in
            if key == "zone" {
                header.zone = try line.zone()
            } else {
                header.seed = try line.unsigned("the seed", upTo: .max)
            }
        }
        return header
    }

    /// Reads the rest of a line behind the word `device`.
    mutating func device() throws(TraceError) -> TraceDevice {
        let number = Int(try unsigned("the device number", upTo: UInt64(TraceLimit.deviceNumber)))
        guard number > 0 else { throw error("device numbers start at 1") }
        let kind = try kind()
        skipSpaces()
        let place = position
        let address = try value("the identity")
        var device = TraceDevice(number: number, kind: kind, address: address)
        try checkIdentity(&device, at: place)
        let keys = ["alias", "name", "service", "advertisement", "report_descriptor", "property."]
        try eachKey(keys, repeatable: ["service"]) {
            (line, key) throws(TraceError) in
            try line.readKey(key, into: &device)
        }
        return device
    }

    private mutating func kind() throws(TraceError) -> SourceKind {
        let range = try token("the kind of device")
        let (kinds, name) = (SourceKind.allCases, text(range))
        if let kind = kinds.first(where: { $0.traceWord == name }) { return kind }
        throw error(
            "unknown kind of device `\(name)`" + advice(on: name, among: kinds.map(\.traceWord)), at: range.lowerBound)
    }

    /// A Bluetooth address is six bytes; it is kept in upper case, as BlueZ writes it.
    private func checkIdentity(_ device: inout TraceDevice, at place: Int) throws(TraceError) {
        guard !device.address.isEmpty else { throw error("the identity is empty", at: place) }
        if device.hasBluetoothAddress {
            device.address = device.address.uppercased()
        } else if device.kind == .bluetoothCentral {
            throw error("`\(device.address)` is no address such as C0:F1:F2:F3:F4:01", at: place)
        }
    }

    private func bytes(_ key: String, _ text: String, at place: Int) throws(TraceError) -> [UInt8] {
        guard let bytes = [UInt8](hexadecimal: text), bytes.count <= 4_096 else {
            throw error("`\(key)` is no more than 4,096 bytes in hexadecimal", at: place)
        }
        return bytes
    }

    private mutating func readKey(_ key: String, into device: inout TraceDevice) throws(TraceError) {
        let place = position
        let text = try value("the value")
        switch key {
        case "alias": device.alias = text
        case "name": device.name = text
        case "service":
            guard let uuid = BluetoothUUID(text) else {
                throw error("`\(text)` is no UUID of 4, 8 or 36 characters", at: place)
            }
            device.services.append(uuid)
        case "advertisement": device.advertisement = try bytes(key, text, at: place)
        case "report_descriptor": device.reportDescriptor = try bytes(key, text, at: place)
        default:
            let name = String(key.dropFirst("property.".count))
            guard !name.isEmpty else { throw error("`property.` needs the name of a property", at: place) }
            device.properties.append((key: name, value: text))
        }
    }
}
