// Which properties a device passes to devices that are part of it, for libudev and for readers of /sys alike.

/// A device's subsystem and, where it has one, its type: `usb` and `usb_interface`.
public struct UdevKind: Hashable, Sendable {
    public var subsystem: String?
    public var type: String?

    public init(subsystem: String?, type: String?) {
        self.subsystem = subsystem
        self.type = type
    }

    /// Devices that a node is part of, not merely connected through: no hub, no controller.
    private static let lending: Set<String> = [
        "hid", "input", "usb", "usb-serial", "bluetooth", "serio", "serial", "serial-base", "platform", "amba", "pnp",
        "acpi",
        "i2c", "spi", "iio", "rmi4",
    ]

    public var lends: Bool { subsystem.map(Self.lending.contains) ?? false }

    /// Above it are hubs and controllers, or the radio, whose names and serial numbers are not the accessory's.
    public var isOutermost: Bool {
        switch subsystem {
        case "usb": type == "usb_device"
        case "bluetooth": true
        default: false
        }
    }

    /// Attributes with the names that udev's own rules give them, for where those have not run.
    public var attributes: KeyValuePairs<String, String> {
        switch (subsystem, type) {
        case ("usb", "usb_device"):
            [
                "idVendor": "ID_VENDOR_ID", "idProduct": "ID_MODEL_ID", "serial": "ID_SERIAL_SHORT",
                "manufacturer": "ID_VENDOR", "product": "ID_MODEL",
            ]
        case ("usb", "usb_interface"): ["bInterfaceNumber": "ID_USB_INTERFACE_NUM"]
        // One interface may have several lines.
        case ("usb-serial", _): ["port_number": "USB_SERIAL_PORT"]
        default: [:]
        }
    }

    /// Properties that every device has itself and does not inherit.
    private static let ownOnly: Set<String> = [
        "DEVPATH", "DEVNAME", "DEVMODE", "MAJOR", "MINOR", "USEC_INITIALIZED", "SUBSYSTEM", "DEVTYPE", "DRIVER",
        "MODALIAS",
        "TAGS", "CURRENT_TAGS", "DEVLINKS", "DEVPATH_OLD", "UDEV_DATABASE_VERSION", "ID_PROCESSING",
    ]

    public static func isLent(_ property: String) -> Bool { !ownOnly.contains(property) }
}
