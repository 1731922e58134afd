// A packet between a host and its Bluetooth controller, whatever file it came from.
import WakeHCI

struct HCIPacket {
    enum Kind {
        case command, event, data
        /// The controller was switched off or removed: its links ended without an event.
        case end
        case other
    }

    var kind: Kind
    /// From the controller, which for data means from the peer; nil if the file does not contain it.
    var isReceived: Bool?
    var adapter: UInt16
    var offset: Int
    var bytes: ArraySlice<UInt8>

    init(_ kind: Kind, isReceived: Bool?, adapter: UInt16 = 0, at offset: Int, _ bytes: ArraySlice<UInt8>) {
        self.kind = kind
        self.isReceived = isReceived
        self.adapter = adapter
        self.offset = offset
        self.bytes = bytes
    }

    /// A packet whose first byte is its kind.
    @inline(__always)
    init(h4 bytes: ArraySlice<UInt8>, isReceived: Bool?, at offset: Int) {
        self.init(Self.kind(h4: bytes.first), isReceived: isReceived, at: offset, bytes.dropFirst())
    }

    private static func kind(h4 type: UInt8?) -> Kind {
        switch type {
        case 1: .command
        case 2: .data
        case 4: .event
        default: .other
        }
    }

    /// A packet of the Linux monitor, whose opcode gives kind and direction: 1 is Delete Index, 9 is Close Index.
    init(monitor opcode: UInt16, adapter: UInt16, at offset: Int, _ bytes: ArraySlice<UInt8>) {
        let kind: Kind
        switch opcode {
        case 2: kind = .command
        case 3: kind = .event
        case 4, 5: kind = .data
        case 1, 9: kind = .end
        default: kind = .other
        }
        self.init(kind, isReceived: opcode == 3 || opcode == 5, adapter: adapter, at: offset, bytes)
    }
}
