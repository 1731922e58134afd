// On which adapter the bridge watches a peripheral, where an operator has said so: for the whole bridge, or for one device.

public struct AdapterPins: Hashable, Sendable {
    /// The adapter's address, in upper case; nil for any.
    public var ofBridge: String?
    /// By the device's alias, address or URI. It counts before that of the bridge.
    public var ofDevices: [String: String] = [:]

    public init() {}

    /// - Parameter names: the device's alias, address and URI.
    func allow(_ adapter: String?, for names: [String]) -> Bool {
        let pinned = names.lazy.compactMap { ofDevices[$0] }.first ?? ofBridge
        return pinned == nil || pinned == adapter?.uppercased()
    }
}
