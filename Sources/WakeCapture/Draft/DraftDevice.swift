// A recording's facts of one device: its identity, the parts that sent data, and the names of its handles.
import WakeHCI
import WakeModel
import WakeTrace

struct DraftDevice {
    /// The part of a device that bytes came from. A handle gets its name when all was read: discovery may come late.
    enum Part: Hashable {
        case handle(UInt16)
        case channel(Channel)
    }

    var facts: TraceDevice
    /// In the order of their first bytes.
    private(set) var parts: [Part] = []
    /// How many values each part sent.
    private(set) var sent: [Int] = []
    private var places: [Part: Int] = [:]
    private var latest = 0
    /// UUIDs by value handle, from characteristic declarations.
    private var declared: [UInt16: BluetoothUUID] = [:]
    /// UUIDs by attribute handle, from Find Information, where no declaration was seen.
    private var found: [UInt16: BluetoothUUID] = [:]
    /// Handles that had two different UUIDs: the names of their data may be wrong.
    private(set) var contradicted: Set<UInt16> = []

    /// The latest advertisement, and the one before it: most repeat each other.
    private var heard: [[UInt8]] = []

    /// The longest that a device of Bluetooth has; a line of a trace has no room for every name that a file could hold.
    private static let nameLimit = 248

    init(_ facts: TraceDevice) { self.facts = facts }

    /// The device of the trace.
    var told: TraceDevice {
        var told = facts
        told.name = facts.name.map { String($0.unicodeScalars.prefix(Self.nameLimit)) }
        return told
    }

    /// A device that advertises, and is no device of the trace unless a link to it follows.
    static var bystander: DraftDevice { DraftDevice(TraceDevice(number: 0, kind: .bluetoothCentral, address: "")) }

    /// The number of the part among those of the device, with one more value of it counted.
    mutating func count(_ part: Part) -> Int {
        if latest >= parts.count || parts[latest] != part { latest = place(of: part) }
        sent[latest] += 1
        return latest
    }

    private mutating func place(of part: Part) -> Int {
        if let known = places[part] { return known }
        places[part] = parts.count
        parts.append(part)
        sent.append(0)
        return parts.count - 1
    }

    mutating func declare(_ handle: UInt16, _ uuid: BluetoothUUID) {
        if let old = declared.updateValue(uuid, forKey: handle), old != uuid { contradicted.insert(handle) }
    }

    mutating func find(_ handle: UInt16, _ uuid: BluetoothUUID) { found[handle] = uuid }

    mutating func offer(_ service: BluetoothUUID) {
        if facts.services.count < 256, !facts.services.contains(service) { facts.services.append(service) }
    }

    func uuid(_ handle: UInt16) -> BluetoothUUID? { declared[handle] ?? found[handle] }

    /// Its number among those with one UUID, in the order of handles, as the daemon counts them.
    private func name(_ handle: UInt16) -> CharacteristicName? {
        guard let uuid = uuid(handle) else { return nil }
        let before = declared.count { $0.key < handle && $0.value == uuid }
        return CharacteristicName(uuid, number: UInt8(min(before + 1, CharacteristicName.mostOfOne)))
    }

    func channel(_ part: Part) -> Channel {
        switch part {
        case .handle(let handle): .characteristic(name(handle) ?? CharacteristicName(Self.placeholder(handle)))
        case .channel(let channel): channel
        }
    }

    /// A UUID for a handle that was never named: the handle, then "wakebridge" in ASCII.
    static func placeholder(_ handle: UInt16) -> BluetoothUUID {
        BluetoothUUID(high: UInt64(handle) << 32 | 0x7761_6b65, low: 0x6272_6964_6765_0000)
    }

    /// Sentences on handles whose names are missing or doubtful.
    var namingWarnings: [String] {
        zip(parts, sent).compactMap { part, count -> (UInt16, Int)? in
            if case .handle(let handle) = part { (handle, count) } else { nil }
        }
        .sorted { $0.0 < $1.0 }.compactMap { namingWarning($0, $1) }
    }

    private func namingWarning(_ handle: UInt16, _ count: Int) -> String? {
        let place = "handle 0x\(handle.hexadecimal) of \(facts.address)"
        if uuid(handle) == nil {
            return "\(place), with \(count.counted("notification")), is never named in the capture; "
                + "it stands in the trace as \(Self.placeholder(handle))"
        }
        return contradicted.contains(handle) ? "\(place) is named twice, differently; the later name was used" : nil
    }
}

// Names and services from advertising data: structures of length, type and value.
extension DraftDevice {
    mutating func advertise(_ data: ArraySlice<UInt8>) {
        guard isNew(data) else { return }
        describe(by: data)
    }

    /// All advertisements make a device known, not the first of them alone.
    mutating func broadcast(_ data: ArraySlice<UInt8>) {
        guard isNew(data) || facts.advertisement.isEmpty else { return }
        describe(by: data)
        facts.advertisement = AdvertisementBytes.sum(of: facts.advertisement, and: Array(data))
    }

    private mutating func isNew(_ data: ArraySlice<UInt8>) -> Bool {
        guard !heard.contains(where: { $0.elementsEqual(data) }) else { return false }
        heard = heard.suffix(1) + [Array(data)]
        return true
    }

    private mutating func describe(by data: ArraySlice<UInt8>) {
        var rest = data
        // The last structure may be cut: the beginning of a name is a name too.
        while let length = rest.popFirst(), length > 0, let type = rest.first {
            let value = rest.prefix(Int(length)).dropFirst()
            switch type {
            case 0x02, 0x03: offerEach(value, width: 2)
            case 0x04, 0x05: offerEach(value, width: 4)
            case 0x06, 0x07: offerEach(value, width: 16)
            case 0x08: if facts.name == nil { setName(value) }
            case 0x09: setName(value)
            default: break
            }
            rest = rest.dropFirst(Int(length))
        }
    }

    mutating func setName(_ value: ArraySlice<UInt8>) {
        // Peripherals cut names by bytes, also within a character.
        let text = value.prefix { $0 != 0 }.textPrefix
        if text.isEmpty || facts.name?.utf8.elementsEqual(text) ?? false { return }
        facts.name = String(decoding: text, as: UTF8.self)
    }

    /// Adopts the facts of its advertisements before it had a link.
    mutating func adopt(_ other: DraftDevice) {
        facts.name = facts.name ?? other.facts.name
        for service in other.facts.services { offer(service) }
    }

    private mutating func offerEach(_ value: ArraySlice<UInt8>, width: Int) {
        for first in stride(from: 0, to: value.count, by: width) {
            if let part = value.slice(first, width), let uuid = BluetoothUUID(littleEndian: part) { offer(uuid) }
        }
    }
}
