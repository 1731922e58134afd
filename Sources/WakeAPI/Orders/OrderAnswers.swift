// Orders to the bridge itself: reading its configuration anew, and simulations for tests.
import WakeControl
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

extension Endpoint {
    static let orders: [Endpoint] = [
        Endpoint(.post("/v1/reload", .operate), "reads profiles, manifests and settings", .json(.named(.reloaded))) {
            api, _ in api.orders.reload()
        },
        Endpoint(
            .post("/v1/simulate", .operate), "makes something happen",
            body: [
                .always("what", .word(Simulation.names)), .perhaps("handler", .name), .perhaps("device", .name),
                .perhaps("level", .word(Simulation.MemoryLevel.allCases.map(\.rawValue))),
                .perhaps("state", .word(["on", "off"])),
            ],
            reads: { asked throws(ControlRefusal) in try Simulation(asked.body) },
            answers: { api, _, simulation throws(ControlRefusal) in try api.orders.simulate(simulation) }),
    ]
}

/// Something that is simulated for a test.
enum Simulation: Hashable, Sendable {
    enum MemoryLevel: String, Hashable, Sendable, CaseIterable { case low, critical }

    case wake(handler: String)
    case expire(handler: String)
    case memory(MemoryLevel)
    case kill(handler: String)
    case disconnect(device: String)
    case sleep(isOn: Bool)
    case heat(isOn: Bool)
    case battery(isOn: Bool)

    static let names = ["wake", "expire", "memory", "kill", "disconnect", "sleep", "heat", "battery"]
}

extension Simulation {
    init(_ body: RequestBody) throws(ControlRefusal) {
        // Keys that another simulation would need are checked too.
        let level = try MemoryLevel(body)
        if try body.text("state") != nil { _ = try body.isOn() }
        for key in ["handler", "device"] { _ = try body.text(key) }
        switch try body.require("what") {
        case "wake": self = .wake(handler: try body.require("handler"))
        case "expire": self = .expire(handler: try body.require("handler"))
        case "kill": self = .kill(handler: try body.require("handler"))
        case "disconnect": self = .disconnect(device: try body.require("device"))
        case "memory": self = .memory(level)
        case "sleep": self = .sleep(isOn: try body.isOn())
        case "heat": self = .heat(isOn: try body.isOn())
        case "battery": self = .battery(isOn: try body.isOn())
        case let other:
            throw .badRequest(
                "unknown-simulation", "'\(other)' cannot be simulated",
                "use one of \(Self.names.joined(separator: ", ")).\(suggestion(for: other, among: Self.names))")
        }
    }
}

extension Simulation.MemoryLevel {
    fileprivate init(_ body: RequestBody) throws(ControlRefusal) {
        let text = try body.text("level") ?? Self.critical.rawValue
        guard let level = Self(rawValue: text) else {
            let known = Self.allCases.map(\.rawValue).joined(separator: " or ")
            throw .badRequest("bad-value", "'\(text)' is no level of memory pressure", "use \(known)")
        }
        self = level
    }
}

/// The outcome of reading all configuration again.
package struct Reload {
    /// Everything that is wrong with it.
    package var errors: [String]
    /// Keys of wakebridge.json5 whose new values are in force now.
    package var applied: [String]
    /// Settings whose new values wait for the next start.
    package var postponed: [String]

    package init(errors: [String] = [], applied: [String] = [], postponed: [String] = []) {
        (self.errors, self.applied, self.postponed) = (errors, applied, postponed)
    }
}

struct OrderAnswers {
    let owner: Owner
    let names: HandlerNames
    let devices: KnownDevices
    let schedule: ScheduleAnswers
    let engine: Engine
    let loop: EventLoop
    private var turn: Turn { names.turn }

    // MARK: Configuration

    /// A path to check may be in a slow file system; the answer waits for that no longer than this.
    private static let inspectionPatience = TimeSpan.seconds(5)

    func reload() -> ControlResponse {
        let reload = owner.daemon.reload()
        return .later { [loop, daemon = owner.daemon] respond in
            var isAnswered = false
            let timer = try? loop.timer(on: .monotonic) { [daemon] in
                guard !isAnswered else { return }
                isAnswered = true
                respond(Self.reloaded(reload, daemon.warnings))
            }
            timer?.arm(at: SystemClock.monotonic() + Self.inspectionPatience)
            daemon.inspect(firing: timer)
        }
    }

    private static func reloaded(_ reload: Reload, _ warnings: [BridgeWarning]) -> ControlResponse {
        .object { writer in
            writer.field("errors", reload.errors)
            writer.field("warnings", warnings.map(\.sentence))
            writer.field("applied", reload.applied)
            writer.field("postponed", reload.postponed)
        }
    }

    // MARK: Simulations

    /// As much as logind's usual delay leaves.
    private static let simulatedSleep = TimeSpan.seconds(4)

    func simulate(_ simulation: Simulation) throws(ControlRefusal) -> ControlResponse {
        switch simulation {
        case .wake(let name): return try simulate(.wake, on: name)
        case .expire(let name): return try simulate(.expire, on: name)
        case .kill(let name): return try simulate(.kill, on: name)
        case .memory(let level):
            turn.ingest(.memory(level == .critical ? .critical : .warning))
            return .done
        case .sleep(let isOn):
            turn.ingest(.systemSleep(isOn ? .preparing(within: Self.simulatedSleep) : .over))
            return .done
        case .heat(let isOn):
            turn.ingest(.thermal(isHot: isOn))
            return .done
        case .battery(let isOn):
            turn.ingest(.power(isOnBattery: isOn))
            return .done
        case .disconnect(let name):
            let stamp = turn.clock.stamp()
            let kind = DeviceEvent.Kind.disconnected(reason: "simulated", folded: 0)
            engine.ingest(DeviceEvent(origin: try devices.device(name).id, kind: kind, stamp: stamp))
            return .done
        }
    }

    func simulate(_ verb: OperatorVerb, on name: String) throws(ControlRefusal) -> ControlResponse {
        for handler in try names.those(meantBy: name, { name throws(ControlRefusal) in try target(of: verb, name) }) {
            turn.ingest(.operated(handler, verb))
        }
        return .done
    }

    private func target(of verb: OperatorVerb, _ name: String) throws(ControlRefusal) -> HandlerID {
        switch verb {
        case .expire: return try names.handler(name, in: [.active], "has no deadline to bring forward")
        case .kill: return try names.handler(name, in: HandlerNames.living, "has no process to kill")
        case .wake:
            try schedule.refuseGated(name)
            return try names.runnable(name)
        case .start, .stop, .attach, .detach, .restart: return try names.handler(name)
        }
    }
}
