// Makes of an input what bluetoothd could send, true and false: objects, signals, and values of every type.
import WakeLoop
import WakeSources

struct BusFeed {
    enum Turn {
        case beginning
        case snapshot(BusValue)
        case signal(BusSignal)
    }

    private static let depthLimit = 5

    private static let words = [
        "/org/bluez", "/org/bluez/hci0", "/org/bluez/hci0/dev_C0_F1_F2_F3_F4_01",
        "/org/bluez/hci0/dev_C0_F1_F2_F3_F4_01/service000a",
        "/org/bluez/hci0/dev_C0_F1_F2_F3_F4_01/service000a/char000b",
        "/org/bluez/hci0/dev_C0_F1_F2_F3_F4_01/service000a/char000b/desc000d", "/", "",
        BluezInterface.adapter, BluezInterface.monitors, BluezInterface.peripheral, BluezInterface.battery,
        BluezInterface.gattService, BluezInterface.characteristic, BluezInterface.descriptor,
        "PropertiesChanged", "InterfacesAdded", "InterfacesRemoved", "Address", "AddressType", "Name", "Alias", "UUIDs",
        "UUID", "Paired", "Bonded", "Trusted", "Blocked", "Connected", "ServicesResolved", "RSSI", "ManufacturerData",
        "ServiceData", "Percentage", "Powered", "PowerState", "Discovering", "Value", "Notifying", "Flags", "Service",
        "Characteristic", "MTU", "C0:F1:F2:F3:F4:01", "random", "00002a37-0000-1000-8000-00805f9b34fb",
        "00002902-0000-1000-8000-00805f9b34fb", "notify", "off-blocked",
    ]

    private var feed: ByteFeed

    init(_ bytes: [UInt8]) { feed = ByteFeed(bytes) }

    var isEmpty: Bool { feed.isEmpty }

    mutating func turn() -> Turn {
        switch feed.byte() % 8 {
        case 0: .beginning
        case 1: .snapshot(value(0))
        case 2: .snapshot(objects())
        case 3: .signal(signal([.objectPath(word()), properties("s", 0)]))
        default: .signal(signal([.string(word()), properties("s", 0), .array(of: "s", values(0))]))
        }
    }

    private mutating func signal(_ arguments: [BusValue]) -> BusSignal {
        let (path, member) = (word(), word())
        return BusSignal(sender: ":1.6", path: path, interface: "", member: member, arguments: arguments)
    }

    private mutating func word() -> String {
        let number = Int(feed.byte())
        return number < Self.words.count ? Self.words[number] : String(decoding: feed.piece(), as: UTF8.self)
    }

    private mutating func objects() -> BusValue {
        let count = feed.byte() % 4
        let entries = (0..<count).map { _ in BusEntry(.objectPath(word()), interfaces()) }
        return .dictionary(key: "o", value: "a{sa{sv}}", entries)
    }

    private mutating func interfaces() -> BusValue {
        let count = feed.byte() % 4
        let entries = (0..<count).map { _ in BusEntry(.string(word()), properties("s", 1)) }
        return .dictionary(key: "s", value: "a{sv}", entries)
    }

    private mutating func properties(_ key: String, _ depth: Int) -> BusValue {
        let count = feed.byte() % 6
        let entries = (0..<count).map { _ in BusEntry(.string(word()), .variant(value(depth + 1))) }
        return .dictionary(key: key, value: "v", entries)
    }

    private mutating func values(_ depth: Int) -> [BusValue] {
        let count = feed.byte() % 4
        return (0..<count).map { _ in value(depth + 1) }
    }

    private mutating func value(_ depth: Int) -> BusValue {
        guard depth < Self.depthLimit else { return .byte(feed.byte()) }
        return switch feed.byte() % 16 {
        case 0: .boolean(feed.byte() & 1 == 1)
        case 1: .byte(feed.byte())
        case 2: .int16(Int16(truncatingIfNeeded: feed.number(bytes: 2)))
        case 3: .uint16(UInt16(truncatingIfNeeded: feed.number(bytes: 2)))
        case 4: .int32(Int32(truncatingIfNeeded: feed.number(bytes: 4)))
        case 5: .uint32(UInt32(truncatingIfNeeded: feed.number(bytes: 4)))
        case 6: .int64(Int64(bitPattern: feed.number(bytes: 8)))
        case 7: .uint64(feed.number(bytes: 8))
        case 8: .double(Double(bitPattern: feed.number(bytes: 8)))
        case 9: .string(word())
        case 10: .objectPath(word())
        case 11: .bytes(feed.piece())
        case 12: .array(of: "s", values(depth))
        case 13: properties("q", depth)
        case 14: .structure(values(depth))
        default: .variant(value(depth + 1))
        }
    }
}
