// Broadcasts by way of bluetoothd: its monitors, its scan, who is heard of all that it tells, and what is kept.
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

private let first = "C0:DE:00:00:00:01"
private let second = "C0:DE:00:00:00:02"
private let filter = BusValue.properties([("Transport", .string("le"))])
private let monitors = "monitors hci0 00:AA:00:00:00:01"

@Suite("Broadcasts over bluetoothd")
struct BroadcastSourceTests {
    @Test("while no broadcaster is named the radio is left alone")
    func idle() throws {
        let air = try BroadcastAir()
        try air.begin("adapter hci0")
        try air.settle()
        #expect(try air.bluez.tell("calls StartDiscovery") == "0")
        #expect(try air.say(first, "07") == "unheard")
    }

    @Test("one that a manifest names is heard by a scan, and those beside it are not told of")
    func named() throws {
        let air = try BroadcastAir()
        air.namings = [DeviceNaming(profile: "tag", device: "/bluetooth/\(first)")]
        air.source?.manifestsChanged()
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        for value in ["07", "08"] {
            _ = try air.say(second, value)
            _ = try air.say(first, value)
            try air.turn { air.told.last == "tag-0001 \(value)" }
        }
        #expect(air.told == ["tag-0001 +", "tag-0001 07", "tag-0001 08"])
    }

    @Test("a manifest may name one by the name that it has by default, and with learn all are heard")
    func aliases() throws {
        let air = try BroadcastAir()
        air.namings = [DeviceNaming(profile: "tag", device: "tag-0002")]
        air.source?.manifestsChanged()
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        _ = try air.say(first, "07")
        _ = try air.say(second, "07")
        try air.turn { air.told == ["tag-0002 +", "tag-0002 07"] }
        let learning = try BroadcastAir(BroadcastRules(learns: true))
        try learning.begin("adapter hci0")
        try learning.expect("yes", to: "discovering hci0")
        _ = try learning.say(first, "07")
        try learning.turn { learning.told == ["tag-0001 +", "tag-0001 07"] }
    }

    @Test("of all data that bluetoothd keeps of one, what is new or has another value is what was heard")
    func sums() throws {
        let air = try BroadcastAir(BroadcastRules(learns: true), others: ["odd"])
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        // 20.0, 20.5, 21.0, 19.5 and 23.0 degrees, whose low byte is that of the number.
        for (company, data) in [
            ("c8c2", "0032"), ("cdc2", "0033"), ("d2c2", "0034"), ("c3c2", "0035"), ("e6c2", "0036"),
        ] {
            _ = try air.say(first, company: company, data)
            try air.turn { air.told.last == "odd-0001 \(data.suffix(2))" }
        }
        #expect(air.told == ["odd-0001 +", "odd-0001 32", "odd-0001 33", "odd-0001 34", "odd-0001 35", "odd-0001 36"])
    }

    @Test("one that is known by a beacon alone becomes what its maker's data say, and stays that")
    func beaconFirst() throws {
        let air = try BroadcastAir(BroadcastRules(learns: true), others: ["mark"])
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        for (company, data, told) in [
            ("004c", "0001", "mark-0001 01"), ("0499", "07", "tag-0001 07"), ("0499", "08", "tag-0001 08"),
        ] {
            _ = try air.say(first, company: company, data)
            try air.turn { air.told.last == told }
        }
        _ = try air.say(first, company: "004c", "0002")
        _ = try air.say(first, "09")
        try air.turn { air.told.last == "tag-0001 09" }
        #expect(
            air.told == [
                "mark-0001 +", "mark-0001 01", "tag-0001 +", "tag-0001 07", "tag-0001 08", "tag-0001 09",
            ])
    }

    @Test("a scan that bluetoothd refuses over one connection for ever is begun over another")
    func lostAnswer() throws {
        let air = try BroadcastAir()
        air.namings = [DeviceNaming(profile: "tag", device: "/bluetooth/\(first)")]
        air.source?.manifestsChanged()
        try air.bluez.tell("fault StartDiscovery lost")
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        #expect(try air.bluez.tell("calls StartDiscovery") == "2")
    }

    @Test("another program's scan goes on when ours is over, and when the daemon ends", arguments: [false, true])
    func leavesOthers(theDaemonEnds: Bool) throws {
        let air = try BroadcastAir()
        air.namings = [DeviceNaming(profile: "tag", device: "/bluetooth/\(first)")]
        air.source?.manifestsChanged()
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        try air.settle()
        let adapter = try #require(air.source?.client.mirror.adapters.values.first?.address)
        #expect(air.source?.scans(with: adapter) == true)
        try air.bluez.tell("scan_beside hci0")
        if theDaemonEnds {
            air.source?.stop()
        } else {
            air.namings = []
            air.source?.manifestsChanged()
        }
        try air.expect("0", to: "scanning_connections hci0")
        #expect(try air.bluez.tell("discovering hci0") == "yes")
        #expect(try air.bluez.tell("calls StopDiscovery") == (theDaemonEnds ? "0" : "1"))
        #expect(air.source?.scans(with: adapter) == false)
    }

    @Test("a scan is over in five seconds for those that wait, and ended at last, where bluetoothd hangs")
    func hangs() throws {
        let air = try BroadcastAir()
        try air.begin("adapter hci0")
        let client = BluezClient(air.line)
        try air.turn { client.isThere }
        let session = DiscoverySession(on: "/org/bluez/hci0", over: client)
        var answers = 0
        session.begin(filter) { _ in answers += 1 }
        try air.turn { answers == 1 }
        air.bluez.pause()
        var isOver = false
        let asked = SystemClock.monotonic()
        session.end { isOver = true }
        try air.turn { isOver }
        #expect(SystemClock.monotonic() - asked >= .seconds(5))
        air.bluez.resume()
        try air.expect("0", to: "scanning_connections hci0")
        session.end { answers += 1 }
        #expect(answers == 2)
    }

    @Test("a scan of which a hung bluetoothd says nothing counts as none after fifteen seconds")
    func looksInVain() throws {
        let air = try BroadcastAir()
        try air.begin("adapter hci0")
        let client = BluezClient(air.line)
        try air.turn { client.isThere }
        let session = DiscoverySession(on: "/org/bluez/hci0", over: client)
        var answers: [Bool] = []
        session.begin(filter) { _ in session.look { answers.append($0) } }
        try air.turn { answers == [true] }
        air.bluez.pause()
        // The bus library uses the kernel's clock.
        let asked = monotonicNow()
        session.look { answers.append($0) }
        let isAnswered = try air.loop.turn(for: .seconds(60)) { answers == [true, false] }
        #expect(isAnswered && monotonicNow() - asked >= 15)
        air.bluez.resume()
    }

    @Test("where bluetoothd is gone, a scan is refused at once and those that wait for its end are called")
    func gone() throws {
        let air = try BroadcastAir()
        try air.begin("adapter hci0")
        let client = BluezClient(air.line)
        try air.turn { client.isThere }
        let session = DiscoverySession(on: "/org/bluez/hci0", over: client)
        var told: [String] = []
        session.begin(filter) { told.append($0.isSuccess ? "begun" : "refused") }
        try air.turn { told == ["begun"] }
        air.bluez.kill()
        try air.turn { !client.isThere }
        session.end { told.append("ended") }
        session.begin(filter) { told.append($0.isSuccess ? "begun" : "refused") }
        try air.turn { told == ["begun", "ended", "refused"] }
    }

    @Test("a scan that bluetoothd ended in another's stead is begun again")
    func endedByAnother() throws {
        let air = try BroadcastAir()
        air.namings = [DeviceNaming(profile: "tag", device: "/bluetooth/\(first)")]
        air.source?.manifestsChanged()
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        try air.settle()
        try air.bluez.tell("forget_scans hci0")
        try air.expect("yes", to: "discovering hci0")
        #expect(try air.bluez.tell("calls StartDiscovery") == "2")
    }

    @Test("a name that a person gave is kept, is what its events are called by, and is forgotten when told so")
    func kept() throws {
        let air = try BroadcastAir()
        let address = try #require(RadioAddress(first))
        try air.source?.name(address, "cellar")
        #expect(BroadcasterList(in: air.directory).names == [address: "cellar"])
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        _ = try air.say(first, "07")
        try air.turn { air.told == ["cellar +", "cellar 07"] }
        #expect(air.source?.watches("/bluetooth/\(first)") == true)
        #expect(try air.source?.forget(address) == true)
        try air.turn { air.told.last == "cellar -" }
        try air.expect("no", to: "discovering hci0")
        #expect(BroadcasterList(in: air.directory).names.isEmpty)
    }

    @Test("where bluetoothd has monitors one is registered with what the profiles ask for, and nothing is scanned")
    func monitored() throws {
        let air = try BroadcastAir(BroadcastRules(learns: true))
        try air.begin(monitors)
        try air.expect("ff:9904", to: "monitored hci0")
        _ = try air.say(first, "07")
        try air.turn { air.told == ["tag-0001 +", "tag-0001 07"] }
        #expect(try air.bluez.tell("calls StartDiscovery") == "0")
    }

    @Test("a monitor that the kernel does not activate gives way to a scan within a few seconds")
    func refused() throws {
        let air = try BroadcastAir(BroadcastRules(learns: true))
        try air.begin(monitors + " refused")
        try air.expect("yes", to: "discovering hci0")
        #expect(try air.bluez.tell("calls RegisterMonitor") == "1")
        #expect(try air.bluez.tell("calls UnregisterMonitor") == "1")
    }

    @Test("another bluetoothd is asked again, whatever the one before it was asked")
    func restarted() throws {
        let air = try BroadcastAir(BroadcastRules(learns: true))
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        try air.bluez.tell("die")
        try air.settle()
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        _ = try air.say(first, "07")
        try air.turn { air.told == ["tag-0001 +", "tag-0001 07"] }
    }

    @Test("while a peripheral's link is being made the scan is ended, and begun again after it")
    func yields() throws {
        let air = try BroadcastAir(BroadcastRules(learns: true))
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        try air.bluez.tell("peripheral 1 hci0")
        try air.bluez.tell("resolve 1 never")
        try air.bluez.tell("up 1")
        try air.expect("no", to: "discovering hci0")
        try air.bluez.tell("down 1")
        try air.expect("yes", to: "discovering hci0")
    }

    @Test("a region is entered with the first sighting of its beacon")
    func region() throws {
        let uuid = BluetoothUUID(high: 0xf782_6da6_4fa2_4e98, low: 0x8024_bc5b_71e0_893e)
        let air = try BroadcastAir()
        air.beacons = [.iBeacon(uuid: uuid, major: nil, minor: nil)]
        air.source?.manifestsChanged()
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        let data = "0215f7826da64fa24e988024bc5b71e0893e00010002c5"
        _ = try air.bluez.tell("broadcast hci0 \(first) 004c \(data)")
        try air.turn { air.told == ["region inside"] }
        try air.bluez.tell("die")
        try air.turn { air.told == ["region inside", "region unknown"] }
    }

    @Test("it looks after what it hears every 30 s at least, however long a broadcaster may be silent")
    func looksOften() throws {
        let air = try BroadcastAir(BroadcastRules(learns: true, presence: .seconds(3_600)))
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        _ = try air.say(first, "07")
        try air.turn { air.told == ["tag-0001 +", "tag-0001 07"] }
        let armed = try #require(air.source?.nextLook)
        #expect(armed - air.clock.now().monotonic <= .seconds(30))
    }

    @Test("a reload that asks for other broadcasters has a monitor look for them too")
    func watchesMore() throws {
        let air = try BroadcastAir()
        air.namings = [DeviceNaming(profile: "tag", device: "/bluetooth/\(first)")]
        air.source?.manifestsChanged()
        try air.begin(monitors)
        try air.expect("ff:9904", to: "monitored hci0")
        air.beacons = [.altBeacon(uuid: BluetoothUUID(short: 0x1234), major: nil, minor: nil)]
        air.source?.manifestsChanged()
        try air.expect("ff:9904 ff:beac", to: "monitored hci0")
        #expect(try air.bluez.tell("calls StartDiscovery") == "0")
    }

    @Test("one that a manifest names is known by the profile that is named with it, whatever else it says first")
    func namedProfile() throws {
        let air = try BroadcastAir()
        air.namings = [DeviceNaming(profile: "tag", device: "/bluetooth/\(first)")]
        air.source?.manifestsChanged()
        try air.begin("adapter hci0")
        try air.expect("yes", to: "discovering hci0")
        for value in 0..<12 { _ = try air.bluez.tell("broadcast hci0 \(first) 004c 0\(String(value, radix: 16))") }
        _ = try air.say(first, "07")
        try air.turn { air.told == ["tag-0001 +", "tag-0001 07"] }
    }
}

@Suite("Advertisements made again of what bluetoothd tells")
struct RebuiltAdvertisementTests {
    @Test("data of services and companies are structures again, in one order, with their names as they were sent")
    func structures() {
        var peripheral = BluezPeripheral()
        #expect(peripheral.advertisement == nil)
        peripheral.manufacturerData = [0x0499: [5], 0x004c: [2]]
        peripheral.serviceData = [BluetoothUUID(short: 0x181a): [1, 2]]
        #expect(peripheral.advertisement?.hexadecimal == "05161a180102" + "04ff4c0002" + "04ff990405")
    }

    @Test("what is longer than a structure can be is left out")
    func tooLong() {
        var peripheral = BluezPeripheral()
        peripheral.manufacturerData = [1: [UInt8](repeating: 0, count: 300)]
        #expect(peripheral.advertisement == [])
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
