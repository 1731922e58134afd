// One LE link in a capture: reassembles fragments, and remembers which request an answer belongs to.
import WakeHCI
import WakeModel
import WakeTrace

struct ImportedLink {
    /// The latest question to the peer, which gives its answer a meaning.
    enum Question {
        case none, services, characteristics, name
        case service(BluetoothUUID)
    }

    var peer: Int
    var question = Question.none
    private var sent = Reassembly()
    private var received = Reassembly()

    init(peer: Int) { self.peer = peer }

    /// Adds an ACL packet's data; returns the whole L2CAP frame, with its header, after its last fragment.
    mutating func add(_ data: ArraySlice<UInt8>, boundary: UInt16, isReceived: Bool) throws(Reassembly.Fault)
        -> [UInt8]?
    {
        isReceived ? try received.add(data, boundary: boundary) : try sent.add(data, boundary: boundary)
    }
}

/// One direction of one link.
struct Reassembly {
    enum Fault: Error { case noStart, interrupted, tooLong }

    private var bytes: [UInt8] = []

    /// `boundary` is the packet boundary flag: 1 continues, anything else starts a frame.
    mutating func add(_ data: ArraySlice<UInt8>, boundary: UInt16) throws(Fault) -> [UInt8]? {
        let wasOpen = !bytes.isEmpty
        if boundary == 1 {
            guard wasOpen else { throw .noStart }
            bytes += data
        } else {
            bytes = Array(data)
        }
        let frame = try whole()
        if boundary != 1, wasOpen, frame == nil { throw .interrupted }
        return frame
    }

    private mutating func whole() throws(Fault) -> [UInt8]? {
        guard let length = bytes[...].word(0) else { return nil }
        guard bytes.count >= Int(length) + 4 else { return nil }
        let frame = bytes
        bytes = []
        guard frame.count == Int(length) + 4 else { throw .tooLong }
        return frame
    }
}

/// What a capture holds about one peer: its address, names and services, and which handle is which characteristic.
struct ImportedPeer {
    var address: String
    var name: String?
    var services: [BluetoothUUID] = []
    /// UUIDs by value handle, from characteristic declarations.
    private var declared: [UInt16: BluetoothUUID] = [:]
    /// UUIDs by attribute handle, from Find Information, where no declaration was seen.
    private var found: [UInt16: BluetoothUUID] = [:]
    /// Handles that had two different UUIDs: the names of their data may be wrong.
    private(set) var contradicted: Set<UInt16> = []

    init(address: String) { self.address = address }

    mutating func declare(_ handle: UInt16, _ uuid: BluetoothUUID) {
        if let old = declared.updateValue(uuid, forKey: handle), old != uuid { contradicted.insert(handle) }
    }

    mutating func find(_ handle: UInt16, _ uuid: BluetoothUUID) { found[handle] = uuid }

    mutating func offer(_ service: BluetoothUUID) {
        if !services.contains(service) { services.append(service) }
    }

    func uuid(_ handle: UInt16) -> BluetoothUUID? { declared[handle] ?? found[handle] }

    /// A UUID for a handle that was never named: the handle, then "wakebridge" in ASCII.
    static func placeholder(_ handle: UInt16) -> BluetoothUUID {
        BluetoothUUID(high: UInt64(handle) << 32 | 0x7761_6b65, low: 0x6272_6964_6765_0000)
    }

    /// Reads names and services from advertising data: structures of length, type and value.
    mutating func advertise(_ data: ArraySlice<UInt8>) {
        var rest = data
        while let length = rest.popFirst(), length > 0, let part = rest.slice(0, Int(length)), let type = part.first {
            let value = part.dropFirst()
            switch type {
            case 0x02, 0x03: offerEach(value, width: 2)
            case 0x04, 0x05: offerEach(value, width: 4)
            case 0x06, 0x07: offerEach(value, width: 16)
            case 0x08: if name == nil { setName(value) }
            case 0x09: setName(value)
            default: break
            }
            rest = rest.dropFirst(Int(length))
        }
    }

    mutating func setName(_ value: ArraySlice<UInt8>) {
        let text = value.prefix { $0 != 0 }
        let name = String(decoding: text, as: UTF8.self)
        if !name.isEmpty, name.utf8.elementsEqual(text) { self.name = name }
    }

    private mutating func offerEach(_ value: ArraySlice<UInt8>, width: Int) {
        for first in stride(from: 0, to: value.count, by: width) {
            if let part = value.slice(first, width), let uuid = BluetoothUUID(littleEndian: part) { offer(uuid) }
        }
    }
}
