// The mirror of org.bluez against what a real bluetoothd was seen to say, and against what none should say.
import Testing
import WakeModel

@testable import WakeLoop
@testable import WakeSources

private let adapter = "/org/bluez/hci0"
private let strap = adapter + "/dev_C0_DE_00_00_00_10"
private let measurement = strap + "/service000e/char000f"
private let heartRate = "0000180d-0000-1000-8000-00805f9b34fb"

private typealias Properties = [(String, BusValue)]

private func interfaces(_ entries: [(String, Properties)]) -> BusValue {
    .dictionary(key: "s", value: "a{sv}", entries.map { BusEntry(.string($0.0), .properties($0.1)) })
}

/// A mirror, and the messages that it is told in.
private struct Told {
    var mirror = BluezMirror()

    mutating func signal(_ path: String, _ member: String, _ arguments: [BusValue]) -> [BluezChange] {
        mirror.apply(BusSignal(sender: ":1.6", path: path, interface: "", member: member, arguments: arguments))
    }
    @discardableResult
    mutating func added(_ path: String, _ interface: String, _ properties: Properties = []) -> [BluezChange] {
        signal("/", "InterfacesAdded", [.objectPath(path), interfaces([(interface, properties)])])
    }
    @discardableResult
    mutating func removed(_ path: String, _ names: String...) -> [BluezChange] {
        signal("/", "InterfacesRemoved", [.objectPath(path), .array(of: "s", names.map { .string($0) })])
    }
    @discardableResult
    mutating func changed(
        _ path: String, _ interface: String, _ properties: Properties, gone: [String] = []
    ) -> [BluezChange] {
        let names = BusValue.array(of: "s", gone.map { .string($0) })
        return signal(path, "PropertiesChanged", [.string(interface), .properties(properties), names])
    }

    mutating func addDatabase() {
        added(strap + "/service000e", BluezInterface.gattService, [("UUID", .string(heartRate))])
        added(measurement, BluezInterface.characteristic, characteristic("2a37"))
        added(measurement + "/desc0011", BluezInterface.descriptor, [("UUID", .string("2902"))])
        added(strap + "/service000e/char0012", BluezInterface.characteristic, characteristic("2a38", "read"))
    }
    mutating func addStrap() {
        added(adapter, BluezInterface.adapter, [("Address", .string("00:AA")), ("Powered", .boolean(true))])
        added(strap, BluezInterface.peripheral, [("Address", .string("C0:DE:00:00:00:10"))])
    }
}

private func characteristic(_ uuid: String, _ flag: String = "notify") -> Properties {
    [("UUID", .string(uuid)), ("Flags", .array(of: "s", [.string(flag)]))]
}

@Suite("Mirror of org.bluez")
struct BluezMirrorTests {
    @Test("a name that is not told any more is forgotten, and that is news of who it is")
    func forgetsNames() {
        var told = Told()
        told.addStrap()
        told.changed(strap, BluezInterface.peripheral, [("Name", .string("Lab Strap"))])
        #expect(told.mirror.peripherals[strap]?.name == "Lab Strap")
        let changes = told.changed(strap, BluezInterface.peripheral, [], gone: ["Name"])
        #expect(told.mirror.peripherals[strap]?.name == nil)
        #expect(changes == [.peripheral(strap, .identity)])
    }

    @Test(
        "of the sum of all data, what is new or changed is what was heard last; the same sum again tells no part of it")
    func news() {
        func data(_ found: [(Int64, String)]) -> (String, BusValue) {
            let entries = found.map {
                BusEntry(.uint16(UInt16($0.0)), .variant(.bytes([UInt8](hexadecimal: $0.1) ?? [])))
            }
            return ("ManufacturerData", .dictionary(key: "q", value: "v", entries))
        }
        var told = Told()
        told.addStrap()
        var heard: [String?] = []
        for sum in [
            [(1, "aa")], [(1, "aa")], [(1, "aa"), (2, "bb")], [(1, "aa"), (2, "bb")], [(1, "ac"), (2, "bb")],
            [(1, "ad"), (2, "be")], [(1, "ad"), (2, "be")],
        ] as [[(Int64, String)]] {
            told.changed(strap, BluezInterface.peripheral, [data(sum), ("RSSI", .int16(-60))])
            heard.append(told.mirror.peripherals[strap]?.newestAdvertisement?.hexadecimal)
        }
        let both = "04ff0100ad" + "04ff0200be"
        #expect(heard == ["04ff0100aa", "04ff0100aa", "04ff0200bb", "", "04ff0100ac", both, both])
        #expect(told.mirror.peripherals[strap]?.advertisement?.hexadecimal == both)
    }

    @Test("what is resolved is connected, though bluetoothd kept that to itself; told late it is no second connection")
    func untoldConnection() {
        var told = Told()
        told.addStrap()
        #expect(
            told.changed(strap, BluezInterface.peripheral, [("ServicesResolved", .boolean(true))])
                == [.peripheral(strap, .link)])
        #expect(told.mirror.peripherals[strap]?.isConnected == true)
        #expect(told.mirror.peripherals[strap]?.connections == 1)
        told.changed(strap, BluezInterface.peripheral, [("ServicesResolved", .boolean(true))])
        #expect(told.mirror.peripherals[strap]?.connections == 1)
        told.changed(
            strap, BluezInterface.peripheral, [("ServicesResolved", .boolean(false)), ("Connected", .boolean(false))])
        #expect(told.mirror.peripherals[strap]?.isConnected == false)
    }

    @Test("a first connect as bluetoothd tells it: the objects one by one, then that they are resolved")
    func connects() {
        var told = Told()
        told.addStrap()
        #expect(
            told.changed(strap, BluezInterface.peripheral, [("Connected", .boolean(true))]) == [
                .peripheral(strap, .link)
            ])
        told.addDatabase()
        let uuids = BusValue.array(of: "s", [.string(heartRate), .string("no uuid")])
        let resolved: Properties = [("UUIDs", uuids), ("ServicesResolved", .boolean(true))]
        #expect(
            told.changed(strap, BluezInterface.peripheral, resolved) == [.peripheral(strap, [.link, .identity])])
        #expect(told.mirror.peripherals[strap]?.services == [BluetoothUUID(short: 0x180d)])
        #expect(told.mirror.peripherals[strap]?.areServicesResolved == true)
        #expect(told.mirror.characteristics(of: strap).map(\.path) == [measurement, strap + "/service000e/char0012"])
        #expect(told.mirror.characteristic(at: measurement)?.canNotify == true)
        #expect(told.mirror.configuration(of: measurement) == measurement + "/desc0011")
        #expect(told.added(strap, "org.bluez.Battery1") == [])
    }

    @Test("characteristics are found by their UUID, in the order of their handles, as long as they are there")
    func findsByUUID() {
        var told = Told()
        told.addStrap()
        told.addDatabase()
        let (uuid, twin) = (BluetoothUUID(short: 0x2a37), strap + "/service000e/char0005")
        told.added(twin, BluezInterface.characteristic, characteristic("2a37", "read"))
        #expect(told.mirror.characteristics(of: strap, named: uuid).first?.path == twin)
        #expect(told.mirror.characteristics(of: strap, named: uuid) { $0.canNotify }.first?.path == measurement)
        // Announced again, now with another UUID.
        told.added(twin, BluezInterface.characteristic, characteristic("2a37", "read"))
        told.changed(twin, BluezInterface.characteristic, [("UUID", .string("2a38"))])
        #expect(told.mirror.characteristics(of: strap, named: uuid).first?.path == measurement)
        #expect(told.mirror.characteristics(of: strap, named: BluetoothUUID(short: 0x2a38)).first?.path == twin)
        told.removed(measurement, BluezInterface.characteristic)
        #expect(told.mirror.characteristics(of: strap, named: uuid).first == nil)
    }

    @Test("of a peripheral that offers more than 1,024 characteristics none is found, until it offers fewer")
    func boundsDatabases() {
        var told = Told()
        told.addStrap()
        told.addDatabase()
        let paths = (0..<1_023).map { "\(strap)/service000e/char\($0 + 1_000)" }
        for path in paths { told.added(path, BluezInterface.characteristic, characteristic("2a38")) }
        let uuid = BluetoothUUID(short: 0x2a37)
        #expect(told.mirror.offersTooMany(strap) && told.mirror.characteristics(of: strap, named: uuid).first == nil)
        #expect(!told.mirror.offersTooMany(strap + "0"))
        told.removed(paths[0], BluezInterface.characteristic)
        #expect(
            !told.mirror.offersTooMany(strap)
                && told.mirror.characteristics(of: strap, named: uuid).first?.path == measurement
        )
    }

    @Test("services that are resolved are those of a link, though bluetoothd never told of it")
    func takesUnsaidLink() {
        var told = Told()
        told.addStrap()
        told.addDatabase()
        #expect(
            told.changed(strap, BluezInterface.peripheral, [("ServicesResolved", .boolean(true))]) == [
                .peripheral(strap, .link)
            ])
        #expect(told.mirror.peripherals[strap]?.isConnected == true)
        #expect(told.mirror.peripherals[strap]?.connections == 1)
        told.changed(
            strap, BluezInterface.peripheral, [("ServicesResolved", .boolean(false)), ("Connected", .boolean(false))])
        #expect(told.mirror.peripherals[strap]?.isConnected == false)
    }

    @Test("the objects are taken whatever their order: descriptor first, peripheral last")
    func takesAnyOrder() {
        var told = Told()
        told.added(measurement + "/desc0011", BluezInterface.descriptor, [("UUID", .string("2902"))])
        told.added(measurement, BluezInterface.characteristic, characteristic("2a37"))
        told.addStrap()
        #expect(told.mirror.configuration(of: measurement) != nil)
        #expect(told.mirror.characteristics(of: strap).count == 1)
    }

    @Test("a snapshot tells adapters before their peripherals, and what is in it again does no harm")
    func takesSnapshot() {
        var told = Told()
        let entry = { (path: String, interface: String, properties: Properties) in
            BusEntry(.objectPath(path), interfaces([(interface, properties)]))
        }
        let snapshot = BusValue.dictionary(
            key: "o", value: "a{sa{sv}}",
            [
                entry(measurement, BluezInterface.characteristic, characteristic("2a37")),
                entry(strap, BluezInterface.peripheral, [("Connected", .boolean(true))]),
                entry(adapter, BluezInterface.adapter, [("Powered", .boolean(true))]),
            ])
        let changes: [BluezChange] = [
            .adapter(adapter), .peripheral(strap, .link), .database(peripheral: strap),
        ]
        #expect(told.mirror.apply(snapshot: snapshot) == changes)
        #expect(told.mirror.apply(snapshot: snapshot) == changes)
        #expect(told.mirror.characteristics(of: strap).count == 1)
    }

    @Test("services changed: what goes is told object by object, and moved handles are other characteristics")
    func changesServices() {
        var told = Told()
        told.addStrap()
        told.addDatabase()
        #expect(
            told.removed(measurement + "/desc0011", BluezInterface.descriptor) == [.database(peripheral: strap)])
        #expect(told.mirror.configuration(of: measurement) == nil)
        #expect(told.removed(measurement, BluezInterface.characteristic) == [.database(peripheral: strap)])
        #expect(told.mirror.characteristic(at: measurement) == nil)
        let moved = strap + "/service0011/char0012"
        told.added(moved, BluezInterface.characteristic, characteristic("2a37"))
        #expect(told.mirror.characteristics(of: strap).map(\.path).contains(moved))
        #expect(told.changed(measurement, BluezInterface.characteristic, [("Value", .bytes([1]))]) == [])
    }

    @Test("values are told as often as they come, equal ones, empty ones and 512 bytes among them")
    func tellsValues() {
        var told = Told()
        told.addStrap()
        told.addDatabase()
        for bytes in [[0x16, 0x48], [0x16, 0x48], [], [UInt8](repeating: 7, count: 512)] {
            #expect(
                told.changed(measurement, BluezInterface.characteristic, [("Value", .bytes(bytes))]) == [
                    .value(characteristic: measurement, bytes)
                ])
        }
        #expect(told.changed(measurement, BluezInterface.characteristic, [("Notifying", .boolean(true))]) == [])
        // What is cached when the object appears was not said now.
        #expect(
            !told.added(measurement, BluezInterface.characteristic, [("Value", .bytes([1]))]).contains {
                if case .value = $0 { true } else { false }
            })
    }

    @Test("with an end of bluetoothd all is forgotten and told, peripherals before adapters, in a new generation")
    func endsLife() {
        var told = Told()
        told.addStrap()
        told.addDatabase()
        let before = told.mirror.generation
        let changes = told.mirror.begin()
        #expect(changes.count == 2)
        if case .peripheralGone(strap, let last) = changes.first {
            #expect(last.address == "C0:DE:00:00:00:10")
        } else {
            Issue.record("the peripheral is not told first")
        }
        #expect(told.mirror.generation == before + 1 && told.mirror.characteristics(of: strap).isEmpty)
        #expect(told.mirror.configuration(of: measurement) == nil)
        #expect(told.changed(strap, BluezInterface.peripheral, [("Connected", .boolean(true))]) == [])
    }

    @Test("an address that changes with pairing is told as identity, under the same path")
    func changesAddress() {
        var told = Told()
        told.addStrap()
        told.changed(strap, BluezInterface.peripheral, [("Address", .string("5A:00:00:00:00:01"))])
        #expect(told.mirror.peripherals[strap]?.hasPrivateAddress == true)
        let identity: Properties = [
            ("Address", .string("00:11:22:33:44:55")), ("AddressType", .string("public")), ("Bonded", .boolean(true)),
        ]
        #expect(
            told.changed(strap, BluezInterface.peripheral, identity) == [.peripheral(strap, [.identity, .bond])])
        #expect(told.mirror.peripherals[strap]?.hasPrivateAddress == false)
        #expect(told.mirror.peripherals[strap]?.isBonded == true)
    }

    @Test("private is what changes by itself: resolvable or not, but neither static nor public")
    func knowsPrivateAddresses() {
        for (first, isPrivate) in [
            ("40", true), ("7F", true), ("00", true), ("3F", true), ("C0", false), ("FF", false),
        ] {
            var peripheral = BluezPeripheral()
            peripheral.address = first + ":DE:00:00:00:10"
            #expect(peripheral.hasPrivateAddress == isPrivate, "\(first)")
            peripheral.hasPublicAddress = true
            #expect(!peripheral.hasPrivateAddress)
        }
    }

    @Test("to be told connected once more counts as another connection")
    func countsConnections() {
        var told = Told()
        told.addStrap()
        told.changed(strap, BluezInterface.peripheral, [("Connected", .boolean(true))])
        let first = told.mirror.peripherals[strap]?.connections
        told.changed(strap, BluezInterface.peripheral, [("ServicesResolved", .boolean(true))])
        #expect(told.mirror.peripherals[strap]?.connections == first)
        told.changed(strap, BluezInterface.peripheral, [("Connected", .boolean(true))])
        #expect(told.mirror.peripherals[strap]?.connections != first)
    }

    @Test("paired is not bonded where bluetoothd tells the difference")
    func knowsBonds() {
        var told = Told()
        told.addStrap()
        told.changed(strap, BluezInterface.peripheral, [("Paired", .boolean(true))])
        #expect(told.mirror.peripherals[strap]?.isBonded == true)
        told.changed(strap, BluezInterface.peripheral, [("Bonded", .boolean(false))])
        #expect(told.mirror.peripherals[strap]?.isBonded == false)
    }

    @Test("to be heard advertising is told with its signal; that it is not heard any more is kept and not told")
    func losesSignal() {
        var told = Told()
        told.addStrap()
        #expect(
            told.changed(strap, BluezInterface.peripheral, [("RSSI", .int16(-60))]) == [
                .peripheral(strap, .advertisement)
            ])
        #expect(told.mirror.peripherals[strap]?.signal == -60)
        #expect(told.changed(strap, BluezInterface.peripheral, [], gone: ["RSSI"]) == [])
        #expect(told.mirror.peripherals[strap]?.signal == nil)
    }

    @Test("hci1 is not hci10, nor is one peripheral another whose path begins alike")
    func comparesWholePaths() {
        var told = Told()
        for number in ["1", "10"] {
            let path = "/org/bluez/hci\(number)"
            told.added(path, BluezInterface.adapter)
            told.added(path + "/dev_C0", BluezInterface.peripheral)
            told.added(path + "/dev_C0_DE", BluezInterface.peripheral)
            told.added(path + "/dev_C0_DE/service1/char1", BluezInterface.characteristic, characteristic("2a37"))
        }
        told.removed("/org/bluez/hci1/dev_C0", BluezInterface.peripheral)
        #expect(told.mirror.characteristics(of: "/org/bluez/hci1/dev_C0_DE").count == 1)
        told.removed("/org/bluez/hci1/dev_C0_DE", BluezInterface.peripheral)
        #expect(told.mirror.peripherals.count == 2)
        #expect(told.mirror.characteristics(of: "/org/bluez/hci10/dev_C0_DE").count == 1)
        told.removed("/org/bluez/hci1", BluezInterface.adapter)
        #expect(Array(told.mirror.adapters.keys) == ["/org/bluez/hci10"])
    }

    @Test("unknown interfaces, paths, members and types change nothing and tell nothing")
    func ignoresTheUnknown() {
        var told = Told()
        told.addStrap()
        told.addDatabase()
        let before = told.mirror.peripherals
        #expect(told.added(strap, "org.bluez.MediaControl1", [("Connected", .boolean(false))]) == [])
        #expect(told.changed(strap, "org.bluez.Network1", [("Connected", .boolean(true))]) == [])
        #expect(told.changed("/org/bluez/hci7", BluezInterface.adapter, [("Powered", .boolean(true))]) == [])
        #expect(told.changed(strap + "X", BluezInterface.peripheral, [("Connected", .boolean(true))]) == [])
        let wrong: Properties = [("Connected", .string("yes")), ("UUIDs", .boolean(true)), ("Address", .byte(1))]
        #expect(told.changed(strap, BluezInterface.peripheral, wrong) == [])
        #expect(told.changed(measurement, BluezInterface.characteristic, [("Value", .string("1"))]) == [])
        #expect(told.signal(strap, "PropertiesChanged", [.byte(1)]) == [])
        #expect(told.signal(strap, "PropertiesChanged", [.byte(1), .byte(2), .byte(3)]) == [])
        #expect(told.signal("/", "InterfacesAdded", [.byte(1), interfaces([(BluezInterface.adapter, [])])]) == [])
        #expect(told.signal("/", "InterfacesRemoved", [.objectPath(strap), .boolean(true)]) == [])
        #expect(told.signal("/", "Vanished", []) == [])
        #expect(told.mirror.apply(snapshot: .string("nothing")) == [])
        #expect(told.mirror.peripherals == before && told.mirror.adapters.count == 1)
    }
}
