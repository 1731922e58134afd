// Ruuvi's data format 8: one encrypted block of measurements, with a check that shows a wrong key.
import WakeModel

enum Ruuvi8 {
    /// Means that there is no sequence number; the sequence goes from the number before it to 0.
    private static let noSequence: Int64 = 65_535

    static func decode(_ message: DecoderMessage, _ counter: inout ReplayGuard) throws(DecoderFault) -> DecodedFields? {
        guard message.origin == .manufacturerData(0x0499), message.bytes.first == 8 else {
            throw DecoderFault.unfit("not Ruuvi format 8: it comes as data of company 0499 that begin with 08")
        }
        var reader = ByteReader(message.bytes)
        _ = try reader.byte()
        let sealed = try reader.take(DeviceKey.length)
        let check = try reader.byte()
        let address = try reader.take(6)
        guard message.address.isEmpty || message.address == Array(address) else {
            throw DecoderFault.unfit("another address: the message is of \(Array(address).hexadecimal)")
        }
        let plain = try DeviceKey(message.key).decrypt(block: sealed)
        guard self.check(plain) == check else { throw DecoderFault.wrongKey }
        var fields = try fields(of: plain, &counter)
        // The check vouches for a longer message.
        if reader.left > 0 { fields.add("undecoded", .bytes(Array(reader.rest))) }
        return fields
    }

    /// The largest number of a kind means that there is no value.
    private static func fields(of plain: [UInt8], _ counter: inout ReplayGuard) throws(DecoderFault) -> DecodedFields {
        func number(at place: Int) -> Int64 { Int64(plain[place..<(place + 2)].bigEndianNumber) }
        let (temperature, humidity, pressure) = (
            Int64(Int16(truncatingIfNeeded: number(at: 0))), number(at: 2), number(at: 4)
        )
        let (voltage, transmission) = (number(at: 6) >> 5, number(at: 6) & 31)
        let (movements, sequence) = (number(at: 8), number(at: 10))
        var fields = DecodedFields()
        fields.add("temperature_c", temperature == -32_768 ? .null : .decimal(temperature * 5, places: 3))
        fields.add("humidity_percent", humidity == 65_535 ? .null : .decimal(humidity * 25, places: 4))
        fields.add("pressure_pa", pressure == 65_535 ? .null : .whole(pressure + 50_000))
        fields.add("voltage_v", voltage == 2_047 ? .null : .decimal(voltage + 1_600, places: 3))
        fields.add("tx_power_dbm", transmission == 31 ? .null : .whole(transmission * 2 - 40))
        fields.add("movements", movements == 65_535 ? .null : .whole(movements))
        fields.add("sequence", sequence == noSequence ? .null : .whole(sequence))
        if sequence != noSequence { try counter.accept(UInt32(sequence), round: UInt32(noSequence)) }
        return fields
    }

    /// CRC-8 with the polynomial 07.
    private static func check(_ bytes: [UInt8]) -> UInt8 {
        var check: UInt8 = 0
        for byte in bytes {
            check ^= byte
            for _ in 0..<8 { check = check & 0x80 == 0 ? check << 1 : check << 1 ^ 0x07 }
        }
        return check
    }
}
