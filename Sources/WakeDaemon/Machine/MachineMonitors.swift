// Watches the machine itself, and reports each change to the turn: memory, heat, power and sleep.
import WakeEngine
import WakeLoop
import WakeSystem

final class MachineMonitors {
    private let turn: Turn
    private let loop: EventLoop
    private let memory: MemoryMonitor
    /// Nil where no limit of heat is configured, or no sensor has one.
    private let thermal: ThermalMonitor?
    /// Nil until a manifest asks for power.
    private var power: PowerMonitor?
    private let sleep: SleepInhibitor

    init(of bridge: Bridge, bus: SystemBus, _ settings: BridgeSettings) throws(SystemError) {
        (turn, loop) = (bridge.turn, bridge.loop)
        memory = try MemoryMonitor(turn: turn, loop: loop, limits: settings.memory)
        thermal = try Self.thermalMonitor(turn, loop, settings.thermal)
        sleep = try SleepInhibitor(turn: turn, loop: loop, bus: bus)
    }

    /// From now on the monitors see decisions and the ends of turns.
    func listen() {
        turn.listeners.add(memory)
        if let thermal { turn.listeners.add(thermal) }
        turn.listeners.observe(sleep)
    }

    private static func thermalMonitor(
        _ turn: Turn, _ loop: EventLoop, _ limit: BridgeSettings.ThermalLimit
    ) throws(SystemError) -> ThermalMonitor? {
        guard limit.isEnabled else { return nil }
        let zones = ThermalZone.all(limit: limit.limitCelsius.map { $0 * 1_000 })
        return try ThermalMonitor(loop: loop, zones: zones) { [unowned turn] in
            turn.ingest(.thermal(isHot: $0))
        }
    }

    /// Called before a handler that requires power can be woken.
    func watchPower() {
        guard power == nil else { return }
        do throws(SystemError) {
            power = try PowerMonitor(loop: loop) { [turn] in turn.ingest(.power(isOnBattery: $0)) }
        } catch {
            Log("power").error(
                "\(error.description); handlers are woken on battery too, whatever their manifests require")
        }
    }
}
