// The devices with a process of their own: expands manifests with `instance: "device"` into ordinary handlers.
import WakeModel

/// Pure: gets manifests and devices, and returns which handlers begin, change and end.
struct InstanceBook {
    /// Handlers of one manifest. A profile may match every sensor of a street.
    static let most = 64

    struct Changes: Hashable {
        /// New ones, and those whose manifest or name is another.
        var current: [HandlerManifest] = []
        /// The ids of instances that end.
        var ended: [String] = []
        /// Whether a device came for which there is no room yet.
        var hasRefused = false

        var isEmpty: Bool { current.isEmpty && ended.isEmpty && !hasRefused }
    }

    fileprivate struct Template {
        var manifest: HandlerManifest
        /// By the URIs of their devices.
        var instances: [String: HandlerManifest] = [:]
        /// The devices that have an instance, in the order in which they got it.
        var holders: [Device] = []
        /// Devices beyond the most, in the order in which they came.
        var waiting: [Device] = []
    }

    private var templates: [String: Template] = [:]

    /// By name.
    func instances(of template: String) -> [HandlerManifest] {
        (templates[template]?.instances.values).map { $0.sorted { $0.name < $1.name } } ?? []
    }

    /// The devices that a manifest matches and has no room for.
    func waiting(for template: String) -> [Device] { templates[template]?.waiting ?? [] }

    /// A manifest is new or another. Devices that have an instance keep it, and others get one in their order.
    mutating func set(_ manifest: HandlerManifest, devices: [Device]) -> Changes {
        let former = templates[manifest.id]
        var template = Template(
            manifest: manifest, instances: former?.instances ?? [:], holders: former?.holders ?? [])
        var changes = Changes()
        let isOld = { (device: Device) in former?.instances[device.uri] != nil }
        let known = Set(devices.map(\.uri))
        for holder in template.holders where !known.contains(holder.uri) { template.withdraw(holder.uri, &changes) }
        for device in devices.filter(isOld) + devices.filter({ !isOld($0) }) { template.settle(device, &changes) }
        templates[manifest.id] = template
        return changes.inOrder
    }

    /// The manifest is gone, or runs once for all of its devices now.
    mutating func remove(_ template: String) -> Changes {
        guard let former = templates.removeValue(forKey: template) else { return Changes() }
        return Changes(ended: former.instances.values.map(\.id)).inOrder
    }

    /// A device is new, renamed, of another profile, or forgotten.
    mutating func know(_ device: Device) -> Changes {
        var changes = Changes()
        for id in templates.keys { templates[id]?.settle(device, &changes) }
        return changes.inOrder
    }

    /// Whether a manifest matches the device and had no room for it.
    func isWaiting(_ uri: String) -> Bool { templates.values.contains { $0.waiting.contains { $0.uri == uri } } }

    /// The device has connected. If it waits for an instance, it takes the place of an absent device, which then waits
    /// in its turn. Of the absent devices it replaces the last to come, so that invented devices displace each other.
    mutating func arrive(_ device: Device, isAway: (String) -> Bool) -> Changes {
        var changes = Changes()
        for (id, template) in templates where template.waiting.contains(where: { $0.uri == device.uri }) {
            guard let away = template.holders.last(where: { isAway($0.uri) }) else { continue }
            templates[id]?.withdraw(away.uri, &changes)
            templates[id]?.settle(device, &changes)
            templates[id]?.settle(away, &changes)
        }
        changes.hasRefused = false
        return changes.inOrder
    }
}

extension InstanceBook.Template {
    /// Begins, renames or ends the device's instance.
    fileprivate mutating func settle(_ device: Device, _ changes: inout InstanceBook.Changes) {
        let waited = waiting.contains { $0.uri == device.uri }
        waiting.removeAll { $0.uri == device.uri }
        guard manifest.wantsInstance(for: device) else { return end(device.uri, &changes) }
        let former = instances[device.uri]
        guard former != nil || instances.count < InstanceBook.most else {
            changes.hasRefused = changes.hasRefused || !waited
            return waiting.append(device)
        }
        let others = Set(instances.filter { $0.key != device.uri }.values.map(\.name))
        let made = manifest.instance(for: device, named: manifest.name(for: device, besides: others))
        if let place = holders.firstIndex(where: { $0.uri == device.uri }) {
            holders[place] = device
        } else {
            holders.append(device)
        }
        guard made != former else { return }
        instances[device.uri] = made
        changes.current.append(made)
    }

    /// The device that waited longest takes the place.
    private mutating func end(_ uri: String, _ changes: inout InstanceBook.Changes) {
        guard instances[uri] != nil else { return }
        withdraw(uri, &changes)
        if let next = waiting.first { settle(next, &changes) }
    }

    fileprivate mutating func withdraw(_ uri: String, _ changes: inout InstanceBook.Changes) {
        guard let ended = instances.removeValue(forKey: uri) else { return }
        holders.removeAll { $0.uri == uri }
        changes.ended.append(ended.id)
    }
}

extension HandlerManifest {
    /// A forgotten device is called by its source.
    fileprivate func wantsInstance(for device: Device) -> Bool {
        device.alias != device.uri && settings.watches(device)
    }
}

extension InstanceBook.Changes {
    fileprivate var inOrder: Self {
        Self(current: current.sorted { $0.id < $1.id }, ended: ended.sorted(), hasRefused: hasRefused)
    }
}
