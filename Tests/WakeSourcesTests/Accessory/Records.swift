// Devices as udev tells of them, written by hand for the tests of accessories.
@testable import WakeSystem

let uno = "/sys/devices/pci0000:00/0000:00:14.0/usb3/3-8/3-8.2/3-8.2:1.0/tty/ttyACM0"

func device(
    _ path: String, _ subsystem: String = "tty", _ properties: [String: String] = [:],
    action: UdevRecord.Action = .found, sequence: UInt64 = 0, born: Int? = nil
) -> UdevRecord {
    var properties = properties
    if let born { properties["USEC_INITIALIZED"] = String(born) }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    return UdevRecord(
        action: action, path: path, subsystem: subsystem, node: "/dev/\(name)", sequence: sequence,
        properties: properties)
}

/// What udev's rules say of a USB device.
func usb(_ vendor: String, _ product: String, serial: String? = nil, interface: String? = "00") -> [String: String] {
    var properties = ["ID_VENDOR_ID": vendor, "ID_MODEL_ID": product]
    properties["ID_SERIAL_SHORT"] = serial
    properties["ID_USB_INTERFACE_NUM"] = interface
    return properties
}
