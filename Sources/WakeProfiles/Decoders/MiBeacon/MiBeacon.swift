// MiBeacon, service fe95: the frame around the objects, and how it is opened with the device's key.
import WakeModel

enum MiBeacon {
    private struct Frame {
        /// The frame control: the parts that follow, and the version in the highest four bits.
        var control: UInt16
        var product: UInt16
        var counter: UInt8
        /// As it is written.
        var address: [UInt8]
        /// The bytes behind the header.
        var body: ArraySlice<UInt8>

        var version: Int { Int(control >> 12) }
        func has(bit: Int) -> Bool { control >> bit & 1 == 1 }
        var isEncrypted: Bool { has(bit: 3) }
        var hasAddress: Bool { has(bit: 4) }
        var hasCapability: Bool { has(bit: 5) }
        var hasObjects: Bool { has(bit: 6) }
        var isMesh: Bool { has(bit: 7) }
    }

    /// Nil where the device only shows that it is there.
    static func decode(_ message: DecoderMessage, _ counter: inout ReplayGuard) throws(DecoderFault) -> DecodedFields? {
        guard message.origin == .serviceData(BluetoothUUID(short: 0xfe95)) else {
            throw DecoderFault.unfit("not MiBeacon: it comes as data of service fe95 in a broadcast")
        }
        let frame = try frame(of: message)
        guard frame.hasObjects else { return nil }
        let objects = frame.isEncrypted ? try open(frame, message, &counter) : Array(frame.body)
        let model = MiBeaconTable.models[frame.product]
        var fields = DecodedFields()
        if let model { fields.add("model", model) } else { fields.add("product", frame.product.hexadecimal) }
        let isLegacy = frame.isEncrypted && frame.version <= 3
        do throws(DecoderFault) { try MiBeaconObjects(model: model ?? "").add(objects, to: &fields) } catch {
            // Their check has one byte, which a wrong key has by chance.
            throw isLegacy ? DecoderFault.wrongKey : error
        }
        return fields
    }

    private static func frame(of message: DecoderMessage) throws(DecoderFault) -> Frame {
        var reader = ByteReader(message.bytes)
        var frame = Frame(
            control: UInt16(try reader.unsigned(2)), product: UInt16(try reader.unsigned(2)),
            counter: try reader.byte(), address: message.address, body: [])
        guard frame.version >= 2 else {
            throw DecoderFault.unfit("unknown version: the frame says MiBeacon \(frame.version), known are 2 to 5")
        }
        guard !frame.isMesh else { throw DecoderFault.unfit("a frame of a mesh, which holds no measurements") }
        if frame.hasAddress {
            frame.address = try reader.take(6).reversed()
            guard message.address.isEmpty || message.address == frame.address else {
                throw DecoderFault.unfit("another address: the frame is of \(frame.address.hexadecimal)")
            }
        }
        if frame.hasCapability, try reader.byte() & 0x20 != 0 { _ = try reader.byte() }
        frame.body = reader.rest
        return frame
    }

    private static func open(
        _ frame: Frame, _ message: DecoderMessage, _ counter: inout ReplayGuard
    ) throws(DecoderFault) -> [UInt8] {
        guard frame.address.count == 6 else { throw DecoderFault.unfit("not decrypted: its address is not known") }
        return frame.version <= 3
            ? try openLegacy(frame, message, &counter) : try openTagged(frame, message, &counter)
    }

    /// Sealed objects, then three bytes of the counter's upper part and four of tag.
    private static func openTagged(
        _ frame: Frame, _ message: DecoderMessage, _ counter: inout ReplayGuard
    ) throws(DecoderFault) -> [UInt8] {
        guard frame.body.count > 7 else { throw DecoderFault.tooShort(offset: 5, needed: 8, found: frame.body.count) }
        let key = try DeviceKey(message.key)
        let upper = frame.body.suffix(7).prefix(3)
        let nonce = Array(frame.address.reversed() + message.bytes[2..<5] + upper)
        let plain = try key.open(frame.body.dropLast(7), tag: frame.body.suffix(4), nonce: nonce, extra: [0x11])
        try counter.accept(count(frame, upper))
        return plain
    }

    /// Versions 2 and 3: a key of twelve bytes around four fixed ones, and one byte of a tag of sixteen.
    private static func openLegacy(
        _ frame: Frame, _ message: DecoderMessage, _ counter: inout ReplayGuard
    ) throws(DecoderFault) -> [UInt8] {
        guard frame.body.count > 4 else { throw DecoderFault.tooShort(offset: 5, needed: 5, found: frame.body.count) }
        guard let short = message.key else { throw DecoderFault.noKey }
        guard short.count == 12 || short.count == DeviceKey.length else {
            throw DecoderFault.keyLength(found: short.count, expected: "12")
        }
        let whole = short.count == 12 ? short.prefix(6) + [0x8d, 0x3d, 0x3c, 0x97] + short.suffix(6) : short[...]
        let key = try DeviceKey(Array(whole))
        let upper = frame.body.suffix(4).prefix(3)
        let nonce = Array(message.bytes[..<5] + upper + frame.address.reversed().prefix(5))
        let plain = try key.addStream(to: frame.body.dropLast(4)) { block in
            [1] + nonce + [0, UInt8(block + 1)]
        }
        let tag = try key.tag(of: plain, nonce: nonce, extra: [0x11])
        guard tag.first == frame.body.last else { throw DecoderFault.wrongKey }
        try counter.accept(count(frame, upper))
        return plain
    }

    private static func count(_ frame: Frame, _ upper: ArraySlice<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: upper.littleEndianNumber) << 8 | UInt32(frame.counter)
    }
}
