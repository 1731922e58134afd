// The known facts about a device beside its number: the texts in its event lines, which manifests match.

public struct Device: Hashable, Sendable {
    /// CloudEvents source and stable identity: `/bluetooth/C0:F1:F2:F3:F4:01`, `/accessory/2341:0043:7583…`.
    public var uri: String
    /// The name that you gave it, or a default made of its profile and address; the `subject` of its events.
    public var alias: String
    /// The profile that matched it, by the profile's folder name.
    public var profile: String?
    public var kind: SourceKind
    /// A bond proves its identity: names, addresses and serial numbers can be copied by another device.
    public var isBonded: Bool
    /// The report descriptor of a HID device whose reports cannot be read without it, up to 4,096 bytes; empty for all
    /// others.
    public var reportDescriptor: [UInt8]

    public init(
        uri: String, alias: String, profile: String?, kind: SourceKind, isBonded: Bool = false,
        reportDescriptor: [UInt8] = []
    ) {
        self.uri = uri
        self.alias = alias
        self.profile = profile
        self.kind = kind
        self.isBonded = isBonded
        self.reportDescriptor = reportDescriptor
    }
}

extension Device {
    static let bluetoothPrefix = "/bluetooth/"

    /// The URI of a device reached by radio, as a peripheral or as a serial port; `address` is in upper case, as in BlueZ.
    public static func uri(ofBluetooth address: String) -> String { bluetoothPrefix + address }

    /// The address in such a URI; nil for a device that udev announces.
    public static func bluetoothAddress(in uri: String) -> String? {
        uri.hasPrefix(bluetoothPrefix) ? String(uri.dropFirst(bluetoothPrefix.count)) : nil
    }
}
