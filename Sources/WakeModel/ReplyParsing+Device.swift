// Reads the device requests that a handler may write to descriptor 3.

extension JSONValue {
    func writeRequest() throws(ProtocolFault) -> Reply {
        let target = try address(for: "write", keys: ["device", "characteristic", "stream", "hex"])
        guard let bytes = self["hex"]?.string.flatMap({ [UInt8](hexadecimal: $0) }) else {
            throw .malformed(
                "\"write\" takes \"hex\", an even number of hexadecimal digits; here stands \((self["hex"] ?? .null).excerpt).",
                advice: "Write two digits a byte, such as \"01ff\".")
        }
        if case .characteristic = target.channel, bytes.count > ReplyLine.characteristicLimit {
            throw .tooLong(
                "The value", bytes.count, limit: ReplyLine.characteristicLimit,
                advice: "Write it in parts, as the device expects them.")
        }
        return .write(target, bytes: bytes)
    }

    func address(for verb: String, keys known: [String]) throws(ProtocolFault) -> DeviceAddress {
        guard case .object(let members) = self else {
            throw .malformed(
                "\"\(verb)\" takes an object; here stands \(excerpt).",
                advice: "Write {\"\(verb)\":{\"device\":\"…\"}}.")
        }
        for member in members where !known.contains(member.name) {
            throw .unknownKey(member.name, of: "\"\(verb)\"", known: known)
        }
        guard let device = self["device"]?.string, !device.isEmpty else {
            throw .malformed(
                "\"\(verb)\" takes \"device\", a device's name; here stands \((self["device"] ?? .null).excerpt).",
                advice: "Use the subject of an event line.")
        }
        return DeviceAddress(device: device, channel: try channel(for: verb))
    }

    private func channel(for verb: String) throws(ProtocolFault) -> Channel? {
        switch (self["characteristic"], self["stream"]) {
        case (nil, nil): return nil
        case (let value?, nil):
            guard let uuid = value.string.flatMap({ BluetoothUUID($0) }) else {
                throw .malformed(
                    "\"characteristic\" takes a Bluetooth UUID; here stands \(value.excerpt).",
                    advice: "Write it as event lines do, such as \"2a39\".")
            }
            return .characteristic(uuid)
        case (nil, let value?):
            guard let channel = value.string.flatMap({ Channel(stream: $0) }) else {
                throw ProtocolFault(
                    .unknownToken,
                    "\"stream\" takes serial, input or report-0 to report-255; here stands \(value.excerpt).",
                    advice: "Write it as event lines do.")
            }
            return channel
        case (_?, _?):
            throw .malformed(
                "\"\(verb)\" names both a characteristic and a stream.", advice: "Name the one that the device has.")
        }
    }
}
