// The adapter on which the bridge watches a peripheral, if an operator has set it: for the whole bridge, or for one
// device.
import WakeModel

public struct AdapterPins: Hashable, Sendable {
    /// The adapter's address, in upper case; nil for any.
    public var ofBridge: String?
    /// By the device's alias, address or URI, as they were written. It counts before that of the bridge.
    public var ofDevices: [String: String] = [:]

    public init() {}

    /// An address means the same in small letters, alone and in a URI.
    private static func inOneForm(_ name: String) -> String {
        Device.bluetoothAddress(in: name).map { "/bluetooth/" + $0.uppercased() }
            ?? (name.split(separator: ":", omittingEmptySubsequences: false).count == 6 ? name.uppercased() : name)
    }

    /// The names that the peripheral may have. One without a name is called after its profile, which shows later.
    func names(of peripheral: BluezPeripheral, profiles: some Collection<String>) -> [String] {
        let fixed = [peripheral.alias, peripheral.address, peripheral.uri]
        return ofDevices.isEmpty ? fixed : fixed + profiles.map { peripheral.deviceAlias(profile: $0) }
    }

    /// - Parameter names: the device's alias, address and URI.
    func allow(_ adapter: String?, for names: [String]) -> Bool {
        let pinned = names.lazy.compactMap(pin).first ?? ofBridge
        return pinned == nil || pinned == adapter?.uppercased()
    }

    private func pin(of name: String) -> String? {
        ofDevices.first { Self.inOneForm($0.key) == Self.inOneForm(name) }?.value
    }
}
