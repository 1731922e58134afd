// Which handlers get the events of a device: computed when a device or manifest changes, looked up for every event.
import WakeModel

struct Route: Hashable, Sendable {
    /// The handler's place in the dispatcher.
    var slot: Int
    var handler: HandlerID
    /// The subscription's place in that handler's settings; nil for an occasion, which no subscription names.
    var subscription: Int?
    var durability: Durability
}

/// The handlers that get the events of one device, with what nearly every event needs of them. An object, so that devices
/// with the same handlers share one.
final class Subscribers: Sendable {
    static let none = Subscribers([])

    /// In the order of their slots.
    let routes: [Route]
    let owners: [HandlerID]
    let durability: Durability

    init(_ routes: [Route]) {
        self.routes = routes
        owners = routes.map(\.handler)
        durability = routes.map(\.durability).max() ?? .ram
    }

    /// The same with another route of one handler, or with none of it.
    func routes(replacing slot: Int, with route: Route?) -> [Route] {
        var routes = routes.filter { $0.slot != slot }
        if let route { routes.insert(route, at: routes.firstIndex { $0.slot > slot } ?? routes.endIndex) }
        return routes
    }
}

struct RouteTable: Sendable {
    private var devices: [Device?] = []
    private var subscribers: [Subscribers] = []
    private var latest = Subscribers.none
    /// By their slots.
    private var holders: [Subscription.Holder] = []
    /// A thousand manifests over a thousand devices: each looks only at those that may match it.
    private var devicesByName = PlacesByName()
    private var slotsByName = PlacesByName()
    private(set) var bonded: Set<EventOrigin> = []

    subscript(_ device: EventOrigin) -> Subscribers {
        let index = Int(device.rawValue)
        return index < subscribers.count ? subscribers[index] : .none
    }

    /// The handlers that get its broadcasts. Handlers that want a bond get none, because anyone can send these.
    func listeners(to device: EventOrigin) -> Subscribers {
        let all = self[device]
        guard all.routes.contains(where: { holders[$0.slot].needsBond }) else { return all }
        return Subscribers(all.routes.filter { !holders[$0.slot].needsBond })
    }

    func subscription(of handler: HandlerID, for device: EventOrigin) -> Int? {
        self[device].routes.first { $0.handler == handler }?.subscription
    }

    /// Occasions of the origin are for the handler in `slot` alone; for none where that is nil. They are kept on disk, with the
    /// entry that they come from.
    mutating func setOwner(_ owner: HandlerID, at slot: Int?, of origin: EventOrigin) {
        let index = Int(origin.rawValue)
        reserve(index)
        let route = slot.map { Route(slot: $0, handler: owner, subscription: nil, durability: .disk) }
        subscribers[index] = shared(route.map { [$0] } ?? [])
    }

    private mutating func reserve(_ index: Int) {
        while devices.count <= index {
            devices.append(nil)
            subscribers.append(.none)
        }
    }

    /// Returns the slots of the handlers that get its events now, or did before.
    mutating func set(_ device: Device, _ id: EventOrigin) -> Set<Int> {
        let index = Int(id.rawValue)
        reserve(index)
        if device.isBonded { bonded.insert(id) } else { bonded.remove(id) }
        var concerned = Set(subscribers[index].routes.map(\.slot))
        rename(index, to: device)
        let slots = Set(device.routeNames.flatMap { slotsByName[$0] }).sorted()
        subscribers[index] = shared(slots.compactMap { holders[$0].route(of: device, at: $0) })
        concerned.formUnion(subscribers[index].routes.map(\.slot))
        return concerned
    }

    private mutating func rename(_ index: Int, to device: Device) {
        let former = devices[index]
        devices[index] = device
        guard former != device else { return }
        for name in former?.routeNames ?? [] { devicesByName.remove(index, name) }
        for name in device.routeNames { devicesByName.insert(index, name) }
    }

    /// A manifest that is new, changed or gone, which then has no subscriptions.
    mutating func set(_ holder: Subscription.Holder, at slot: Int) {
        var concerned: Set<Int> = []
        if slot < holders.count {
            for name in holders[slot].names {
                slotsByName.remove(slot, name)
                concerned.formUnion(devicesByName[name])
            }
            holders[slot] = holder
        } else {
            holders.append(holder)
        }
        for name in holder.names {
            slotsByName.insert(slot, name)
            concerned.formUnion(devicesByName[name])
        }
        for index in concerned {
            let route = devices[index].flatMap { holder.route(of: $0, at: slot) }
            subscribers[index] = shared(subscribers[index].routes(replacing: slot, with: route))
        }
    }

    /// Consecutive devices mostly have the same handlers: they share one copy, which stays in the cache.
    private mutating func shared(_ routes: [Route]) -> Subscribers {
        if latest.routes != routes { latest = Subscribers(routes) }
        return latest
    }
}

/// A name that a subscription may use for its devices.
enum RouteName: Hashable, Sendable {
    case device(String)
    case profile(String)
    case any
}

/// Places in a table by their names: one place for most names.
private struct PlacesByName: Sendable {
    private enum Places: Sendable {
        case one(UInt32)
        case several([UInt32])
    }
    private var places: [RouteName: Places] = [:]

    subscript(_ name: RouteName) -> [Int] {
        switch places[name] {
        case nil: []
        case .one(let place): [Int(place)]
        case .several(let places): places.map(Int.init)
        }
    }

    mutating func insert(_ place: Int, _ name: RouteName) {
        // Removed meanwhile, so that the array grows in place.
        switch places.updateValue(.one(UInt32(place)), forKey: name) {
        case nil: break
        case .one(let other): places[name] = .several([other, UInt32(place)])
        case .several(var others):
            others.append(UInt32(place))
            places[name] = .several(others)
        }
    }

    mutating func remove(_ place: Int, _ name: RouteName) {
        switch places[name] {
        case nil: break
        case .one: places[name] = nil
        case .several(let all): places[name] = .several(all.filter { $0 != place })
        }
    }
}

extension Device {
    /// Every name under which a subscription may mean it, each once.
    fileprivate var routeNames: Set<RouteName> {
        var names: Set<RouteName> = [.any, .device(alias), .device(uri)]
        if let profile { names.insert(.profile(profile)) }
        return names
    }
}

extension Subscription {
    /// A handler as the table sees it.
    struct Holder: Sendable {
        var id: HandlerID
        var modes: Set<SourceKind>
        var subscriptions: [Subscription]
        var needsBond: Bool

        init(_ id: HandlerID, _ settings: HandlerSettings) {
            self.id = id
            modes = settings.modes
            subscriptions = settings.subscriptions
            needsBond = settings.requirements.contains(.bonded)
        }

        fileprivate var names: Set<RouteName> { Set(subscriptions.map(\.routeName)) }

        /// Finds a handler's route: the subscription that names the device comes before one for every device of the
        /// profile.
        fileprivate func route(of device: Device, at slot: Int) -> Route? {
            guard modes.contains(device.kind), device.isBonded || !needsBond else { return nil }
            let matching = subscriptions.indices.filter { subscriptions[$0].matches(device) }
            let best = matching.first { subscriptions[$0].device != nil } ?? matching.first
            return best.map {
                Route(slot: slot, handler: id, subscription: $0, durability: subscriptions[$0].durability)
            }
        }
    }

    /// For a handler of every device: a trace played on the command line.
    public static let anyProfile = "*"

    public func matches(_ device: Device) -> Bool {
        guard profile == device.profile || profile == Self.anyProfile else { return false }
        return self.device.map { $0 == device.alias || $0 == device.uri } ?? true
    }

    fileprivate var routeName: RouteName {
        if let device { return .device(device) }
        return profile == Self.anyProfile ? .any : .profile(profile)
    }
}
