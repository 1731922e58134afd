// BTHome, versions 1 and 2: reads its service data, opened with the device's key if they are encrypted.
import WakeModel

enum BTHome {
    private enum Form {
        /// Service 181c: every object has its length and type before it.
        case first
        /// Service 181e: the same, encrypted.
        case firstEncrypted
        /// Service fcd2: a byte of device information, then objects whose number determines their length.
        case second
    }

    static func decode(_ message: DecoderMessage, _ counter: inout ReplayGuard) throws(DecoderFault) -> DecodedFields? {
        switch try form(of: message) {
        case .first:
            if message.key != nil { throw DecoderFault.notEncrypted }
            return try BTHomeObjects.first(message.bytes)
        case .firstEncrypted: return try BTHomeObjects.first(openFirst(message, &counter))
        case .second: return try second(message, &counter)
        }
    }

    private static func form(of message: DecoderMessage) throws(DecoderFault) -> Form {
        guard case .serviceData(let uuid) = message.origin else {
            throw DecoderFault.unfit("not BTHome: it comes as service data of a broadcast")
        }
        switch uuid.short {
        case 0x181c: return .first
        case 0x181e: return .firstEncrypted
        case 0xfcd2: return .second
        default: throw DecoderFault.unfit("not BTHome: its services are fcd2, 181c and 181e")
        }
    }

    private static func second(
        _ message: DecoderMessage, _ counter: inout ReplayGuard
    ) throws(DecoderFault) -> DecodedFields? {
        var reader = ByteReader(message.bytes)
        let information = try reader.byte()
        guard information >> 5 == 2 else {
            throw DecoderFault.unfit("unknown version: byte 0 says BTHome \(information >> 5), known is 2")
        }
        // An address before the objects takes the place of the broadcast's, which may be random.
        let address = information & 2 == 0 ? message.address : try reader.take(6).reversed()
        guard information & 1 != 0 else {
            if message.key != nil { throw DecoderFault.notEncrypted }
            return try BTHomeObjects.second(reader.rest)
        }
        let nonce = address + [0xd2, 0xfc, information]
        return try BTHomeObjects.second(open(reader.rest, after: nonce, extra: [], message, &counter)[...])
    }

    private static func openFirst(
        _ message: DecoderMessage, _ counter: inout ReplayGuard
    ) throws(DecoderFault) -> [UInt8] {
        try open(message.bytes[...], after: message.address + [0x1e, 0x18], extra: [0x11], message, &counter)
    }

    /// Sealed objects, then four bytes of counter and four of tag.
    private static func open(
        _ bytes: ArraySlice<UInt8>, after prefix: [UInt8], extra: [UInt8], _ message: DecoderMessage,
        _ counter: inout ReplayGuard
    ) throws(DecoderFault) -> [UInt8] {
        guard bytes.count > 8 else { throw DecoderFault.tooShort(offset: 0, needed: 9, found: bytes.count) }
        let key = try DeviceKey(message.key)
        guard message.address.count == 6 else { throw DecoderFault.unfit("not decrypted: its address is not known") }
        let count = bytes.suffix(8).prefix(4)
        let plain = try key.open(bytes.dropLast(8), tag: bytes.suffix(4), nonce: prefix + count, extra: extra)
        try counter.accept(UInt32(truncatingIfNeeded: count.littleEndianNumber))
        return plain
    }
}
