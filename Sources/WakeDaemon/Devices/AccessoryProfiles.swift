// Which profile knows an attached device: by what udev tells of it and the node that the profile opens, or by what bluetoothd
// tells of it.
import WakeModel
import WakeProfiles
import WakeSources
import WakeSystem

extension ProfileLibrary {
    /// The most particular one; nil where none knows it.
    public func profile(of record: UdevRecord) -> Profile? { index(of: record).map { self[$0] } }

    func index(of record: UdevRecord) -> ProfileIndex? {
        matchAccessory(properties: record.properties) { $0.subsystem == record.subsystem }
    }

    /// What bluetoothd is to bring peripherals back for.
    var peripheralServices: [BluetoothUUID] {
        all.filter { $0.kind == .bluetoothCentral }.flatMap(\.match.services)
    }

    /// Where accessories are listened for: sensors and batteries, which talk every few seconds, only where a profile asks.
    var subsystems: [String] { Set(UdevRecord.nodeSubsystems + all.compactMap(\.subsystem)).sorted() }

    /// Of what bluetoothd knows: a peripheral's profile, or else that of a device with a serial port.
    public func profile(of peripheral: BluezPeripheral) -> Profile? { index(of: peripheral).map { self[$0] } }

    func index(of peripheral: BluezPeripheral) -> ProfileIndex? {
        let services = Array(peripheral.services)
        return match(kind: .bluetoothCentral, services: services, name: peripheral.name)
            ?? (peripheral.services.contains(SerialPeripherals.serialPort)
                ? match(kind: .externalAccessory, services: services, name: peripheral.name) : nil)
    }
}

extension Profile {
    /// Where udev has the devices of which it opens the node. What opens none is a USB device, unless the profile names another
    /// subsystem. Nil for what bluetoothd announces.
    fileprivate var subsystem: String? {
        switch accessory?.node {
        case .serial: "tty"
        case .hid: "hidraw"
        case .input: "input"
        case .some(.none): match.properties.first { $0.name == "SUBSYSTEM" }?.value ?? "usb"
        case .rfcomm, nil: nil
        }
    }
}
