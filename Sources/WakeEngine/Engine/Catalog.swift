// The texts behind the numbers: which device is which, what profile it has, whether its link is up; which handler is whose.
import WakeCore
import WakeModel
import WakeProfiles

package final class Catalog {
    /// An object, so that who asks for a part of it copies nothing else.
    package final class DeviceEntry {
        package let id: EventOrigin
        package let device: Device
        /// As it read when the device came.
        package let profile: ProfileIndex?
        /// Nil before the first word of its link.
        package fileprivate(set) var isConnected: Bool?

        fileprivate init(_ id: EventOrigin, _ device: Device, _ profile: ProfileIndex?, isConnected: Bool?) {
            self.id = id
            self.device = device
            self.profile = profile
            self.isConnected = isConnected
        }
    }

    package private(set) var profiles: ProfileLibrary
    package private(set) var devices: [DeviceEntry?] = []
    /// Line templates of the same devices.
    private var templates = LineTemplateTable()
    package private(set) var handlers: [HandlerID: HandlerManifest] = [:]
    /// By what people call them.
    private var handlerIDs: [String: HandlerID] = [:]
    /// Manifests that run once for each of their devices, by id; their instances are among the handlers.
    package internal(set) var perDevice: [String: HandlerManifest] = [:]
    /// Entries of the agenda, whose events have the numbers of devices.
    private var entries: [EventOrigin: Device] = [:]
    /// A handler whose manifest is gone still ends: its last lines are reported under this name.
    private var names: [HandlerID: String] = [:]

    package init(profiles: ProfileLibrary) { self.profiles = profiles }

    /// Holds for devices that come from now on.
    package func update(
        _ sources: [ProfileLibrary.Source], shared: [SharedDefinition], keeping kept: Set<String>
    ) -> ProfileLibrary.Changes {
        profiles.update(with: sources, shared: shared, keeping: kept)
    }

    /// The profile that a device of such a number goes on with; where it has none of that name, the one that is loaded now.
    func profile(of device: Device, as id: EventOrigin) -> ProfileIndex? {
        if let known = entry(id), known.device.profile == device.profile, let profile = known.profile { return profile }
        return device.profile.flatMap { profiles.index(named: $0) }
    }

    func set(_ device: Device, _ profile: ProfileIndex?, as id: EventOrigin) {
        let index = Int(id.rawValue)
        while devices.count <= index { devices.append(nil) }
        devices[index] = DeviceEntry(id, device, profile, isConnected: devices[index]?.isConnected)
        templates.set(device, profile.map { profiles.decoder($0) }, at: index)
    }

    func set(entry: Device, as id: EventOrigin) { entries[id] = entry }

    func set(_ manifest: HandlerManifest, as id: HandlerID) {
        if let former = handlers[id]?.name, handlerIDs[former] == id { handlerIDs[former] = nil }
        handlers[id] = manifest
        handlerIDs[manifest.name] = id
        names[id] = manifest.name
    }

    /// It has no manifest, or none that was read yet.
    func introduce(_ id: HandlerID, _ name: String) { names[id] = name }

    func remove(_ id: HandlerID) {
        guard let manifest = handlers.removeValue(forKey: id) else { return }
        if handlerIDs[manifest.name] == id { handlerIDs[manifest.name] = nil }
    }

    /// Faults of the adopted manifests against the profiles: a profile may disappear or change after them.
    package var faultsOfManifests: [ConfigurationError] { manifests.flatMap { $0.faults(against: profiles) } }

    /// The manifests as their files contain them, each once, by id.
    package var manifests: [HandlerManifest] {
        (handlers.values.filter { $0.instance == nil } + perDevice.values).sorted { $0.id < $1.id }
    }

    /// Every advertisement may ask for it, so nothing is copied.
    func isWatched(_ profile: String) -> Bool {
        let watches = { (manifest: HandlerManifest) in
            manifest.settings.subscriptions.contains { $0.profile == profile }
        }
        return handlers.values.contains(where: watches) || perDevice.values.contains(where: watches)
    }

    /// The subscriptions that manifest files contain: an instance's watch on its own device names no device.
    var writtenSubscriptions: [Subscription] {
        manifests.flatMap(\.settings.subscriptions)
    }

    package func handler(named name: String) -> HandlerID? { handlerIDs[name] }
    /// Whether a handler, an instance or a manifest with instances has this name.
    package func isConfigured(_ name: String) -> Bool { handlerIDs[name] != nil || perDevice[name] != nil }

    /// The handlers of a manifest that runs once for each of its devices, by name; nil where there is no such manifest.
    package func instances(of template: String) -> [HandlerID]? {
        guard perDevice[template] != nil else { return nil }
        return handlers.filter { $0.value.instance?.template == template }.sorted { $0.value.name < $1.value.name }
            .map(\.key)
    }

    package func name(of id: HandlerID) -> String { names[id] ?? "handler \(id.rawValue)" }

    package func entry(_ id: EventOrigin) -> DeviceEntry? {
        let index = Int(id.rawValue)
        return index < devices.count ? devices[index] : nil
    }

    /// The template for the line of an event.
    func template(of event: DeviceEvent) -> LineTemplateTable.Template {
        let index = Int(event.origin.rawValue)
        guard let template = templates.template(of: index) else {
            guard let entry = entries[event.origin] else { return Self.template(ofForgotten: event) }
            return LineTemplateTable.Template(text: DeviceText(of: entry, in: event.kind.wireName), decoder: nil)
        }
        if case .data = event.kind { return template }
        guard let device = devices[index]?.device else { return Self.template(ofForgotten: event) }
        return LineTemplateTable.Template(
            text: templates.text(of: device, in: event.kind.wireName), decoder: template.decoder)
    }

    /// Fetches the templates of these devices from memory all at once, not in the middle of each line.
    func prefetchTemplates(of devices: some Collection<EventOrigin>) {
        templates.fetch(devices.lazy.map { Int($0.rawValue) })
    }

    /// Whether its link has ended, or it has sent nothing since the start.
    func isAway(_ entry: DeviceEntry) -> Bool { entry.isConnected.map { !$0 } ?? (lastData(of: entry.id) == nil) }

    /// When the device last sent something.
    package func lastData(of id: EventOrigin) -> WallTime? { templates.lastData(of: Int(id.rawValue)) }

    /// The names that may select a device.
    package enum NameExtent {
        /// An alias, a source or an address: programs write it whole, for a beginning may fit another device tomorrow.
        case whole
        /// Also the beginning of an alias.
        case beginning
    }

    package enum NamedDevice {
        case none
        case one(DeviceEntry)
        /// The devices that the name fits equally well.
        case several([DeviceEntry])

        var entries: [DeviceEntry] {
            switch self {
            case .none: []
            case .one(let entry): [entry]
            case .several(let entries): entries
            }
        }

        fileprivate init(_ found: [DeviceEntry]) {
            self = found.isEmpty ? .none : found.count == 1 ? .one(found[0]) : .several(found)
        }
    }

    /// The device that a name means, by the grammar of docs/reference/devices.md: alias, source or address, beginning.
    package func device(named name: String, by extent: NameExtent = .beginning) -> NamedDevice {
        let known = devices.compactMap { $0 }
        let endings = Set(["/" + name, "/" + name.uppercased()])
        var kinds: [(Device) -> Bool] = [
            { $0.alias == name },
            { device in device.uri == name || endings.contains { device.uri.hasSuffix($0) } },
        ]
        switch extent {
        case .whole: break
        // A forgotten device is called by its source.
        case .beginning: kinds.append { !name.isEmpty && $0.alias != $0.uri && $0.alias.hasPrefix(name) }
        }
        for fits in kinds {
            let found = known.filter { fits($0.device) }
            if !found.isEmpty { return NamedDevice(found) }
        }
        return .none
    }

    /// As it was known last, be it in an earlier life of the bridge.
    package func entry(of source: String) -> DeviceEntry? { devices.first { $0?.device.uri == source } ?? nil }

    /// The event is delivered even if the journal's record of its device is lost.
    private static func template(ofForgotten event: DeviceEvent) -> LineTemplateTable.Template {
        let number = event.origin.rawValue
        let device = Device(
            uri: "/unknown/\(number)", alias: "unknown-\(number)", profile: nil, kind: .bluetoothCentral)
        return LineTemplateTable.Template(text: DeviceText(of: device, in: event.kind.wireName), decoder: nil)
    }

    /// Records link state and time of the last data, which people query.
    func record(_ event: DeviceEvent) {
        let index = Int(event.origin.rawValue)
        guard index < devices.count else { return }
        switch event.kind {
        case .connected: devices[index]?.isConnected = true
        case .disconnected: devices[index]?.isConnected = false
        case .data: templates.recordData(at: event.stamp.wall, of: index)
        case .gap, .attention, .occasion: break
        }
    }

    /// The devices that a handler's subscriptions name.
    package func devices(watchedBy id: HandlerID) -> [DeviceEntry] {
        guard let settings = handlers[id]?.settings else { return [] }
        return devices.compactMap { $0 }.filter { settings.watches($0.device) }
    }

    /// The devices whose events this handler receives: its manifest may require a bond.
    func devices(heardBy id: HandlerID) -> [DeviceEntry] {
        guard let settings = handlers[id]?.settings else { return [] }
        return devices.compactMap { $0 }.filter { settings.takes($0.device) }
    }
}
