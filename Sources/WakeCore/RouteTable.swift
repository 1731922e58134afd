// Who is owed the events of a device: worked out when a device or a manifest changes, looked up for every event.
import WakeModel

struct Route: Hashable, Sendable {
    /// The handler's place in the dispatcher.
    var slot: Int
    /// The subscription's place in that handler's settings.
    var subscription: Int
}

struct RouteTable: Sendable {
    private var devices: [Device?] = []
    private var routes: [[Route]] = []
    private var slots: [HandlerID: Int] = [:]

    subscript(_ device: DeviceID) -> [Route] {
        let index = Int(device.rawValue)
        return index < routes.count ? routes[index] : []
    }

    func subscription(of handler: HandlerID, for device: DeviceID) -> Int? {
        guard let slot = slots[handler] else { return nil }
        return self[device].first { $0.slot == slot }?.subscription
    }

    mutating func set(_ device: Device, _ id: DeviceID, _ settings: [HandlerSettings]) {
        let index = Int(id.rawValue)
        while devices.count <= index {
            devices.append(nil)
            routes.append([])
        }
        devices[index] = device
        routes[index] = Self.routes(for: device, settings)
    }

    mutating func rebuild(_ settings: [HandlerSettings], _ ids: [HandlerID]) {
        slots = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) })
        for index in devices.indices { routes[index] = devices[index].map { Self.routes(for: $0, settings) } ?? [] }
    }

    /// One route a handler: the subscription that names the device comes before one for every device of the profile.
    private static func routes(for device: Device, _ settings: [HandlerSettings]) -> [Route] {
        settings.enumerated().compactMap { slot, settings in
            guard settings.modes.contains(device.mode) else { return nil }
            let matching = settings.subscriptions.indices.filter { settings.subscriptions[$0].matches(device) }
            let best = matching.first { settings.subscriptions[$0].device != nil } ?? matching.first
            return best.map { Route(slot: slot, subscription: $0) }
        }
    }
}

extension Subscription {
    /// For a handler that takes whatever there is: a trace played on the command line.
    public static let anyProfile = "*"

    public func matches(_ device: Device) -> Bool {
        guard profile == device.profile || profile == Self.anyProfile else { return false }
        return self.device.map { $0 == device.alias || $0 == device.source } ?? true
    }
}
