// Watches the machine itself, and reports each change to the turn: memory, heat, power and sleep.
import WakeAgenda
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

final class MachineMonitors {
    private let turn: Turn
    private let memory: MemoryMonitor
    /// Nil where no limit of heat is configured, or no sensor has one.
    private let thermal: ThermalMonitor?
    private let watches: ConditionWatches
    /// A manifest has asked for power.
    private var watchesPower = false
    private let sleep: SleepInhibitor

    init(
        of bridge: Bridge, bus: SystemBus, _ watches: ConditionWatches, _ settings: BridgeSettings
    ) throws(SystemError) {
        let (turn, loop) = (bridge.turn, bridge.loop)
        (self.turn, self.watches) = (turn, watches)
        memory = try MemoryMonitor(turn: turn, loop: loop, limits: settings.memory)
        thermal = try ThermalMonitor(loop: loop, watches) { turn.ingest(.thermal(isHot: $0)) }
        sleep = try SleepInhibitor(turn: turn, loop: loop, bus: bus)
    }

    /// From now on the monitors see decisions and the ends of turns.
    func listen() {
        turn.listeners.add(memory)
        if let thermal { turn.listeners.add(thermal) }
        turn.listeners.observe(sleep)
    }

    /// Called before a handler that requires power can be woken. On mains is what the core takes for true.
    func watchPower() {
        guard !watchesPower else { return }
        watchesPower = true
        let (turn, log) = (turn, Log("power"))
        var isOnBattery = false
        watches.open(.power, for: .core) { isPowered in
            guard isPowered == isOnBattery else { return }
            isOnBattery = !isPowered
            log.notice(
                isOnBattery
                    ? "the machine runs on battery: handlers whose manifest says require: [\"power\"] are not woken"
                    : "the machine is on mains power again: handlers that waited for it are woken")
            turn.ingest(.power(isOnBattery: isOnBattery))
        }
    }
}
