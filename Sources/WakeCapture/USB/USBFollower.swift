// Follows USB devices by their descriptors: their data becomes HID reports, serial messages, or plain reports.
import WakeHCI
import WakeModel
import WakeTrace

struct USBFollower {
    private struct Interface {
        var number: UInt8
        var kind: UInt8
        var endpoints: [UInt8] = []
        var descriptor: ReportCutter?
        /// Its place in the trace, once it has sent something.
        var place: Int?
    }

    private struct Device {
        var vendor: UInt16?
        var product: UInt16 = 0
        var packetSize = 64
        var serialIndex: UInt8 = 0
        var serial: String?
        var name: String?
        var nameIndex: UInt8 = 0
        var interfaces: [Interface] = []
        /// The request on endpoint 0 whose answer comes next.
        var question: USBPacket.Setup?
    }

    private enum Kind {
        static let hid: UInt8 = 3
        /// Hubs report their ports, and modems their lines: none of that is data of a device.
        static let silent: Set<UInt8> = [2, 9]
        static let ftdi: UInt16 = 0x0403
    }

    private var devices: [USBPacket.Address: Device] = [:]

    init() {}

    mutating func read(_ packet: USBPacket?, _ draft: inout TraceDraft, at offset: Int) {
        guard let packet else { return draft.warn("a USB record is shorter than its header", at: offset) }
        var device = devices[packet.address] ?? Device()
        devices[packet.address] = nil
        switch packet.transfer {
        case .control: readControl(packet, &device)
        case .interrupt, .bulk:
            if packet.isCompletion, packet.isIn, !packet.data.isEmpty {
                if packet.isSnipped {
                    draft.warn("the data of the transfer is not whole in the capture; it is left out", at: offset)
                } else {
                    readData(packet, &device, &draft)
                }
            }
        case .isochronous: break
        }
        devices[packet.address] = device
    }

    /// HID by its class; otherwise interrupts are reports, and bulk is a line of bytes.
    private func readData(_ packet: USBPacket, _ device: inout Device, _ draft: inout TraceDraft) {
        let index = interface(of: packet, &device)
        guard !packet.address.isRootHub, !Kind.silent.contains(device.interfaces[index].kind) else { return }
        guard let place = place(index, packet, &device, &draft) else { return }
        guard device.interfaces[index].kind != Kind.hid, packet.transfer == .bulk else {
            let number = device.interfaces[index].descriptor?.channelNumber(of: packet.data) ?? 0
            draft.counts.messages += 1
            return draft.add(packet.data, of: .channel(.report(number)), from: place)
        }
        let isFTDI = device.vendor == Kind.ftdi
        let bytes = isFTDI ? withoutStatus(packet.data, device.packetSize) : Array(packet.data)
        draft.addSerial(bytes, from: place)
    }

    /// FTDI puts two bytes of status before each packet of a transfer.
    private func withoutStatus(_ data: ArraySlice<UInt8>, _ size: Int) -> [UInt8] {
        stride(from: 0, to: data.count, by: max(size, 8)).flatMap { start in
            data.dropFirst(start).prefix(max(size, 8)).dropFirst(2)
        }
    }

    /// The interface that has the endpoint; one of no known class where the capture began after the descriptors.
    private func interface(of packet: USBPacket, _ device: inout Device) -> Int {
        if let known = device.interfaces.firstIndex(where: { $0.endpoints.contains(packet.endpoint) }) { return known }
        let number = device.interfaces.map(\.number).max().map { $0 &+ 1 } ?? 0
        device.interfaces.append(Interface(number: number, kind: 0, endpoints: [packet.endpoint]))
        return device.interfaces.count - 1
    }

    private func place(
        _ index: Int, _ packet: USBPacket, _ device: inout Device, _ draft: inout TraceDraft
    ) -> Int? {
        if let place = device.interfaces[index].place { return place }
        let interface = device.interfaces[index]
        if let described = described(interface, at: packet.address.node, device, draft) {
            draft.connect(described)
            device.interfaces[index].place = described
            return described
        }
        let identity = AccessoryName(
            vendor: device.vendor, product: device.product, serial: device.serial,
            port: "usb-\(packet.address.bus)-\(packet.address.device)", interface: interface.number)
        let place = draft.device(.externalAccessory, identity.text) { facts in
            facts.name = device.name
            facts.properties = identity.properties
            facts.reportDescriptor = interface.descriptor?.bytes ?? []
        }
        device.interfaces[index].place = place
        if let place { draft.connect(place) }
        return place
    }
}

// Descriptions of another file.
extension USBFollower {
    /// The device that a description names for the interface, or for all of the device: then for the interface that
    /// sends first.
    private func described(_ interface: Interface, at node: String, _ device: Device, _ draft: TraceDraft) -> Int? {
        let number = interface.kind == 0 ? nil : interface.number
        if let own = draft.nodes[USBPacket.Address.name(of: number, at: node)] { return own }
        return draft.nodes[node].flatMap { whole in
            device.interfaces.contains { $0.place == whole } ? nil : whole
        }
    }
}

// Descriptors, as the host requests them.
extension USBFollower {
    private func readControl(_ packet: USBPacket, _ device: inout Device) {
        if let setup = packet.setup {
            device.question = setup
            return
        }
        guard let question = device.question, !packet.data.isEmpty else { return }
        device.question = nil
        guard question.request == 6, question.type & 0x80 != 0 else { return }
        switch question.value >> 8 {
        case 1: readDevice(packet.data, &device)
        case 2: readConfiguration(packet.data, &device)
        case 3: readText(packet.data, UInt8(truncatingIfNeeded: question.value), &device)
        case 0x22: readReport(packet.data, question.index, &device)
        default: break
        }
    }

    private func readDevice(_ data: ArraySlice<UInt8>, _ device: inout Device) {
        guard let vendor = data.word(8), let product = data.word(10) else { return }
        (device.vendor, device.product) = (vendor, product)
        (device.nameIndex, device.serialIndex) = (data.byte(15) ?? 0, data.byte(16) ?? 0)
    }

    /// Descriptors one after the other: 4 is an interface, 5 an endpoint of it.
    private func readConfiguration(_ data: ArraySlice<UInt8>, _ device: inout Device) {
        var (rest, found) = (data, [Interface]())
        while let length = rest.byte(0), length >= 2, let part = rest.slice(0, Int(length)) {
            if part.byte(1) == 4, let number = part.byte(2), let kind = part.byte(5), found.count < 64 {
                found.append(Interface(number: number, kind: kind))
            } else if part.byte(1) == 5, let endpoint = part.byte(2), !found.isEmpty {
                found[found.count - 1].endpoints.append(endpoint)
                if endpoint & 0x80 != 0, let size = part.word(4) { device.packetSize = Int(size & 0x7ff) }
            }
            rest = rest.dropFirst(Int(length))
        }
        guard !found.isEmpty, found.contains(where: { !$0.endpoints.isEmpty }) else { return }
        for index in found.indices {
            guard let old = device.interfaces.first(where: { $0.number == found[index].number }) else { continue }
            (found[index].descriptor, found[index].place) = (old.descriptor, old.place)
        }
        device.interfaces = found
    }

    private func readText(_ data: ArraySlice<UInt8>, _ index: UInt8, _ device: inout Device) {
        guard index > 0, data.count >= 4, data.byte(1) == 3 else { return }
        let units = stride(from: 2, to: data.count - 1, by: 2).compactMap { data.word($0) }
        let text = String(decoding: units, as: UTF16.self)
        if index == device.serialIndex { device.serial = text }
        if index == device.nameIndex { device.name = text }
    }

    private func readReport(_ data: ArraySlice<UInt8>, _ interface: UInt16, _ device: inout Device) {
        guard let descriptor = ReportCutter(data) else { return }
        let number = UInt8(truncatingIfNeeded: interface)
        if let index = device.interfaces.firstIndex(where: { $0.number == number }) {
            device.interfaces[index].descriptor = descriptor
        } else {
            device.interfaces.append(Interface(number: number, kind: Kind.hid, descriptor: descriptor))
        }
    }
}
