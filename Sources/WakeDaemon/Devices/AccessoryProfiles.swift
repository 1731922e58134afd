// Which profile knows an attached device: by what udev tells of it, and by the node that the profile opens.
import WakeModel
import WakeProfiles
import WakeSystem

extension ProfileLibrary {
    /// The most particular one; nil where none knows it.
    public func profile(of record: UdevRecord) -> Profile? {
        matchAccessory(properties: record.properties) { $0.accessory.map { record.fits($0) } ?? false }.map { self[$0] }
    }
}

extension UdevRecord {
    /// Whether its node is the one that such a plan opens. What opens none is a USB device, unless its profile names another
    /// subsystem.
    func fits(_ plan: AccessoryPlan) -> Bool {
        switch plan.node {
        case .serial: subsystem == "tty"
        case .hid: subsystem == "hidraw"
        case .input: subsystem == "input"
        case .none: !["tty", "hidraw", "input"].contains(subsystem)
        }
    }
}
