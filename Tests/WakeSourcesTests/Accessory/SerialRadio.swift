// Serial ports over Bluetooth for tests, with a scripted bluetoothd on a bus of the test's own.
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

/// The bridge's accessories, a bluetoothd, and one or more loggers that people have paired and trusted.
final class Radio {
    /// The first one.
    static let logger = "/bluetooth/00:1D:FD:00:00:01"

    let bus: PrivateBus
    var bluez: ScriptedBluez
    let bench: AccessoryBench
    let client: BluezClient
    private let line: SystemBus
    private let serial: SerialPeripherals

    init(
        _ commands: String..., callPatience: TimeSpan = SerialPeripherals.patience,
        pauseAfterDeath: TimeSpan = .seconds(1), arrivalPatience: TimeSpan = .seconds(30),
        replugGrace: TimeSpan = .milliseconds(100)
    ) throws {
        bus = try PrivateBus()
        bluez = try ScriptedBluez(on: bus)
        bench = try AccessoryBench()
        bench.plan = AccessoryPlan(node: .rfcomm, framing: .line, settle: .zero, replugGrace: replugGrace)
        line = SystemBus(on: bench.loop, to: .address(bus.address))
        client = BluezClient(line)
        serial = try SerialPeripherals(
            client, for: bench.source, callPatience: callPatience,
            pauseAfterDeath: BackOff(from: pauseAfterDeath, to: .seconds(3_600)), arrivalPatience: arrivalPatience)
        try line.open()
        try tell(["adapter hci0", "logger 1 hci0"] + commands + ["live"])
    }

    deinit {
        bluez.kill()
        bus.kill()
    }

    func tell(_ commands: [String]) throws { for command in commands { try bluez.tell(command) } }
    func tell(_ commands: String...) throws { try tell(commands) }

    func waitFor(_ story: String...) throws {
        #expect(try bench.turn { bench.story(Self.logger) == story }, "\(bench.story(Self.logger))")
    }

    func wait(until isDone: () throws -> Bool) throws {
        #expect(try bench.turn { (try? isDone()) ?? false }, "\(bench.story())")
    }

    func calls(_ member: String) throws -> Int { Int(try bluez.tell("calls \(member)")) ?? 0 }

    func replaceBluez() throws {
        bluez.kill()
        #expect(try bench.turn { !client.isThere })
        bluez = try ScriptedBluez(on: bus)
    }
}
