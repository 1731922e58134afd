// What the daemon makes happen for a test, when it is asked to: each simulation fed as the real thing would be.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel

extension ControlAnswers {
    /// As much as logind's usual delay leaves.
    private static let simulatedSleep = TimeSpan.seconds(4)

    func simulate(_ simulation: Simulation) throws(ControlRefusal) -> ControlResponse {
        switch simulation {
        case .wake(let name): return operate(try runnable(name), .wake)
        case .expire(let name):
            return operate(try handler(name, in: [.active], "has no deadline to bring forward"), .expire)
        case .kill(let name): return operate(try handler(name, in: Self.living, "has no process to kill"), .kill)
        case .memory(let level):
            bridge.turn.ingest(.memory(level == .critical ? .critical : .warning))
            return .done
        case .sleep(let isOn):
            bridge.turn.ingest(.systemSleep(isOn ? .preparing(within: Self.simulatedSleep) : .over))
            return .done
        case .heat(let isOn):
            bridge.turn.ingest(.thermal(isHot: isOn))
            return .done
        case .battery(let isOn):
            bridge.turn.ingest(.power(isOnBattery: isOn))
            return .done
        case .disconnect(let name):
            let stamp = bridge.turn.clock.stamp()
            let kind = DeviceEvent.Kind.disconnected(reason: "simulated", folded: 0)
            bridge.engine.ingest(DeviceEvent(origin: try device(name), kind: kind, stamp: stamp))
            return .done
        }
    }
}
