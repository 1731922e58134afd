// What a device lends to those that are part of it: for whoever asks libudev, and for whoever reads the files of /sys.

/// A device by its subsystem and, where it says one, its type: `usb` and `usb_interface`.
public struct UdevKind: Hashable, Sendable {
    public var subsystem: String?
    public var type: String?

    public init(subsystem: String?, type: String?) {
        self.subsystem = subsystem
        self.type = type
    }

    /// Devices that a node is part of, and not merely behind: no hub, no controller.
    private static let lending: Set<String> = [
        "hid", "input", "usb", "usb-serial", "bluetooth", "serio", "serial", "serial-base", "platform", "amba", "pnp",
        "acpi",
        "i2c", "spi", "iio", "rmi4",
    ]

    public var lends: Bool { subsystem.map(Self.lending.contains) ?? false }

    /// Beyond it are hubs and controllers, or the radio, whose names and serial numbers are not the accessory's.
    public var isOutermost: Bool {
        switch subsystem {
        case "usb": type == "usb_device"
        case "bluetooth": true
        default: false
        }
    }

    /// Attributes with the names that udev's own rules give them, for where those have not run or were not asked.
    public var attributes: KeyValuePairs<String, String> {
        switch (subsystem, type) {
        case ("usb", "usb_device"):
            [
                "idVendor": "ID_VENDOR_ID", "idProduct": "ID_MODEL_ID", "serial": "ID_SERIAL_SHORT",
                "manufacturer": "ID_VENDOR", "product": "ID_MODEL",
            ]
        case ("usb", "usb_interface"): ["bInterfaceNumber": "ID_USB_INTERFACE_NUM"]
        // Several lines of one interface.
        case ("usb-serial", _): ["port_number": "USB_SERIAL_PORT"]
        default: [:]
        }
    }

    /// What every device says of itself, and nobody inherits.
    private static let ownOnly: Set<String> = [
        "DEVPATH", "DEVNAME", "DEVMODE", "MAJOR", "MINOR", "USEC_INITIALIZED", "SUBSYSTEM", "DEVTYPE", "DRIVER",
        "MODALIAS",
        "TAGS", "CURRENT_TAGS", "DEVLINKS", "DEVPATH_OLD", "UDEV_DATABASE_VERSION", "ID_PROCESSING",
    ]

    public static func isLent(_ property: String) -> Bool { !ownOnly.contains(property) }
}
