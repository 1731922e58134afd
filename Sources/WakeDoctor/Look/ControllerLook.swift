// Adds to the facts of sysfs what the kernel's monitor channel reports about the controllers.
import Glibc
import WakeHCI
import WakeSources
import WakeSystem

extension KernelFacts {
    /// For this machine only. Where the channel may not be opened, that is recorded and nothing is added.
    public mutating func listen() {
        do throws(SystemError) {
            for controller in try AirMonitor.controllersNow() { add(controller) }
        } catch {
            isMonitorDenied = [EPERM, EACCES].contains(error.errno.code)
        }
    }

    mutating func add(_ controller: AirController) {
        let name = controller.name ?? "hci\(controller.index)"
        guard let maker = controller.maker else { return }
        controllers[name]?.maker = maker
    }
}
