// Reads bluetoothctl's output: links that come and go, and values with their bytes on the lines after them.
import WakeHCI
import WakeModel

struct BluetoothctlFollower: LineFollower {
    private struct Attribute: Hashable {
        var address: RadioAddress
        var handle: UInt16
    }

    private static let lineBytes = 16

    private let pace: ImportPace
    /// The value whose bytes come next; nil for one that is passed over.
    private var open: (attribute: Attribute, bytes: [UInt8])?
    /// A read's value is printed like a notification, and then once more.
    private var asked: Attribute?
    /// The attribute whose UUID comes next.
    private var named: Attribute?
    private var up: Set<RadioAddress> = []

    init(_ terms: ImportTerms) { pace = terms.pace }

    /// The last output is a prompt that waits.
    static func isWhole(_ line: ArraySlice<UInt8>) -> Bool { line.isPrompt }

    mutating func read(_ line: ArraySlice<UInt8>, at offset: Int, into draft: inout TraceDraft) throws(ImportError) {
        let line = line.withoutStyle
        if let bytes = Self.bytes(line) { return gather(bytes, &draft) }
        close(&draft)
        if let text = line.place(of: "Attempting to read ") { asked = Self.attribute(line[text...]) }
        if let mark = line.place(of: "[CHG] Device ") { return change(line[(mark + 13)...], &draft) }
        if line.contains("[CHG] Attribute"), line.contains(" Value:"), let attribute = Self.attribute(line) {
            if attribute != asked { open = (attribute, []) }
            asked = nil
        } else if let attribute = Self.attribute(line), line.contains("/char"), !line.contains("/desc") {
            named = attribute
        } else if let attribute = named, let uuid = BluetoothUUID(line.trimmed.text) {
            name(attribute, uuid, &draft)
        }
    }

    mutating func finish(into draft: inout TraceDraft) throws(ImportError) { close(&draft) }

    /// Up to 16 bytes, then the same as text behind at least two spaces.
    private static func bytes(_ line: ArraySlice<UInt8>) -> [UInt8]? {
        guard line.hasPrefix("  ") else { return nil }
        var bytes: [UInt8] = []
        var rest = line.dropFirst(2)
        while bytes.count < lineBytes, rest.count >= 2, let byte = [UInt8](hexadecimal: rest.prefix(2)) {
            bytes += byte
            rest = rest.dropFirst(2)
            guard rest.first == 0x20 else { break }
            rest = rest.dropFirst()
        }
        return bytes.isEmpty || rest.first.map({ $0 != 0x20 }) == true && bytes.count < lineBytes ? nil : bytes
    }

    /// A line with fewer bytes than fit is the last one.
    private mutating func gather(_ bytes: [UInt8], _ draft: inout TraceDraft) {
        guard open != nil else { return }
        open?.bytes += bytes
        if bytes.count < Self.lineBytes || (open?.bytes.count ?? 0) > 512 { close(&draft) }
    }

    private mutating func close(_ draft: inout TraceDraft) {
        guard let (attribute, bytes) = open else { return }
        open = nil
        guard !bytes.isEmpty else { return }
        draft.advance(by: pace.step)
        draft.counts.records += 1
        draft.counts.notifications += 1
        guard let place = connect(attribute.address, &draft) else { return }
        draft.add(bytes[...], of: .handle(attribute.handle), from: place)
    }

    private mutating func connect(_ address: RadioAddress, _ draft: inout TraceDraft) -> Int? {
        let place = draft.peripheral(address)
        guard up.insert(address).inserted else { return place }
        draft.counts.links += 1
        if let place { draft.connect(place) }
        return place
    }

    /// `C0:F1:F2:F3:F4:01 Connected: yes`.
    private mutating func change(_ text: ArraySlice<UInt8>, _ draft: inout TraceDraft) {
        guard let address = RadioAddress(text.prefix(17).text) else { return }
        if text.contains("Connected: yes") {
            draft.advance(by: pace.step)
            _ = connect(address, &draft)
        } else if text.contains("Connected: no"), up.remove(address) != nil, let place = draft.peripheral(address) {
            draft.advance(by: pace.step)
            draft.disconnect(place, "unspecified")
        } else if let mark = text.place(of: "Name: "), let place = draft.peripheral(seen: address) {
            draft.update(place) { $0.setName(text[(mark + 6)...]) }
        }
    }

    private func name(_ attribute: Attribute, _ uuid: BluetoothUUID, _ draft: inout TraceDraft) {
        if let place = draft.peripheral(attribute.address) {
            draft.update(place) { $0.declare(attribute.handle, uuid) }
        }
    }

    /// `/org/bluez/hci0/dev_C0_F1_F2_F3_F4_01/service0028/char002c`: the value's handle is the next one.
    private static func attribute(_ line: ArraySlice<UInt8>) -> Attribute? {
        guard let device = line.place(of: "/dev_"), let characteristic = line.place(of: "/char"),
            let address = RadioAddress(
                line[(device + 5)...].prefix(17).text.split(separator: "_").joined(separator: ":")),
            let handle = UInt64(hexadecimal: line[(characteristic + 5)...].prefix(4)), handle < 0xffff
        else { return nil }
        return Attribute(address: address, handle: UInt16(handle) + 1)
    }
}
