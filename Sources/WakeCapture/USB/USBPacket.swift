// A USB transfer as usbmon and USBPcap record it: the request, or its result.
import WakeHCI

struct USBPacket {
    enum Transfer: UInt8 {
        case isochronous, interrupt, control, bulk
    }

    struct Address: Hashable {
        var bus: UInt16
        var device: UInt16
        /// Whether it is Linux' own hub of that bus.
        var isRootHub = false

        private static let nodes = "/dev/bus/usb/"

        /// Linux' name for it, by which a description of devices knows it.
        var node: String { Self.nodes + Self.written(bus) + "/" + Self.written(device) }

        /// The name of an interface in a description; nil for one of a device whose descriptors were not recorded.
        static func name(of interface: UInt8?, at node: String) -> String {
            node + ":" + (interface.map(String.init) ?? "*")
        }

        static func isNode(_ node: String) -> Bool { node.hasPrefix(nodes) }

        private static func written(_ number: UInt16) -> String { String(String(1000 + Int(number)).suffix(3)) }
    }

    /// A control request.
    struct Setup {
        var type: UInt8
        var request: UInt8
        var value: UInt16
        var index: UInt16

        init?(_ bytes: ArraySlice<UInt8>) {
            guard bytes.count >= 8, let value = bytes.word(2), let index = bytes.word(4), let type = bytes.byte(0),
                let request = bytes.byte(1)
            else { return nil }
            (self.type, self.request, self.value, self.index) = (type, request, value, index)
        }
    }

    var address: Address
    /// With its highest bit set for data from the device.
    var endpoint: UInt8
    var transfer: Transfer
    /// Whether it has the result of a request.
    var isCompletion: Bool
    var setup: Setup?
    /// Empty where none came, or it failed.
    var data: ArraySlice<UInt8>
    /// Whether some of the data is not in the capture.
    var isSnipped: Bool

    var isIn: Bool { endpoint & 0x80 != 0 }

    /// A packet of the Linux kernel: 48 bytes in the machine's order, then a setup of 8 of them. The longer form has 16
    /// more, and a description of each isochronous frame before the data. Nil if it is shorter.
    init?(linux bytes: ArraySlice<UInt8>, header: Int, _ order: ByteOrder) {
        guard bytes.count >= header, let type = bytes.byte(8), let kind = bytes.byte(9).flatMap(Transfer.init),
            let endpoint = bytes.byte(10), let device = bytes.byte(11), let bus = bytes.number(12, 2, order),
            let status = bytes.number(28, 4, order), let length = bytes.number(32, 4, order),
            let captured = bytes.number(36, 4, order)
        else { return nil }
        address = Address(bus: UInt16(bus), device: UInt16(device), isRootHub: device == 1)
        (self.endpoint, transfer, isCompletion) = (endpoint, kind, type == UInt8(ascii: "C"))
        setup = bytes.byte(14) == 0 ? Setup(bytes.dropFirst(40).prefix(8)) : nil
        let isThere = bytes.byte(15) == 0 && (type != UInt8(ascii: "C") || status == 0)
        let frames = header == 64 && kind == .isochronous ? Int(bytes.number(60, 4, order) ?? 0) : 0
        let start = frames <= 128 ? header + frames * 16 : bytes.count
        data = isThere ? bytes.dropFirst(start).prefix(Int(captured)) : []
        isSnipped = isThere && length > captured && type == UInt8(ascii: "C")
    }

    /// A packet of USBPcap: little-endian, with its own length first, and a stage after it for control transfers.
    init?(usbPcap bytes: ArraySlice<UInt8>) {
        guard let header = bytes.word(0), header >= 27, let status = bytes.number(10, 4, .little),
            let info = bytes.byte(16), let bus = bytes.word(17), let device = bytes.word(19),
            let endpoint = bytes.byte(21), let kind = bytes.byte(22).flatMap(Transfer.init),
            let length = bytes.number(23, 4, .little), bytes.count >= Int(header)
        else { return nil }
        address = Address(bus: bus, device: device)
        (self.endpoint, transfer, isCompletion) = (endpoint, kind, info & 1 == 1)
        let body = bytes.dropFirst(Int(header))
        let isSetup = kind == .control && bytes.byte(27) == 0
        setup = isSetup ? Setup(body) : nil
        data = isSetup ? body.dropFirst(8) : status == 0 ? body.prefix(Int(length)) : []
        isSnipped = length > body.count
    }
}
