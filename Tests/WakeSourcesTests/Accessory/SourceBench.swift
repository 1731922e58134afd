// A source of accessories whose records are written by hand and whose nodes are real terminals: only udev is played.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeProfiles

@testable import WakeSources
@testable import WakeSystem

/// The device's side of a serial line, and the node of it.
final class Gadget {
    private(set) var master: Int32
    let node: String

    init() throws {
        (master, node) = try Pty.open()
    }

    deinit { hangUp() }

    func say(_ text: String) { say(Array(text.utf8)) }

    func say(_ bytes: [UInt8]) { _ = write(master, bytes, bytes.count) }

    /// What was written to it, without waiting.
    func heard() -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(master, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    func hangUp() {
        if master >= 0 { close(master) }
        master = -1
    }
}

/// Counts the bytes that a gadget has sent and no program has read, through a descriptor opened before the bridge's.
final class WaitingBytes {
    private let node: Int32

    init(of gadget: Gadget) throws {
        node = open(gadget.node, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(node >= 0)
    }

    deinit { close(node) }

    var count: Int32 {
        var count: Int32 = -1
        _ = ioctl(node, UInt(FIONREAD), &count)
        return count
    }
}

/// The kernel's clocks, beside which the system sleeps whenever a test wants it to: nobody waits for what is to wait long.
final class SleepyClock: WakeClock {
    private let clock = RealClock()
    private(set) var slept = TimeSpan.zero

    func now() -> Moment { stamp().moment }

    func stamp() -> Stamp {
        var stamp = clock.stamp()
        stamp.moment.boottime = stamp.moment.boottime + slept
        stamp.wall = stamp.wall + slept
        return stamp
    }

    func sleep(_ span: TimeSpan) { slept = slept + span }
}

final class AccessoryBench {
    private let time: HeldTime?
    let loop: EventLoop
    private(set) lazy var source = makeSource()
    private let sleepyClock = SleepyClock()
    private let registry: AccessoryRegistry
    private var sequence: UInt64 = 0
    private var births: [String: UInt64] = [:]
    fileprivate(set) var known: [String: Device] = [:]
    fileprivate(set) var told: [(source: String, kind: DeviceEvent.Kind)] = []
    fileprivate(set) var heard: [String: Listening] = [:]
    fileprivate(set) var registries: [AccessoryRegistry] = []
    fileprivate(set) var gaps: [Gap] = []
    /// How often it was asked what a device's profile wants.
    fileprivate(set) var plansAsked = 0
    var sessions: [String: LinkSession] = [:]
    var wanted: Set<String> = []
    var profile = "sensor"
    /// Kinds of which no profile knows yet.
    var unknown: Set<String> = []
    var plan = AccessoryPlan(
        node: .serial, framing: .line, settle: .milliseconds(50), replugGrace: .milliseconds(100))

    /// - Parameter time: the time of the loop and this thread; nil for the kernel's.
    init(_ registry: AccessoryRegistry = AccessoryRegistry(), time: HeldTime? = nil) throws {
        self.time = time
        loop = try EventLoop(timers: time ?? KernelTimers())
        self.registry = registry
    }

    private func makeSource() -> AccessorySource {
        // A busy machine opens slowly, which is a gap of its own: `PortMachine`'s stories have it, beside a clock that is played.
        var patience = PortTimeouts()
        patience.promptOpening = .seconds(3_600)
        return try! AccessorySource(
            for: self, planner: BenchPlanner(self), registry: registry, store: BenchStore(self), patience: patience)
    }

    // MARK: Udev

    func record(
        _ action: UdevRecord.Action, port: String = "1", serial: String? = nil, node: String?,
        subsystem: String = "tty",
        name: String = "x", kind: String = "sensor"
    ) -> UdevRecord {
        sequence += 1
        var properties = [
            "ID_VENDOR_ID": "2341", "ID_MODEL_ID": "0043", "ID_USB_INTERFACE_NUM": "00", "SUBSYSTEM": subsystem,
            "KIND": kind,
        ]
        properties["ID_SERIAL_SHORT"] = serial
        let path = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-\(port)/1-\(port):1.0/\(subsystem)/\(name)\(port)"
        if action == .add || action == .found { births[path] = 1_000 + sequence }
        properties["USEC_INITIALIZED"] = births[path].map(String.init)
        return UdevRecord(
            action: action, path: path, subsystem: subsystem, node: node, sequence: sequence, properties: properties)
    }

    func plug(_ gadget: Gadget, port: String = "1", serial: String? = nil) {
        source.apply(.record(record(.add, port: port, serial: serial, node: gadget.node)))
    }

    func unplug(port: String = "1", serial: String? = nil) {
        source.apply(.record(record(.remove, port: port, serial: serial, node: nil)))
    }

    /// The whole system sleeps, and what fell due meanwhile happens now.
    func sleep(_ span: TimeSpan) {
        sleepyClock.sleep(span)
        for source in known.keys.sorted() { self.source.step(source, .tick) }
    }

    // MARK: Looking

    /// `+`, `-unplugged`, `:text`, `gap`, `!undecodable` of one source, or of all.
    func story(_ source: String? = nil) -> [String] {
        told.filter { source == nil || $0.source == source }.map { PortBench.word($0.kind) }
    }

    /// Turns the loop until `isDone`, for ten seconds at most.
    func turn(_ isDone: () -> Bool) throws -> Bool {
        if let time { return try time.pass(.seconds(10), on: loop, until: isDone) }
        return try loop.turn(until: isDone)
    }

    func pause(_ span: TimeSpan) throws {
        if let time { return try time.pass(span, on: loop) }
        let end = SystemClock.monotonic() + span
        while SystemClock.monotonic() < end { try loop.runOnce(timeout: .milliseconds(5)) }
    }
}

/// What the tests have profiles ask of every device.
private final class BenchPlanner: AccessoryPlanner {
    private unowned let bench: AccessoryBench
    init(_ bench: AccessoryBench) { self.bench = bench }

    let subsystems: [String] = []
    func plan(for record: UdevRecord) -> AccessoryMatch? {
        bench.plansAsked += 1
        guard record.subsystem == "tty", let kind = record.properties["KIND"], kind != "none",
            !bench.unknown.contains(kind)
        else { return nil }
        return AccessoryMatch(profile: kind == "sensor" ? bench.profile : kind, plan: bench.plan)
    }
    func plan(for peripheral: BluezPeripheral) -> AccessoryMatch? {
        bench.plan.node == .rfcomm ? AccessoryMatch(profile: "logger", plan: bench.plan) : nil
    }
    func hold(_ matches: [String: AccessoryMatch]) {}
}

/// Keeps every registry that was saved.
private final class BenchStore: AccessoryRegistryStoring {
    private unowned let bench: AccessoryBench
    init(_ bench: AccessoryBench) { self.bench = bench }
    func save(_ registry: AccessoryRegistry) { bench.registries.append(registry) }
    func write() {}
}

extension AccessoryBench: SourceHost {
    func isWatched(_ profile: String) -> Bool { true }
    var clock: any WakeClock { sleepyClock }
    var profiles: ProfileLibrary { ProfileLibrary() }
    var knownDevices: [Device] { Array(known.values) }
    func knownDevice(at uri: String) -> Device? { known[uri] }
    func session(of uri: String) -> LinkSession { sessions[uri] ?? .open }
    func awaitsTrust(_ uri: String) -> Bool { false }
    func listening(to uri: String) -> Listening? { heard[uri] }
    func isWanted(_ uri: String) -> Bool { wanted.contains(uri) }
    func introduce(_ device: Device, by profile: ProfileIndex?) { known[device.uri] = device }
    func raise(_ kind: DeviceEvent.Kind, of uri: String, at stamp: Stamp) {
        told.append((uri, kind))
        if case .gap(let gap) = kind { gaps.append(gap) }
    }
    func record(_ listening: Listening, of uri: String) { heard[uri] = listening }
    func settleSession(of uri: String) { sessions[uri] = nil }
    func forget(_ uri: String) { sessions[uri] = nil }
    func announce(_ notice: Notice) {}
    func requestTurn() {}
}
