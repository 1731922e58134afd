// The source of broadcasts on a real bus with a scripted bluetoothd, and all that it tells the bridge.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeSources

final class BroadcastAir {
    let time = HeldTime()
    let loop: EventLoop
    let directory: String
    let clock: any WakeClock = RealClock()
    private(set) var bus: PrivateBus
    private(set) var bluez: ScriptedBluez
    let line: SystemBus
    private(set) var source: BroadcastSource?
    private let rules: BroadcastRules
    let profiles: ProfileLibrary

    var namings: [DeviceNaming] = []
    var beacons: Set<BeaconPattern> = []
    /// In their order: `tag-0001 +`, `tag-0001 07`, `region inside`.
    private(set) var told: [String] = []
    private var names: [String: String] = [:]

    private static let tag = """
        {name: "tag", title: "A tag", mode: "bluetooth-central", match: {broadcast: [{company: "0499"}]},
         advertisement: {manufacturer_data: {"0499": {fields: [{name: "n", type: "uint8"}]}}}}
        """
    /// Anyone may send it.
    private static let mark = """
        {name: "mark", title: "A mark", mode: "bluetooth-central",
         match: {broadcast: [{company: "004c", length: 2}], gives_way: true},
         advertisement: {manufacturer_data: {"004c": {fields: [{name: "n", type: "uint16"}]}}}}
        """
    /// Part of its value stands where the company's number should be.
    private static let odd = """
        {name: "odd", title: "An odd one", mode: "bluetooth-central",
         match: {broadcast: [{company: "any", length: 4, at: {"0": "c2"}}]},
         advertisement: {manufacturer_data: {any: {fields: [{name: "head", type: "bytes", length: 4}]}}}}
        """

    /// - Parameter others: the profiles beside the tag. A monitor has no pattern for the odd one.
    init(_ rules: BroadcastRules = BroadcastRules(), others: [String] = []) throws {
        self.rules = rules
        directory = try Directory.makeTemporary(prefix: "wakecast")
        loop = try EventLoop(timers: time)
        let address = "unix:path=\(directory)/socket"
        bus = try PrivateBus(at: address)
        bluez = try ScriptedBluez(on: bus)
        time.peers = [bus, bluez]
        line = SystemBus(on: loop, to: .address(address))
        let texts = ["tag": Self.tag, "mark": Self.mark, "odd": Self.odd].filter {
            $0.key == "tag" || others.contains($0.key)
        }
        profiles =
            ProfileLibrary.load(
                texts.map { .init(name: $0.key, file: $0.key, text: Array($0.value.utf8)) }
            ).library
        source = try BroadcastSource(
            for: self, BluezClient(line), rules: rules, stateDirectory: directory, ear: nil, mayMonitor: true)
        try line.open()
        source?.start()
    }

    deinit {
        source = nil
        bluez.kill()
        bus.kill()
        Directory.removeTree(directory)
    }

    /// An adapter, and bluetoothd in its name.
    func begin(_ adapter: String) throws {
        try bluez.tell(adapter)
        try bluez.tell("live")
    }

    /// Until it has said so.
    func expect(_ answer: String, to question: String) throws {
        try turn { (try? bluez.tell(question)) == answer }
    }

    func say(_ address: String, company: String = "0499", _ data: String) throws -> String {
        try bluez.tell("broadcast hci0 \(address) \(company) \(data)")
    }

    /// Moves time until the condition is true, up to a limit that only a fault reaches.
    func turn(within span: TimeSpan = .seconds(10), until condition: () -> Bool) throws {
        let hasCome = try time.pass(span, on: loop, until: condition)
        #expect(hasCome, "\(told)")
    }

    /// Waits until bus, bluetoothd and bridge have no more messages for each other; no time passes.
    func settle() throws { try time.settle(loop) }
}

extension BroadcastAir: SourceHost {
    func isWatched(_ profile: String) -> Bool { true }
    var knownDevices: [Device] { [] }
    func knownDevice(at uri: String) -> Device? { nil }
    func session(of uri: String) -> LinkSession { .open }
    func awaitsTrust(_ uri: String) -> Bool { false }
    func listening(to uri: String) -> Listening? { nil }
    func isWanted(_ uri: String) -> Bool { false }
    func introduce(_ device: Device, by profile: ProfileIndex?) { names[device.uri] = device.alias }
    func raise(_ kind: DeviceEvent.Kind, of uri: String, at stamp: Stamp) {
        let name = names[uri] ?? uri
        switch kind {
        case .connected: told.append("\(name) +")
        case .disconnected: told.append("\(name) -")
        case .data(_, let bytes): told.append("\(name) \(bytes.suffix(1).hexadecimal)")
        case .gap, .attention, .occasion: told.append("\(name) ?")
        }
    }
    func report(_ presence: RegionPresence, of beacon: BeaconPattern) { told.append("region \(presence.rawValue)") }
    func record(_ listening: Listening, of uri: String) {}
    func settleSession(of uri: String) {}
    func forget(_ uri: String) {}
    func announce(_ notice: Notice) {}
    func requestTurn() {}
}
