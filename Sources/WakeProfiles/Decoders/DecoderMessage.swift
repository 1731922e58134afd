// What a named decoder is given: one message, where it comes from, and what is remembered between messages.
import WakeModel

public struct DecoderMessage: Sendable {
    public enum Origin: Hashable, Sendable {
        /// Of a broadcast; the bytes begin after the UUID.
        case serviceData(BluetoothUUID)
        /// Of a broadcast; the bytes begin after the company's number.
        case manufacturerData(UInt16)
        case characteristic
        /// A message of a serial line, or a piece of it.
        case line
        /// A HID report that the device sent, or one that was read from it; its number first where it has one.
        case report, featureReport
        /// Input events, 8 bytes each.
        case input
    }

    public var bytes: [UInt8]
    public var origin: Origin
    /// The six bytes of the Bluetooth address in the order in which it is written; empty for an accessory.
    public var address: [UInt8]
    /// Of this device, from keys.json5.
    public var key: [UInt8]?
    /// On one clock for all messages of a device.
    public var heard: Instant

    public init(
        bytes: [UInt8], origin: Origin, address: [UInt8] = [], key: [UInt8]? = nil, heard: Instant = .zero
    ) {
        self.bytes = bytes
        self.origin = origin
        self.address = address
        self.key = key
        self.heard = heard
    }
}

/// What a profile says beside the decoder's name, or a device beside its messages.
public struct DecoderSettings: Hashable, Sendable {
    /// Of `wedge`: what the keys of the device are taken for.
    public var layout: KeyLayout = .us
    /// Of `wedge`: a silence after which a line has ended.
    public var pause = TimeSpan.milliseconds(200)
    /// Of `hid-power`: the device's report descriptor.
    public var reportDescriptor: [UInt8] = []

    public init() {}
}

/// What a decoder remembers of one device: counters, fragments, a line that has not ended. Begun by `NamedDecoder.begin`.
public struct DecoderState: Hashable, Sendable {
    enum Memory: Hashable, Sendable {
        case nothing
        case counter(ReplayGuard)
        case sentences(AISFragments)
        case messages(MIDIStream)
        case keys(WedgeLine)
        case reports(HIDPowerLayout)
        case meter(SMLStream)
    }

    var memory: Memory

    /// When a silence ends what was begun; ask `NamedDecoder.finish` then.
    public var deadline: Instant? {
        if case .keys(let line) = memory { line.deadline } else { nil }
    }
}
