// A record of a pcap or pcapng file, and the link types that such files give for their records.

struct CaptureFrame {
    var link: LinkType
    /// Nanoseconds since 1970; nil where the record has no time.
    var time: Int64?
    /// The direction, if the file gives it beside the record.
    var isReceived: Bool?
    /// The order in which the machine that captured wrote numbers.
    var order: ByteOrder
    /// Which of the file's interfaces: each is followed apart from the others.
    var interface: UInt16
    /// Whether the recorder kept only its first bytes.
    var isSnipped: Bool
    var offset: Int
    var bytes: ArraySlice<UInt8>
}

/// Link-layer types, as tcpdump.org numbers them.
enum LinkType: Hashable {
    /// HCI with a byte for its kind; with four bytes for the direction before it.
    case h4, directedH4
    /// The Linux monitor's: adapter and opcode before each packet.
    case monitor
    /// Packets of the air: plain, behind ten bytes on their reception, or as the nRF Sniffer has them.
    case air, heardAir, nordic
    /// The same of its earlier versions, under a number that is free for everybody.
    case earlyNordic
    /// Behind a header that names another link type.
    case perPacket
    /// Linux' usbmon, with 48 or 64 bytes before the data; USBPcap.
    case usb, usbMapped, usbPcap
    case unknown(UInt32)

    init(_ number: UInt32) {
        switch number {
        case 187: self = .h4
        case 201: self = .directedH4
        case 254: self = .monitor
        case 251: self = .air
        case 256: self = .heardAir
        case 272: self = .nordic
        case 157: self = .earlyNordic
        case 192: self = .perPacket
        case 189: self = .usb
        case 220: self = .usbMapped
        case 249: self = .usbPcap
        default: self = .unknown(number)
        }
    }

    var isKnown: Bool { if case .unknown = self { false } else { true } }
    var isUSB: Bool { self == .usb || self == .usbMapped || self == .usbPcap }

    static let known =
        "known are 187, 201, 254 (HCI), 251, 256, 272, 157, 192 (Bluetooth LE over the air), 189, 220 and 249 (USB)"

    var words: String {
        switch self {
        case .h4, .directedH4: "Bluetooth HCI"
        case .monitor: "the Linux Bluetooth monitor"
        case .air, .heardAir, .nordic, .earlyNordic: "Bluetooth LE over the air"
        case .perPacket: "packets with a header each"
        case .usb, .usbMapped, .usbPcap: "USB"
        case .unknown(let number): "link type \(number)"
        }
    }
}
