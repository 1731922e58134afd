// What is known about a device beside its number: the texts in its event lines, which manifests match.

/// How a device reaches the bridge; also the mode that a handler must declare to be woken for it.
public enum DeviceMode: String, Hashable, Sendable, CaseIterable {
    case bluetoothCentral = "bluetooth-central"
    case externalAccessory = "external-accessory"
}

public struct Device: Hashable, Sendable {
    /// CloudEvents source and stable identity: `/bluetooth/C0:F1:F2:F3:F4:01`, `/accessory/2341:0043:7583…`.
    public var source: String
    /// The name that you gave it, or a default made of its profile and address; the `subject` of its events.
    public var alias: String
    /// The profile that matched it, by the profile's folder name.
    public var profile: String?
    public var mode: DeviceMode
    /// A bond proves its identity: names, addresses and serial numbers can be copied by another device.
    public var isBonded: Bool

    public init(source: String, alias: String, profile: String?, mode: DeviceMode, isBonded: Bool = false) {
        self.source = source
        self.alias = alias
        self.profile = profile
        self.mode = mode
        self.isBonded = isBonded
    }
}

extension Device {
    private static let ofBluetooth = "/bluetooth/"

    /// The URI of a device reached by radio, as a peripheral or as a serial port; `address` is in upper case, as in BlueZ.
    public static func source(ofBluetooth address: String) -> String { ofBluetooth + address }

    /// The address in such a URI; nil for a device that udev announces.
    public static func bluetoothAddress(in source: String) -> String? {
        source.hasPrefix(ofBluetooth) ? String(source.dropFirst(ofBluetooth.count)) : nil
    }
}
