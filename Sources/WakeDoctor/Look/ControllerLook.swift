// What the kernel's monitor channel tells of the controllers, added to what sysfs does.
import Glibc
import WakeHCI
import WakeSources
import WakeSystem

extension KernelFacts {
    /// Of this machine only; where it may not be listened to, that is noted and nothing is added.
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
