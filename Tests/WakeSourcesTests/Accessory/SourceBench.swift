// A source of accessories whose records are written by hand and whose nodes are real terminals: only udev is played.
import Glibc
import TestBench
import Testing
import WakeLoop
import WakeModel

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

/// The kernel's clocks, beside which the system sleeps whenever a test wants it to: nobody waits for what is to wait long.
final class SleepyClock {
    private let clock = RealClock()
    private(set) var slept = TimeSpan.zero

    func stamp() -> Stamp {
        var stamp = clock.stamp()
        stamp.moment.boottime = stamp.moment.boottime + slept
        stamp.wall = stamp.wall + slept
        return stamp
    }

    func sleep(_ span: TimeSpan) { slept = slept + span }
}

final class AccessoryBench: AccessoryHost {
    let loop: EventLoop
    let source: AccessorySource
    private let clock = SleepyClock()
    private var sequence: UInt64 = 0
    private var births: [String: UInt64] = [:]
    private(set) var known: [String: Device] = [:]
    private(set) var told: [(source: String, kind: DeviceEvent.Kind)] = []
    private(set) var heard: [String: Listening] = [:]
    private(set) var registries: [AccessoryRegistry] = []
    private(set) var gaps: [Gap] = []
    /// How often it was asked what a device's profile wants.
    private(set) var plansAsked = 0
    var sessions: [String: LinkSession] = [:]
    var wanted: Set<String> = []
    var profile = "sensor"
    /// Kinds of which no profile knows yet.
    var unknown: Set<String> = []
    var plan = AccessoryPlan(
        node: .serial, framing: .line, settle: .milliseconds(50), replugGrace: .milliseconds(100))

    init(_ registry: AccessoryRegistry = AccessoryRegistry()) throws {
        loop = try EventLoop()
        let clock = clock
        source = try AccessorySource(on: loop, registry: registry) { clock.stamp() }
        source.host = self
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
        source.take(.record(record(.add, port: port, serial: serial, node: gadget.node)))
    }

    func unplug(port: String = "1", serial: String? = nil) {
        source.take(.record(record(.remove, port: port, serial: serial, node: nil)))
    }

    /// The whole system sleeps, and what fell due meanwhile happens now.
    func sleep(_ span: TimeSpan) {
        clock.sleep(span)
        for source in known.keys.sorted() { self.source.step(source, .tick) }
    }

    // MARK: The host

    func plan(for record: UdevRecord) -> AccessoryMatch? {
        plansAsked += 1
        guard record.subsystem == "tty", let kind = record.properties["KIND"], kind != "none", !unknown.contains(kind)
        else { return nil }
        return AccessoryMatch(profile: kind == "sensor" ? profile : kind, plan: plan)
    }
    func plan(for peripheral: BluezPeripheral) -> AccessoryMatch? {
        plan.node == .rfcomm ? AccessoryMatch(profile: "logger", plan: plan) : nil
    }
    func alias(of source: String) -> String? { known[source]?.alias }
    func session(of source: String) -> LinkSession { sessions[source] ?? .open }
    func listening(to source: String) -> Listening? { heard[source] }
    func isWanted(_ source: String) -> Bool { wanted.contains(source) }
    func accessory(knows device: Device, by match: AccessoryMatch) { known[device.uri] = device }
    func accessory(_ source: String, did kind: DeviceEvent.Kind, at stamp: Stamp) {
        told.append((source, kind))
        if case .gap(let gap) = kind { gaps.append(gap) }
    }
    func accessory(_ source: String, isHeard listening: Listening) { heard[source] = listening }
    func accessory(isForgotten source: String) { sessions[source] = nil }
    func accessories(are registry: AccessoryRegistry) { registries.append(registry) }

    // MARK: Looking

    /// `+`, `-unplugged`, `:text`, `gap`, `!undecodable` of one source, or of all.
    func story(_ source: String? = nil) -> [String] {
        told.filter { source == nil || $0.source == source }.map { PortBench.word($0.kind) }
    }

    /// Turns the loop until `isDone`, for ten seconds at most.
    func turn(_ isDone: () -> Bool) throws -> Bool { try loop.turn(until: isDone) }

    func pause(_ span: TimeSpan) throws {
        let end = SystemClock.monotonic() + span
        while SystemClock.monotonic() < end { try loop.runOnce(timeout: .milliseconds(5)) }
    }
}
