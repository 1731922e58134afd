// The input of a named decoder: a message, its origin, and the state between messages.
import WakeModel

public struct DecoderMessage: Sendable {
    public enum Origin: Hashable, Sendable {
        /// Service data of a broadcast; the bytes begin after the UUID.
        case serviceData(BluetoothUUID)
        /// Manufacturer data of a broadcast; the bytes begin after the company's number.
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
    /// The key of this device, from keys.json5.
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

/// Settings that a profile gives beside the decoder's name, or a device beside its messages.
public struct DecoderSettings: Hashable, Sendable {
    /// For `wedge`: the layout of the device's keys.
    public var layout: KeyLayout = .us
    /// For `wedge`: a silence after which a line has ended.
    public var pause = TimeSpan.milliseconds(200)
    /// For `hid-power`: the device's report descriptor.
    public var reportDescriptor: [UInt8] = []

    public init() {}
}

/// A decoder's state for one device: counters, fragments, a line that has not ended. Begun by `NamedDecoder.begin`.
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

    /// When a silence ends an unfinished message; call `NamedDecoder.finish` then.
    public var deadline: Instant? {
        if case .keys(let line) = memory { line.deadline } else { nil }
    }
}
