// Devices as umockdev and udevadm describe them: a block for each, from the node up to the bus it hangs on.
import WakeHCI
import WakeModel
import WakeTrace

/// It has no event; a script's later events on a node are known by its device.
struct DescribedNodes: LineFollower {
    private struct Block {
        var path: String
        var node: String?
        var facts: [String: String] = [:]
        var descriptor: ReportCutter?
    }

    private static let blockLimit = 4_096
    private static let factLimit = 512

    private var blocks: [Block] = []

    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { false }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        if let path = line.after("P: ") { return try begin(path.text, at: offset) }
        if let rest = line.trimmed.after("looking at device '") ?? line.trimmed.after("looking at parent device '") {
            return try begin(rest.prefix { $0 != UInt8(ascii: "'") }.text, at: offset)
        }
        guard !blocks.isEmpty else { return }
        if let node = line.after("N: ") {
            blocks[blocks.count - 1].node = "/dev/" + node.prefix { $0 != UInt8(ascii: "=") }.text
        } else if let fact = line.after("E: ") ?? line.after("A: ") {
            set(fact)
        } else if let bytes = line.after("H: report_descriptor=") {
            blocks[blocks.count - 1].descriptor = [UInt8](hexadecimal: bytes).flatMap { ReportCutter($0[...]) }
        } else if let attribute = line.trimmed.after("ATTR") {
            setAttribute(attribute.after("S") ?? attribute)
        }
    }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) {
        let nodes = blocks.indices.filter { blocks[$0].node.map(Self.isRead) ?? false }
        let told = nodes.isEmpty ? whole : nodes
        for index in told {
            guard let place = addDevice(at: index, to: &draft) else { continue }
            for name in [blocks[index].node].compactMap({ $0 }) + busNames(of: index, among: told)
            where draft.nodes[name] == nil { draft.nodes[name] = place }
        }
    }

    /// How a USB capture finds it: by its USB device and interface; where it is the only one of that device, by the device alone.
    private func busNames(of index: Int, among others: [Int]) -> [String] {
        guard let node = busNode(of: index) else { return [] }
        guard let interface = Self.interface(in: blocks[index].path) else { return [node] }
        let isAlone = others.count { busNode(of: $0) == node } == 1
        return (isAlone ? [interface, nil] : [interface]).map { USBPacket.Address.name(of: $0, at: node) }
    }

    /// The node of the USB device that it belongs to, or is.
    private func busNode(of index: Int) -> String? {
        family(of: index).lazy.compactMap(\.node).first(where: USBPacket.Address.isNode)
    }

    /// `…/1-4:1.0/…` is interface 0.
    private static func interface(in path: String) -> UInt8? {
        let parts = path.split(separator: "/").map { $0.split(separator: ":", omittingEmptySubsequences: false) }
        let own = parts.last { $0.count == 2 && $0[0].contains("-") }
        return own?[1].split(separator: ".").last.flatMap { UInt8($0) }
    }

    /// The block itself, and those it hangs on, from the nearest on.
    private func family(of index: Int) -> [Block] {
        let path = blocks[index].path
        return blocks.filter { path == $0.path || path.hasPrefix($0.path + "/") }.sorted {
            $0.path.count > $1.path.count
        }
    }

    private mutating func begin(_ path: String, at offset: Int) throws(ImportError) {
        guard blocks.count < Self.blockLimit else {
            var error = ImportError(offset: offset, reason: "there are over \(Self.blockLimit) devices in it")
            error.endsImport = true
            throw error
        }
        blocks.append(Block(path: path))
    }

    /// `ID_VENDOR_ID=04f3`.
    private mutating func set(_ fact: ArraySlice<UInt8>) {
        guard let equals = fact.firstIndex(of: UInt8(ascii: "=")), blocks[blocks.count - 1].facts.count < Self.factLimit
        else { return }
        blocks[blocks.count - 1].facts[fact[..<equals].text] = fact[(equals + 1)...].text
    }

    /// `{idVendor}=="28bd"`, as udevadm prints it.
    private mutating func setAttribute(_ text: ArraySlice<UInt8>) {
        let parts = text.text.split { "{}=\"".contains($0) }
        guard parts.count == 2, blocks[blocks.count - 1].facts.count < Self.factLimit else { return }
        blocks[blocks.count - 1].facts[String(parts[0])] = String(parts[1])
    }

    /// Nodes that a source of the bridge could read.
    private static func isRead(_ node: String) -> Bool {
        ["/dev/hidraw", "/dev/input/event", "/dev/tty"].contains { node.hasPrefix($0) }
    }

    /// Where no node is one, the devices of the bus themselves; where there is none either, the first block.
    private var whole: [Int] {
        let devices = blocks.indices.filter {
            blocks[$0].facts["DEVTYPE"] == "usb_device" && blocks[$0].facts["ID_VENDOR_ID"] != "1d6b"
        }
        return devices.isEmpty ? Array(blocks.indices.prefix(1)) : devices
    }

    private func addDevice(at index: Int, to draft: inout TraceDraft) -> Int? {
        let family = family(of: index)
        func fact(_ keys: [String]) -> String? {
            family.lazy.compactMap { block in keys.lazy.compactMap { block.facts[$0] }.first }.first
        }
        let hid = fact(["HID_ID"])?.split(separator: ":").map(String.init) ?? []
        let vendor = fact(["ID_VENDOR_ID", "idVendor", "id/vendor"]) ?? (hid.count == 3 ? hid[1] : nil)
        let product = fact(["ID_MODEL_ID", "idProduct", "id/product"]) ?? (hid.count == 3 ? hid[2] : nil)
        let node = blocks[index].node
        let identity = AccessoryName(
            vendor: vendor.flatMap { UInt32(Self.plain($0), radix: 16) }.map { UInt16(truncatingIfNeeded: $0) },
            product: product.flatMap { UInt32(Self.plain($0), radix: 16) }.map { UInt16(truncatingIfNeeded: $0) } ?? 0,
            serial: Self.serial(family, of: vendor), port: node.map { String($0.dropFirst(5)) } ?? "usb")
        let name = fact(["HID_NAME", "NAME", "ID_MODEL", "name", "product"]).map { $0.filter { $0 != "\"" } }
        return draft.device(.externalAccessory, identity.text) { facts in
            facts.name = name.map(Self.plain)
            facts.properties = identity.properties
            let inputs = ["JOYSTICK", "KEYBOARD", "MOUSE", "TABLET"].map { "ID_INPUT_\($0)" }
            facts.add((inputs + ["WAKEBRIDGE_DEVICE"]).compactMap { key in fact([key]).map { (key, $0) } })
            facts.reportDescriptor = family.lazy.compactMap(\.descriptor).first?.bytes ?? []
        }
    }

    /// The serial number of the device itself: its parents have serial numbers too.
    private static func serial(_ family: [Block], of vendor: String?) -> String? {
        let own = family.first { $0.facts["ID_SERIAL_SHORT"] != nil }
        return own?.facts["ID_VENDOR_ID"] == vendor ? own?.facts["ID_SERIAL_SHORT"] : nil
    }

    /// umockdev writes a newline at the end of an attribute as `\n`.
    private static func plain(_ text: String) -> String {
        text.hasSuffix("\\n") ? String(text.dropLast(2)) : text
    }
}
