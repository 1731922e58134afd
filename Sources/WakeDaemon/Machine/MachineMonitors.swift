// Watches the machine itself, and reports each change to the turn: memory, heat, power and sleep.
import WakeEngine
import WakeLoop
import WakeSystem

final class MachineMonitors {
    private let bridge: Bridge
    private let memory: MemoryMonitor
    /// Nil where no limit of heat is configured, or no sensor has one.
    private let thermal: ThermalMonitor?
    /// Nil until a manifest asks for power.
    private var power: PowerMonitor?
    private let sleep: SleepInhibitor

    init(of bridge: Bridge, bus: SystemBus, _ settings: BridgeSettings) throws(SystemError) {
        self.bridge = bridge
        memory = try MemoryMonitor(turn: bridge.turn, loop: bridge.loop, limits: settings.memory)
        thermal = try Self.thermalMonitor(bridge, settings.thermal)
        sleep = try SleepInhibitor(turn: bridge.turn, loop: bridge.loop, bus: bus)
    }

    /// From now on the monitors see decisions and the ends of turns.
    func listen() {
        bridge.turn.listeners.add(memory)
        if let thermal { bridge.turn.listeners.add(thermal) }
        bridge.turn.listeners.observe(sleep)
    }

    private static func thermalMonitor(
        _ bridge: Bridge, _ limit: BridgeSettings.ThermalLimit
    ) throws(SystemError) -> ThermalMonitor? {
        guard limit.isEnabled else { return nil }
        let zones = ThermalZone.all(limit: limit.limitCelsius.map { $0 * 1_000 })
        let turn = bridge.turn
        return try ThermalMonitor(loop: bridge.loop, zones: zones) { [unowned turn] in
            turn.ingest(.thermal(isHot: $0))
        }
    }

    /// Called before a handler that requires power can be woken.
    func watchPower() {
        guard power == nil else { return }
        let turn = bridge.turn
        do throws(SystemError) {
            power = try PowerMonitor(loop: bridge.loop) { turn.ingest(.power(isOnBattery: $0)) }
        } catch {
            Log("power").error(
                "\(error.description); handlers are woken on battery too, whatever their manifests require")
        }
    }
}
