// Who is near by: folded faces, order, names; how a word finds a peripheral; when a scan is tried again; the radio switch.
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakePairing
@testable import WakeSources

private func peripheral(
    _ address: String, name: String? = nil, alias: String = "", signal: Int? = nil, services: [UInt32] = []
) -> BluezPeripheral {
    var peripheral = BluezPeripheral()
    peripheral.address = address
    peripheral.name = name
    peripheral.alias = alias
    peripheral.signal = signal
    peripheral.services = Set(services.map { BluetoothUUID(short: $0) })
    return peripheral
}

/// A mirror that was told of these, below one adapter.
private func mirror(_ peripherals: [(String, [(String, BusValue)])]) -> BluezMirror {
    var mirror = BluezMirror()
    func entry(_ path: String, _ interface: String, _ properties: [(String, BusValue)]) -> BusEntry {
        BusEntry(
            .objectPath(path),
            .dictionary(key: "s", value: "a{sv}", [BusEntry(.string(interface), .properties(properties))]))
    }
    let adapter = entry("/org/bluez/hci0", BluezInterface.adapter, [("Address", .string("00:01"))])
    let devices = peripherals.map { entry("/org/bluez/hci0/\($0.0)", BluezInterface.peripheral, $0.1) }
    _ = mirror.apply(snapshot: .dictionary(key: "o", value: "a{sa{sv}}", [adapter] + devices))
    return mirror
}

@Suite("Neighbourhood") struct NeighbourhoodTests {
    private func rows(_ peripherals: [(String, [(String, BusValue)])], heard: [String]) -> [Neighbour] {
        var neighbourhood = Neighbourhood()
        for name in heard { neighbourhood.hear("/org/bluez/hci0/\(name)") }
        return neighbourhood.rows(of: mirror(peripherals), on: ["/org/bluez/hci0"]) {
            $0.services.isEmpty ? nil : "known"
        }
    }

    private func device(_ address: String, _ more: (String, BusValue)...) -> [(String, BusValue)] {
        [("Address", .string(address)), ("AddressType", .string("random")), ("Name", .string("Tag"))] + more
    }

    @Test(
        "private addresses that look the same are one row, told by the strongest; other looks and fixed addresses are not"
    )
    func folds() {
        let maker = BusValue.dictionary(key: "q", value: "v", [BusEntry(.uint16(76), .variant(.bytes([1])))])
        let found = rows(
            [
                ("a", device("41:00", ("RSSI", .int16(-80)))), ("b", device("02:00", ("RSSI", .int16(-50)))),
                ("c", device("7F:00", ("ManufacturerData", maker))), ("d", device("C0:00")), ("e", device("C1:00")),
            ], heard: ["a", "b", "c", "d", "e"])
        #expect(found.map(\.count) == [2, 1, 1, 1])
        #expect(found.first?.peripheral.address == "02:00")
    }

    @Test("what manufacturer data says may change all the time, and it is the same peripheral; whose it is may not")
    func restless() {
        var one = peripheral("41:00", name: "Tag")
        func key(_ data: [UInt16: [UInt8]]) -> String {
            one.manufacturerData = data
            return Neighbour(path: "/a", adapter: "00:01", one, profile: nil).key
        }
        #expect(key([76: [1]]) == key([76: [2, 3]]))
        #expect(key([76: [1]]) != key([77: [1]]))
        #expect(key([76: [1]]) != key([:]))
    }

    @Test(
        "what was not heard and is not connected is not near by, and what a profile knows comes first, best heard first"
    )
    func order() {
        let services = BusValue.array(of: "s", [.string("180d")])
        let found = rows(
            [
                ("a", device("C0:01", ("RSSI", .int16(-20)))),
                ("b", device("C0:02", ("UUIDs", services), ("RSSI", .int16(-70)))),
                ("c", device("C0:03", ("UUIDs", services), ("RSSI", .int16(-60)))), ("d", device("C0:04")),
                ("e", device("C0:05", ("Connected", .boolean(true)))),
            ], heard: ["a", "b", "c"])
        #expect(found.map(\.peripheral.address) == ["C0:03", "C0:02", "C0:01", "C0:05"])
    }

    @Test("a battery is known whichever of its interfaces is told first, changes, and goes with its interface")
    func battery() throws {
        var mirror = BluezMirror()
        let path = "/org/bluez/hci0/dev"
        let interfaces = BusValue.dictionary(
            key: "s", value: "a{sv}",
            [
                BusEntry(.string(BluezInterface.battery), .properties([("Percentage", .byte(77))])),
                BusEntry(.string(BluezInterface.peripheral), .properties([("Address", .string("C0:01"))])),
            ])
        _ = mirror.apply(snapshot: .dictionary(key: "o", value: "a{sa{sv}}", [BusEntry(.objectPath(path), interfaces)]))
        #expect(mirror.peripherals[path]?.battery == 77)
    }

    @Test("a label is what people call it, else its name, else its address; 127 dBm is not known")
    func labels() {
        func neighbour(_ peripheral: BluezPeripheral) -> Neighbour {
            Neighbour(path: "/x", adapter: "", peripheral, profile: nil)
        }
        #expect(neighbour(peripheral("C0:01", name: "Strap", alias: "chest")).label == "chest")
        #expect(neighbour(peripheral("C0:01", name: "Strap", alias: "Strap")).label == "Strap")
        #expect(neighbour(peripheral("C0:01", name: "", alias: "C0-01")).label == "C0:01")
        #expect(neighbour(peripheral("C0:01", signal: 127)).signal == nil)
        #expect(neighbour(peripheral("C0:01", signal: -12)).signal == -12)
        #expect(peripheral("C0:01:F4:0A").deviceAlias(profile: "hr") == "hr-f40a")
        #expect(peripheral("C0:01", name: "Strap", alias: "chest").deviceAlias(profile: "hr") == "chest")
    }

    @Test("a word is an address first, then an alias, then a name, and never a guess between two")
    func search() {
        let all = [
            "/a/1": peripheral("C0:01", name: "Strap", alias: "chest"), "/a/2": peripheral("C0:02", name: "Strap"),
            "/a/3": peripheral("C0:03", name: "chest"), "/b/1": peripheral("C0:01", name: "Strap", signal: -30),
        ]
        #expect(NeighbourSearch.find("c0:03", in: all) == .one("/a/3"))
        #expect(NeighbourSearch.find("/bluetooth/C0:02", in: all) == .one("/a/2"))
        #expect(NeighbourSearch.find("chest", in: all) == .one("/a/1"))
        #expect(NeighbourSearch.find("CHEST", in: ["/a/3": all["/a/3"] ?? BluezPeripheral()]) == .one("/a/3"))
        #expect(NeighbourSearch.find("Strap", in: all) == .several(["/a/1", "/a/2", "/b/1"]))
        #expect(NeighbourSearch.find("C0:01", in: all) == .one("/b/1"))
        #expect(NeighbourSearch.find("C0:04", in: all) == .none)
        var bonded = all
        bonded["/a/1"]?.isPaired = true
        #expect(NeighbourSearch.find("C0:01", in: bonded) == .one("/a/1"))
    }

    @Test("a scan is tried for 20 s, with longer and longer waits, and again after it worked")
    func patience() {
        var patience = DiscoveryPatience()
        let start = Instant(nanoseconds: 0)
        var tries = [start]
        while let next = patience.next(tries[tries.count - 1]) { tries.append(next) }
        #expect(tries.map { $0.nanoseconds / 1_000_000 } == [0, 500, 1500, 3500, 7500, 11500, 15500, 19500])
        #expect(patience.failures == 8)
        patience.succeed()
        #expect(patience.next(start + .seconds(60)) == start + .milliseconds(60_500) && patience.failures == 1)
        // A request that is not answered takes 15 s by itself.
        var slow = DiscoveryPatience()
        #expect(slow.next(start + .seconds(15)) != nil)
        #expect(slow.next(start + .milliseconds(30_500)) != nil)
        #expect(slow.next(start + .seconds(47)) == nil)
    }

    @Test("rfkill's switches: only Bluetooth's count, and hardware before software")
    func radioSwitch() throws {
        let directory = try Directory.makeTemporary(prefix: "wakerfkill")
        defer { Directory.removeTree(directory) }
        func set(_ name: String, type: String, soft: String, hard: String) throws {
            try Directory.create("\(directory)/\(name)")
            for (file, text) in [("type", type), ("soft", soft), ("hard", hard)] {
                try File.replace("\(directory)/\(name)/\(file)", with: Array("\(text)\n".utf8))
            }
        }
        #expect(RfkillState.look(in: directory + "/none") == .open)
        try set("rfkill0", type: "wlan", soft: "1", hard: "1")
        #expect(RfkillState.look(in: directory) == .open)
        try set("rfkill1", type: "bluetooth", soft: "1", hard: "0")
        #expect(RfkillState.look(in: directory) == .blockedBySoftware)
        try set("rfkill2", type: "bluetooth", soft: "0", hard: "1")
        #expect(RfkillState.look(in: directory) == .blockedByHardware)
    }
}
