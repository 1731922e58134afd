// Who is owed the events of a device: worked out when a device or a manifest changes, looked up for every event.
import WakeModel

struct Route: Hashable, Sendable {
    /// The handler's place in the dispatcher.
    var slot: Int
    var handler: HandlerID
    /// The subscription's place in that handler's settings.
    var subscription: Int
    var durability: Durability
}

/// Everybody who is owed the events of one device, with what nearly every event needs of them ready made.
struct Subscribers: Sendable {
    static let none = Subscribers([])

    let routes: [Route]
    let owners: [HandlerID]
    let durability: Durability

    init(_ routes: [Route]) {
        self.routes = routes
        owners = routes.map(\.handler)
        durability = routes.map(\.durability).max() ?? .ram
    }
}

struct RouteTable: Sendable {
    private var devices: [Device?] = []
    private var subscribers: [Subscribers] = []

    subscript(_ device: DeviceID) -> Subscribers {
        let index = Int(device.rawValue)
        return index < subscribers.count ? subscribers[index] : .none
    }

    func subscription(of handler: HandlerID, for device: DeviceID) -> Int? {
        self[device].routes.first { $0.handler == handler }?.subscription
    }

    mutating func set(_ device: Device, _ id: DeviceID, _ handlers: [Subscription.Holder]) {
        let index = Int(id.rawValue)
        while devices.count <= index {
            devices.append(nil)
            subscribers.append(.none)
        }
        devices[index] = device
        subscribers[index] = Self.subscribers(of: device, handlers)
    }

    mutating func rebuild(_ handlers: [Subscription.Holder]) {
        for index in devices.indices {
            subscribers[index] = devices[index].map { Self.subscribers(of: $0, handlers) } ?? .none
        }
    }

    /// One route a handler: the subscription that names the device comes before one for every device of the profile.
    private static func subscribers(of device: Device, _ handlers: [Subscription.Holder]) -> Subscribers {
        Subscribers(
            handlers.enumerated().compactMap { slot, holder in
                let settings = holder.settings
                guard settings.modes.contains(device.mode) else { return nil }
                let matching = settings.subscriptions.indices.filter { settings.subscriptions[$0].matches(device) }
                let best = matching.first { settings.subscriptions[$0].device != nil } ?? matching.first
                return best.map {
                    Route(
                        slot: slot, handler: holder.id, subscription: $0,
                        durability: settings.subscriptions[$0].durability)
                }
            })
    }
}

extension Subscription {
    /// A handler as the table sees it.
    struct Holder {
        var id: HandlerID
        var settings: HandlerSettings
    }

    /// For a handler that takes whatever there is: a trace played on the command line.
    public static let anyProfile = "*"

    public func matches(_ device: Device) -> Bool {
        guard profile == device.profile || profile == Self.anyProfile else { return false }
        return self.device.map { $0 == device.alias || $0 == device.source } ?? true
    }
}
