// The machine's power, for handlers whose manifests require it: only where one does, and in words for people.
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

final class PowerMonitor {
    private let watch: PowerWatch

    /// Calls `onChange` at each change, the first within this call where the machine runs on battery.
    init(
        loop: EventLoop, root: String = PowerSupplies.root, onChange: @escaping (Bool) -> Void
    ) throws(SystemError) {
        let log = Log("power")
        var isOnBattery = false
        watch = try PowerWatch(on: loop, root: root) { isPowered in
            // On mains is what was taken for true before.
            guard isPowered == isOnBattery else { return }
            isOnBattery = !isPowered
            log.notice(
                isOnBattery
                    ? "the machine runs on battery: handlers whose manifest says require: [\"power\"] are not woken"
                    : "the machine is on mains power again: handlers that waited for it are woken")
            onChange(isOnBattery)
        }
    }
}
