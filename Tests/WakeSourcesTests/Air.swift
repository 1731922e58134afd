// A source on a real bus with a scripted bluetoothd, and the books of every peripheral on it.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

@testable import WakeSources

final class Air {
    let time: HeldTime
    let loop: EventLoop
    let directory: String
    private(set) var bus: PrivateBus
    private(set) var bluez: ScriptedBluez
    private(set) var line: SystemBus
    private(set) var source: BluetoothSource?
    private let monitor: HCIMonitor
    let counted = CountedClock()
    var clock: any WakeClock { counted }
    private lazy var planner = AirPlanner(self)
    /// The controller's side of the monitor channel.
    private let radio: FileDescriptor
    /// What the kernel was asked for: opcode, controller, parameters.
    private(set) var orders: [(opcode: UInt16, controller: UInt16, bytes: [UInt8])] = []
    /// What it answers one after the other, and the last for ever; as a rule that we may not.
    /// Nil where it is still at work.
    var kernelStatus: [UInt8?] = [0x14]
    private var kernel: MgmtClient?

    fileprivate(set) var accounts: [String: LinkAccounts] = [:]
    fileprivate(set) var connected: Set<String> = []
    fileprivate(set) var reasons: [String] = []
    fileprivate(set) var values = 0
    fileprivate(set) var gaps = 0
    /// What each part said last.
    fileprivate(set) var latest: [Channel: [UInt8]] = [:]
    fileprivate(set) var adapters: [String: Bool] = [:]
    fileprivate(set) var attentions: [Attention] = []
    var sessions: [String: LinkSession] = [:]
    var matches: (BluezPeripheral) -> Bool = { $0.services.contains(BluetoothUUID(short: 0x180d)) }
    var notify = [heart]
    var read: [CharacteristicName] = []
    var optional: Set<CharacteristicName> = []
    var framing: Framing?
    var questions = AskPlan()
    var wanted: Set<String> = []

    private let patience: LinkTimeouts
    fileprivate let pins: AdapterPins

    init(patience: LinkTimeouts = LinkTimeouts(), pins: AdapterPins = AdapterPins()) throws {
        self.patience = patience
        self.pins = pins
        directory = try Directory.makeTemporary(prefix: "wakeair")
        time = HeldTime()
        loop = try EventLoop(timers: time)
        let address = "unix:path=\(directory)/socket"
        bus = try PrivateBus(at: address)
        bluez = try ScriptedBluez(on: bus)
        time.peers = [bus, bluez]
        line = SystemBus(on: loop, to: .address(address))
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends) == 0)
        radio = FileDescriptor(owning: ends[0])
        monitor = try HCIMonitor(
            MonitorSocket(owning: FileDescriptor(owning: ends[1]), packetBytes: 518), on: loop)
        kernel = try MgmtClient(on: loop) { [unowned self] opcode, controller, bytes in
            orders.append((opcode, controller, bytes))
            return kernelStatus.count > 1 ? kernelStatus.removeFirst() : kernelStatus[0]
        }
        try begin()
    }

    private func begin() throws {
        source = try BluetoothSource(
            for: self, BluezClient(line), planner: planner, patience: patience, air: monitor, kernel: kernel
        )
        try line.open()
    }

    deinit {
        source = nil
        bluez.kill()
        bus.kill()
        Directory.removeTree(directory)
    }

    // MARK: What a bridge keeps

    var knownDevices: [Device] = []
    var profiles = ProfileLibrary()
    fileprivate(set) var awaitedTrust: Set<String> = []
    var listening: [String: Listening] = [:]
    /// What of it was told in its order: whether a device is bonded, and what it wants a person for.
    fileprivate(set) var proofs: [String] = []

    func close(_ source: String) { set(.closed, of: source) }
    func pause(_ source: String) { set(.paused, of: source) }
    func open(_ source: String) { set(.open, of: source) }
    private func set(_ session: LinkSession, of source: String) {
        sessions[source] = session
        if session == .open { awaitedTrust.insert(source) } else { awaitedTrust.remove(source) }
        self.source?.setSession(session, of: source)
    }

    // MARK: What happens

    /// An HCI event of the first controller passes on the air.
    func pass(_ code: UInt8, _ body: [UInt8]) throws {
        try pass(record: 3, [code, UInt8(body.count)] + body)
    }

    private func pass(record opcode: UInt8, _ bytes: [UInt8]) throws {
        _ = try radio.send(([opcode, 0, 0, 0, UInt8(bytes.count), 0] + bytes)[...])
    }

    /// LE Connection Complete that tells why there is none, as of nobody.
    func passFailure(_ status: UInt8 = 0x3e) throws {
        try pass(0x3e, [1, status] + [UInt8](repeating: 0, count: 17))
    }

    /// The kernel has the first controller scan.
    func passScan() throws { try pass(record: 2, [0x0c, 0x20, 2, 1, 1]) }

    /// LE Connection Complete with peripheral `number`, whose handle that is too.
    func passConnection(_ number: UInt8) throws {
        try pass(
            0x3e, [1, 0, number, 0, 0, 1] + Self.address(number) + [UInt8](repeating: 0, count: 7))
    }

    static func address(_ number: UInt8) -> [UInt8] { [number, 0, 0, 0, 0xde, 0xc0] }

    /// Sends each command a moment after the one before.
    func tell(_ commands: String...) throws {
        for command in commands {
            time.move(by: .milliseconds(1))
            try bluez.tell(command)
        }
    }

    /// An adapter with so many peripherals, and bluetoothd in its name; returns when all are ready.
    func populate(_ count: Int, adapter: String = "hci0", state: String = "down") throws {
        try tell("adapter \(adapter)")
        for number in 1...count { try tell("peripheral \(number) \(adapter) \(state)") }
        try tell("live")
        try expect(count)
    }

    /// The services of all are resolved anew from now on: each gets a gap.
    func renew() { for source in accounts.keys { accounts[source]?.renew() } }

    func expect(_ count: Int) throws { try turn { connected.count == count } }

    /// Another bridge takes its place, which knows no more than what it kept.
    func replaceBridge() throws {
        source = nil
        line = SystemBus(on: loop, to: .address("unix:path=\(directory)/socket"))
        try begin()
    }

    /// Another bluetoothd, which is not there yet.
    func replaceBluez() throws {
        bluez.kill()
        bluez = try ScriptedBluez(on: bus)
        time.peers = [bus, bluez]
    }

    func replaceBus() throws {
        bus.kill()
        try turn { connected.isEmpty }
        bluez.kill()
        bus = try PrivateBus(at: "unix:path=\(directory)/socket")
        bluez = try ScriptedBluez(on: bus)
        time.peers = [bus, bluez]
    }

    /// Everybody says a word; who is heard is in the books.
    func say() throws {
        try hearOut()
        let number = accounts.values.first?.words.count ?? 0
        let now = clock.stamp().wall
        let heard = try bluez.tell("say \(number)").split(separator: " ").compactMap { UInt8($0) }
        let sources = Set(heard.map { "/bluetooth/C0:DE:00:00:00:" + [$0].hexadecimal.uppercased() })
        for source in accounts.keys {
            let isHeard = sources.contains(source)
            _ = accounts[source]?.say(on: heart, at: now, wasPassedOn: isHeard, isOwed: true)
        }
        time.move(by: .milliseconds(1))
        try settle()
    }

    /// Waits until all that bluetoothd has sent so far is handled, and no more. If bluetoothd's end were noticed after
    /// a value that it sent, that value would be outside of its gap.
    private func hearOut() throws {
        var isAnswered = false
        let ping = BusCall("org.bluez", "/", "org.freedesktop.DBus.Peer", "Ping", [])
        guard let connection = line.connection else { return }
        connection.call(ping, within: .seconds(60)) { _ in isAnswered = true }
        #expect(try loop.turn(for: .seconds(60)) { isAnswered })
        while try loop.runOnce(timeout: .zero) {}
        time.move(by: .milliseconds(1))
    }

    /// Waits until bus, bluetoothd and bridge have no more messages for each other; no time passes.
    func settle() throws { try time.settle(loop) }

    /// Moves time by the span, and runs all that is due in it.
    func pass(_ span: TimeSpan) throws { try time.pass(span, on: loop) }

    /// Whether no timer fires in an hour, once current work is over.
    func comesToRest() throws -> Bool {
        try pass(.seconds(60))
        let before = time.fired
        try pass(.seconds(3_600))
        return time.fired == before
    }

    /// Moves time until the condition is true, up to a limit that only a fault reaches.
    func turn(within span: TimeSpan = .seconds(10), until condition: () -> Bool) throws {
        let hasCome = try time.pass(span, on: loop, until: condition)
        #expect(hasCome)
    }

    /// So many values in all: two processes pass them on, so they are waited for; no more come then.
    func expectValues(_ count: Int) throws {
        try turn { values == count }
        try settle()
        #expect(values == count)
    }

    /// Bluetoothd is called so once, and not again before it has been quiet for so long.
    func expectOneCall(of member: String, quiet: TimeSpan) throws {
        try turn { (try? bluez.tell("calls \(member)")) == "1" }
        try pass(quiet)
        #expect(try bluez.tell("calls \(member)") == "1")
    }

    func checkBooks() throws {
        try turn { !accounts.values.contains { $0.isAwaited } }
        try settle()
        for source in accounts.keys.sorted() {
            accounts[source]?.close()
            let complaints = accounts[source]?.complaints ?? []
            #expect(complaints.isEmpty, "\(source): \(complaints.prefix(3))")
        }
    }
}

/// The real clock, which counts the steps of links: each takes a stamp.
final class CountedClock: WakeClock {
    private let real = RealClock()
    private(set) var stamps = 0

    func now() -> Moment { real.now() }
    func stamp() -> Stamp {
        stamps += 1
        return real.stamp()
    }
}

/// What the tests have profiles ask of every peripheral.
private final class AirPlanner: PeripheralPlanner {
    private unowned let air: Air
    init(_ air: Air) { self.air = air }

    let services = [BluetoothUUID(short: 0x180d)]
    var pins: AdapterPins { air.pins }
    func plan(for peripheral: BluezPeripheral) -> BluetoothPlan? {
        guard air.matches(peripheral) else { return nil }
        var link = LinkPlan(notify: air.notify, read: air.read, optional: air.optional, ask: air.questions)
        link.framings[heart] = air.framing.map { LinkPlan.ChannelFraming($0, limit: 64) }
        return BluetoothPlan(profile: "strap", link: link)
    }
    func hold(_ plans: [String: BluetoothPlan]) {}
}

extension Air: SourceHost {
    func isWatched(_ profile: String) -> Bool { true }
    func knownDevice(at uri: String) -> Device? { knownDevices.first { $0.uri == uri } }
    func session(of uri: String) -> LinkSession { sessions[uri] ?? .open }
    func awaitsTrust(_ uri: String) -> Bool { awaitedTrust.contains(uri) }
    func listening(to uri: String) -> Listening? { listening[uri] }
    func isWanted(_ uri: String) -> Bool { wanted.contains(uri) }
    func introduce(_ device: Device, by profile: ProfileIndex?) {
        proofs.append("\(device.alias) \(device.isBonded ? "bonded" : "not bonded")")
        if accounts[device.uri] == nil { accounts[device.uri] = LinkAccounts() }
    }
    func raise(_ kind: DeviceEvent.Kind, of uri: String, at stamp: Stamp) {
        accounts[uri]?.raise(kind, at: stamp.wall)
        switch kind {
        case .connected: connected.insert(uri)
        case .disconnected(let reason, _):
            connected.remove(uri)
            reasons.append(reason)
        case .data(let channel, let bytes):
            values += 1
            latest[channel] = bytes
        case .attention(let attention, let detail):
            attentions.append(attention)
            proofs.append(attention.rawValue)
            #expect(attention != .bondInvalid || detail.contains("wakebridge pair"))
        case .gap: gaps += 1
        case .occasion: break
        }
    }
    func record(_ listening: Listening, of uri: String) { self.listening[uri] = listening }
    func settleSession(of uri: String) {
        awaitedTrust.remove(uri)
        sessions[uri] = nil
    }
    func forget(_ uri: String) {}
    func announce(_ notice: Notice) {
        if case .bridge(let condition, let detail) = notice { adapters[detail] = condition == "adapter-up" }
    }
    func requestTurn() {}
}
