// The devices that the bridge knows: which one a name means, and how each is reported.
import WakeControl
import WakeEngine
import WakeModel
import WakeProfiles
import WakeSources

package struct KnownDevices {
    package let catalog: Catalog
    package let sources: LiveSources

    // MARK: Which device is meant

    func device(_ name: String) throws(ControlRefusal) -> Catalog.DeviceEntry {
        switch catalog.device(named: name) {
        case .one(let entry): return entry
        case .several(let entries): throw ambiguous(name, entries.map(\.device))
        case .none: break
        }
        if let uri = sources.accessories?.uri(at: name), let entry = catalog.entry(of: uri) { return entry }
        let known = catalog.devices.compactMap { $0?.device.alias }
        throw ControlRefusal(
            .notFound, code: "unknown-device", message: "there is no device '\(name)'",
            advice: "see which there are with: wakebridge devices.\(suggestion(for: name, among: known))")
    }

    private func ambiguous(_ name: String, _ devices: [Device]) -> ControlRefusal {
        let meant = devices.map { "\($0.alias) (\($0.uri))" }.sorted().joined(separator: ", ")
        return ControlRefusal(
            .conflict, code: "ambiguous-device", message: "'\(name)' may be any of \(meant)",
            advice: "say more of its alias, or its source")
    }

    // MARK: How they are reported

    func all() -> [DeviceStatus] {
        catalog.devices.compactMap { $0 }.filter { !isForgotten($0.device) }.map { report($0) }
    }

    func report(_ entry: Catalog.DeviceEntry) -> DeviceStatus {
        let device = entry.device
        let link = entry.isConnected.map { $0 ? "connected" : "disconnected" } ?? "unknown"
        return DeviceStatus(
            device: device, match: match(entry), link: link,
            why: sources.blockingReason(of: device),
            lastData: catalog.lastData(of: entry.id),
            session: sources.session(of: device), adapter: sources.bluetooth?.adapter(of: device.uri),
            node: sources.accessories?.node(of: device.uri))
    }

    private func match(_ entry: Catalog.DeviceEntry) -> DeviceStatus.Match? {
        entry.profile.map { catalog.profiles[$0].match }.map { match in
            DeviceStatus.Match(
                services: match.services,
                namePrefix: match.namePrefixes.first,
                properties: match.properties.map { .init(name: $0.name, value: $0.values.first ?? "") },
                advertisement: match.advertisement)
        }
    }

    /// The journal keeps the number of every device; `status` leaves out those that were forgotten.
    package func isForgotten(_ device: Device) -> Bool {
        // Another bridge has forgotten it: it has no name any more.
        if device.kind.isRelayed { return device.alias == device.uri }
        guard device.kind == .externalAccessory, let source = sources.accessories else { return false }
        return !source.isKnown(device.uri)
    }

    var doubts: [DoubtStatus] {
        guard let source = sources.accessories else { return [] }
        let doubts = source.doubts.values.sorted { $0.record.path < $1.record.path }.map { doubt in
            DoubtStatus(
                node: doubt.record.node ?? doubt.record.path, candidates: doubt.candidates.map { source.label(of: $0) })
        }
        let spares = source.spareNodes.map { spare in
            DoubtStatus(
                node: spare.record.node ?? spare.record.path, candidates: [],
                why: "\(spare.reason(in: source)); \(SpareNode.advice)")
        }
        return doubts + spares
    }

    // MARK: Devices without a handler

    /// The known devices, those without a profile with what they miss, and apart from them the others that a person may have
    /// meant for a handler.
    func devicesAndMisses() -> (devices: [DeviceStatus], unwatched: [UnwatchedStatus]) {
        var (devices, misses) = (all(), unwatchedDevices)
        for place in devices.indices where devices[place].device.profile == nil {
            let uri = devices[place].device.uri
            devices[place].why = devices[place].why ?? misses.first { $0.uri == uri }?.why
        }
        let listed = Set(devices.map(\.device.uri))
        misses.removeAll { listed.contains($0.uri) }
        return (devices, misses)
    }

    private var unwatchedDevices: [UnwatchedStatus] {
        sources.unwatched.compactMap { device in
            reason(of: device).map {
                UnwatchedStatus(
                    alias: device.alias, uri: device.uri, kind: device.facts.kind, isConnected: device.isConnected,
                    why: $0)
            }
        }
    }

    /// Against the profiles that are watched, and those that were written here.
    private func reason(of device: UnwatchedDevice) -> String? {
        device.reason(in: catalog.profiles) { !$0.isShipped || sources.isWatched($0.name) }
    }

    /// Nil where no Bluetooth is watched.
    func adapters() -> [AdapterStatus]? {
        sources.bluetooth?.adapters.map { adapter in
            AdapterStatus(
                address: adapter.address, isPowered: adapter.isPowered, links: adapter.links,
                mostLinks: adapter.mostLinks, waiting: adapter.waiting.map(\.alias),
                isScanning: sources.broadcasts?.scans(with: adapter.address) ?? false)
        }
    }
}
