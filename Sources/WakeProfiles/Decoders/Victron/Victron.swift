// Victron's Instant Readout: an encrypted record in the manufacturer data of company 02e1.
import WakeModel

enum Victron {
    private static let header = 8

    /// Nil if the device only sends its model: Instant Readout is switched off.
    static func decode(_ message: DecoderMessage) throws(DecoderFault) -> DecodedFields? {
        guard message.origin == .manufacturerData(0x02e1), message.bytes.first == 0x10 else {
            throw DecoderFault.unfit("not a readout: it comes as data of company 02e1 that begin with 10")
        }
        var reader = ByteReader(message.bytes)
        // Type, and a length that the makers do not fill in alike.
        _ = try reader.take(2)
        let model = UInt16(try reader.unsigned(2))
        guard reader.left > 0 else { return nil }
        let type = try reader.byte()
        let nonce = UInt32(try reader.unsigned(2))
        let mark = try reader.byte()
        guard let record = VictronRecord(type: type, model: model) else {
            throw DecoderFault.unfit("unknown record \(type.hexadecimal), of model \(model.hexadecimal)")
        }
        guard let bytes = message.key else { throw DecoderFault.noKey }
        let key = try DeviceKey(bytes)
        guard bytes.first == mark else { throw DecoderFault.wrongKey }
        guard reader.left > 0 else { throw DecoderFault.tooShort(offset: header, needed: 1, found: 0) }
        // The counter of the cipher begins with the nonce, its lowest byte first.
        let plain = try key.addStream(to: reader.rest) { block in
            let counter = nonce + UInt32(block)
            return (0..<4).map { UInt8(counter >> (8 * $0) & 0xff) } + [UInt8](repeating: 0, count: 12)
        }
        var fields = DecodedFields()
        fields.add("model_id", model.hexadecimal)
        fields.add("record", record.name)
        try record.read(plain, into: &fields)
        return fields
    }
}
