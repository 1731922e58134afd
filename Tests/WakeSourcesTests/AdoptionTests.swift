// Which peripherals the source watches, and what becomes of those that people switch, distrust, pair again or forget.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakePairing
import WakeProfiles
import WakeSystem

@testable import WakeSources

private let strap = "/bluetooth/C0:DE:00:00:00:01"

private struct Unexpected: Error {}

/// A scan on the first adapter, which is told of every change as the tool's are.
private final class Scan: BluezListener {
    let client: BluezClient
    let discovery: Discovery
    private(set) var failures: [String] = []

    init(_ air: Air) throws {
        client = BluezClient(air.line)
        discovery = Discovery(of: [], on: ["/org/bluez/hci0"], over: client, on: air.loop)
        client.listen(self)
        discovery.didFail = { [unowned self] in failures.append($0) }
    }

    func bluezDidAppear() {}
    func bluezDidVanish() {}
    func bluez(did change: BluezChange) { discovery.bluezDidChange(change) }
}

@Suite("Adoption", .serialized)
struct AdoptionTests {
    @Test("a peripheral that is not trusted is not watched; trusted it is, and distrusted no more")
    func watchesTheTrusted() throws {
        let air = try Air()
        try air.populate(2)
        try air.tell("set 1 Trusted no")
        try air.turn { air.connected.count == 1 }
        #expect(air.reasons == ["removed"] && air.source?.watched.count == 1)
        try air.tell("set 1 Trusted yes")
        try air.expect(2)
    }

    @Test("what a peripheral that is not watched advertises is not read, and that it is trusted is heard all the same")
    func ignoresStrangers() throws {
        let air = try Air()
        try air.populate(2)
        try air.tell("set 1 Trusted no")
        try air.turn { air.connected.count == 1 }
        func signal(_ number: Int) -> Int? {
            air.source?.client.mirror.peripherals["/org/bluez/hci0/dev_C0_DE_00_00_00_0\(number)"]?.signal
        }
        try air.tell("advertise 1", "advertise 2")
        try air.turn { signal(2) == -60 }
        #expect(signal(1) == nil)
        try air.tell("set 1 Trusted yes")
        try air.expect(2)
        try air.tell("advertise 1")
        try air.turn { signal(1) == -60 }
    }

    @Test("a bridge that is pinned to one adapter leaves the peripherals of the other alone")
    func pinnedBridge() throws {
        var pins = AdapterPins()
        pins.ofBridge = "00:AA:00:00:00:01"
        let air = try Air(pins: pins)
        try air.tell("adapter hci0", "adapter hci1 00:AA:00:00:00:02", "peripheral 1 hci1", "peripheral 2 hci0", "live")
        try air.expect(1)
        #expect(air.connected == ["/bluetooth/C0:DE:00:00:00:02"])
    }

    @Test("a device that is pinned to an adapter is watched there alone, whatever the bridge is pinned to")
    func pinnedDevice() {
        var pins = AdapterPins()
        let names = ["chest-strap", "C0:DE:00:00:00:01", strap]
        #expect(pins.allow("00:AA:00:00:00:02", for: names) && pins.allow(nil, for: names))
        pins.ofBridge = "00:AA:00:00:00:01"
        #expect(!pins.allow("00:AA:00:00:00:02", for: names) && pins.allow("00:aa:00:00:00:01", for: names))
        pins.ofDevices["chest-strap"] = "00:AA:00:00:00:02"
        #expect(pins.allow("00:AA:00:00:00:02", for: names) && !pins.allow("00:AA:00:00:00:01", for: names))
    }

    @Test(
        "a device that was not named is pinned by the name that the bridge gives it, and by an address in small letters"
    )
    func pinnedByBridgesName() {
        var peripheral = BluezPeripheral()
        (peripheral.address, peripheral.alias) = ("C0:DE:00:00:00:01", "C0-DE-00-00-00-01")
        for name in ["heart-rate-monitor-0001", "c0:de:00:00:00:01", "/bluetooth/c0:de:00:00:00:01"] {
            var pins = AdapterPins()
            pins.ofDevices[name] = "00:AA:00:00:00:02"
            let names = pins.names(of: peripheral, profiles: ["gps-receiver", "heart-rate-monitor"])
            #expect(pins.allow("00:AA:00:00:00:02", for: names), "\(name)")
            #expect(!pins.allow("00:AA:00:00:00:01", for: names), "\(name)")
        }
    }

    @Test("a peripheral that is not trusted any more is let go on the air, dialled once when it is again, its gap told")
    func letsGo() throws {
        let air = try Air()
        try air.populate(2)
        try air.say()
        try air.tell("set 1 Trusted no")
        try air.turn { air.connected.count == 1 }
        try air.expectOneCall(of: "Disconnect", quiet: .milliseconds(50))
        #expect(try air.bluez.tell("calls StopNotify") == "1")
        try air.say()
        #expect(try air.bluez.tell("calls Connect") == "0")
        // Bluetoothd keeps what was disconnected then off the accept list.
        try air.tell("quiet", "set 1 Trusted yes")
        try air.expect(2)
        #expect(try air.bluez.tell("calls Connect") == "1")
        try air.say()
        try air.checkBooks()
    }

    @Test("a link that was there before the bridge is left alone when its peripheral is not trusted any more")
    func leavesForeignLinks() throws {
        let air = try Air()
        try air.tell("adapter hci0", "peripheral 1 hci0", "up 1")
        try air.tell("live")
        try air.expect(1)
        try air.tell("set 1 Trusted no")
        try air.turn { air.connected.isEmpty }
        try air.pass(.milliseconds(50))
        #expect(try air.bluez.tell("calls Disconnect") == "0")
    }

    @Test("what the bridge knows and no adapter that is here does is missing, unless it only broadcasts")
    func tellsMissing() throws {
        let air = try Air()
        let tag = """
            { name: "tag", title: "Tag", mode: "bluetooth-central", match: { broadcast: [{ company: "0499" }] },
              advertisement: { manufacturer_data: { "0499": { fields: [{ name: "number", type: "uint8" }] } } } }
            """
        air.profiles = ProfileLibrary.load([.init(name: "tag", file: "tag", text: Array(tag.utf8))]).library
        let other = "/bluetooth/C0:DE:00:00:00:0"
        air.knownDevices = [(strap, "strap"), (other + "7", "strap"), (other + "8", "tag")].map {
            Device(uri: $0, alias: $0, profile: $1, kind: .bluetoothCentral)
        }
        try air.populate(1)
        #expect(air.source?.missing == ["/bluetooth/C0:DE:00:00:00:07"])
    }

    @Test("a peripheral that is known by its name comes back for a service of its own that no profile names")
    func coversNames() throws {
        let air = try Air()
        air.matches = { $0.name?.hasPrefix("Strap") == true }
        let own = "5f0f0001-1ab0-4c7a-9e33-000000000001"
        let services = "\(BluetoothUUID(short: 0x180f).full) \(own)"
        try air.tell("adapter hci0", "peripheral 1 hci0", "offer 1 \(services)", "live")
        try air.expect(1)
        try air.tell("down 1")
        try air.turn { air.connected.isEmpty }
        try air.expect(1)
        #expect(try air.bluez.tell("calls Connect") == "0")
        #expect(try air.bluez.tell("calls RegisterApplication") == "2")
    }

    @Test("a service that is advertised and not in the database keeps the peripheral that it matched")
    func keepsMatches() throws {
        let air = try Air()
        try air.tell("adapter hci0", "peripheral 1 hci0", "inside 1 \(BluetoothUUID(short: 0xfff0).full)", "live")
        try air.expect(1)
        try air.pass(.milliseconds(50))
        try air.tell("down 1")
        try air.turn { air.connected.isEmpty }
        try air.expect(1)
        #expect(Set(air.reasons) == ["link-lost"])
    }

    @Test("an address that changes by itself is watched only while a bond resolves it")
    func watchesTheBonded() throws {
        let air = try Air()
        try air.tell("adapter hci0", "peripheral 1 hci0")
        try air.tell("set 1 Bonded no", "set 1 Address 5A:00:00:00:00:01", "live")
        try air.pass(.milliseconds(200))
        #expect(air.accounts.isEmpty)
        try air.tell("set 1 Bonded yes")
        try air.expect(1)
        #expect(air.connected == ["/bluetooth/5A:00:00:00:00:01"])
        // With the bond it tells who it is.
        try air.tell("set 1 Address C0:DE:00:00:00:01")
        try air.turn { air.connected == [strap] }
        #expect(air.reasons == ["removed"])
        #expect(air.source?.watched.count == 1)
        try air.tell("say 0")
        try air.turn { air.accounts[strap]?.complaints.count == 1 }
        #expect(air.accounts[strap]?.complaints.first?.hasSuffix("raised what was never said") == true)
    }

    @Test("whether a peripheral is bonded is told with it and when that changes, a loss before what it causes")
    func tellsBond() throws {
        let air = try Air()
        try air.populate(1)
        try air.tell("set 1 Bonded no")
        try air.turn { air.proofs.last == "bond-invalid" }
        try air.tell("set 1 Bonded yes")
        try air.turn { air.proofs.last == "Strap 1 bonded" }
        #expect(air.proofs == ["Strap 1 bonded", "Strap 1 not bonded", "bond-invalid", "Strap 1 bonded"])
    }

    @Test("a peripheral that is trusted and was never bonded is watched as one that nothing proves")
    func watchesTheUnbonded() throws {
        let air = try Air()
        try air.tell("adapter hci0", "peripheral 1 hci0", "set 1 Bonded no", "live")
        try air.expect(1)
        #expect(air.proofs == ["Strap 1 not bonded"])
    }

    @Test("a lost bond wants a person, once, and names the command that mends it")
    func tellsLostBond() throws {
        let air = try Air()
        try air.populate(1)
        try air.tell("set 1 Bonded no", "set 1 Alias Chest", "set 1 Bonded no")
        try air.turn { !air.attentions.isEmpty }
        try air.pass(.milliseconds(50))
        #expect(air.attentions == [.bondInvalid])
    }

    @Test("the next bridge reports a gap since the device was last heard: away, paused or untrusted")
    func remembersSilence() throws {
        let air = try Air()
        try air.populate(3)
        try air.say()
        let paused = "/bluetooth/C0:DE:00:00:00:02"
        air.pause(paused)
        try air.tell("quiet", "down 1", "set 3 Trusted no")
        try air.turn { air.connected.isEmpty }
        try air.pass(.milliseconds(50))
        try air.say()
        try air.replaceBridge()
        try air.turn { air.source?.watched.count == 2 }
        try air.pass(.milliseconds(50))
        try air.tell("set 3 Trusted yes")
        air.open(paused)
        try air.tell("up 1", "up 3")
        try air.expect(3)
        try air.say()
        try air.expectValues(6)
        try air.checkBooks()
    }

    @Test("how far a peripheral is heard is told where that changes, and at the end")
    func tellsListening() throws {
        let air = try Air()
        try air.populate(1)
        guard case .since(let first) = air.listening[strap] else { throw Unexpected() }
        try air.say()
        #expect(air.listening[strap] == .since(first))
        try air.tell("quiet", "down 1")
        try air.turn { air.connected.isEmpty }
        guard case .until(let silent) = air.listening[strap] else { throw Unexpected() }
        #expect(silent > first)
        try air.tell("up 1")
        try air.expect(1)
        guard case .since(let second) = air.listening[strap] else { throw Unexpected() }
        #expect(second > silent)
        try air.say()
        air.source?.stop()
        guard case .until(let last) = air.listening[strap] else { throw Unexpected() }
        #expect(last > second)
    }

    @Test(
        "a link that an earlier life of the bridge had made is the bridge's own, unless another program listens to it")
    func takesUpLinks() throws {
        for isHeardElsewhere in [false, true] {
            let air = try Air()
            air.listening[strap] = .until(WallTime(microseconds: 1))
            try air.tell("adapter hci0", "peripheral 1 hci0", "up 1")
            try air.settle()
            if isHeardElsewhere { try air.tell("listen 1 on") }
            try air.tell("live")
            try air.expect(1)
            air.close(strap)
            try air.turn { air.connected.isEmpty }
            if !isHeardElsewhere { try air.turn { (try? air.bluez.tell("calls Disconnect")) == "1" } }
            try air.pass(.milliseconds(100))
            #expect(try air.bluez.tell("calls Disconnect") == (isHeardElsewhere ? "0" : "1"))
        }
    }

    @Test("of two characteristics with one UUID the one that is listened to is read and written")
    func readsTheArmed() throws {
        let air = try Air()
        try air.tell("adapter hci0", "peripheral 1 hci0", "twin 1", "live")
        try air.expect(1)
        var answers: [[UInt8]] = []
        air.source?.read(heart, of: strap) { result in if let bytes = try? result.get() { answers.append(bytes) } }
        try air.turn { !answers.isEmpty }
        #expect(answers == [[99]])
    }

    @Test("paused, nothing is heard; the link stays, and opened it is heard again")
    func pauses() throws {
        let air = try Air()
        try air.populate(1)
        air.pause(strap)
        try air.turn { air.reasons == ["session-paused"] }
        try air.pass(.milliseconds(50))
        #expect(try air.bluez.tell("say 0") == "")
        air.open(strap)
        try air.expect(1)
        #expect(try air.bluez.tell("calls Disconnect") == "0")
        #expect(try air.bluez.tell("say 0") == "1")
    }

    @Test("a bluetoothd that does not list its objects, or not in time, is asked again")
    func asksAgain() throws {
        for fault in ["never", "failed"] {
            let air = try Air()
            try air.tell("fault GetManagedObjects \(fault) 3", "adapter hci0", "peripheral 1 hci0")
            let client = BluezClient(air.line, patience: .milliseconds(100))
            try air.tell("live")
            try air.turn { client.isThere }
            #expect(client.mirror.peripherals.count == 1)
        }
    }

    @Test("a bus that does not say in time who bluetoothd is is asked again")
    func asksForOwnerAgain() throws {
        let air = try Air()
        try air.populate(1)
        air.bus.pause()
        let client = BluezClient(air.line, patience: .milliseconds(100))
        // The bus library uses the kernel's clock.
        _ = try air.loop.turn(for: .milliseconds(150)) { false }
        air.bus.resume()
        try air.turn { client.isThere }
    }

    @Test("a scan that bluetoothd's death caught while it was begun is begun by the next bluetoothd")
    func scansAgain() throws {
        let air = try Air()
        try air.tell("adapter hci0", "fault StartDiscovery exit", "live")
        let scan = try Scan(air)
        try air.turn { scan.client.isThere }
        scan.discovery.begin()
        try air.turn { !scan.client.isThere }
        // Longer than the next try is waited for: it finds no bluetoothd.
        try air.pass(.seconds(1))
        try air.replaceBluez()
        try air.tell("adapter hci0", "live")
        try air.turn { scan.client.mirror.adapters.values.first?.isDiscovering == true }
        #expect(try air.bluez.tell("calls StartDiscovery") == "1")
        #expect(scan.failures.isEmpty)
    }

    @Test("a call to a bluetoothd that is not there is answered at once, and starts none")
    func asksNobody() throws {
        let air = try Air()
        let client = BluezClient(air.line)
        var answers = 0
        client.call("/", BluezInterface.objects, "GetManagedObjects", within: .seconds(5)) { result in
            if case .failure = result { answers += 1 }
        }
        #expect(answers == 1)
    }
}
