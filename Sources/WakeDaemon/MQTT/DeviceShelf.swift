// The messages that the broker retains for each device and handler: about, availability, session, state, and discovery.
import WakeAPI
import WakeControl
import WakeEngine
import WakeMQTT
import WakeModel
import WakeProfiles
import WakeSystem

struct DeviceShelf {
    /// The known facts of a device since it was published first.
    private struct Shelved {
        var alias: String
        var state: StatePublication
        /// Events were lost, and it has sent nothing since: its last values may be outdated.
        var isBehindGap = false
        /// The fields that are announced.
        private(set) var fields: [ShownField] = []
        private var paths: Set<[String]> = []
        /// Whether the log has its surplus of fields already.
        var isReported = false
        /// Its last value of each channel, not decoded yet.
        var unread: [Channel: (value: [UInt8], time: WallTime)] = [:]

        /// - Parameter hidden: what is in values, and never announced.
        init(alias: String, state: StatePublication, fields: [ShownField], hiding hidden: Set<[String]>) {
            (self.alias, self.state, paths) = (alias, state, hidden)
            show(fields)
        }

        mutating func show(_ shown: [ShownField]) {
            for field in shown where fields.count < StatePublication.mostFields {
                if paths.insert(field.path).inserted { fields.append(field) }
            }
        }
    }

    var retained = RetainedTopics()
    let discovery: DiscoveryMessage?
    private(set) var nextDue: Instant?
    private var settings: MQTTSettings
    private let topics: BridgeTopics
    private let known: KnownDevices
    private let log = Log("mqtt")
    private var shelved: [EventOrigin: Shelved] = [:]
    /// The devices that have something to publish.
    private var speaking: Set<EventOrigin> = []
    private var changed: Set<EventOrigin> = []
    private var handlers: Set<String> = []
    private var areHandlersStale = true

    private var catalog: Catalog { known.catalog }

    init(_ settings: MQTTSettings, _ topics: BridgeTopics, of known: KnownDevices) {
        (self.settings, self.topics, self.known) = (settings, topics, known)
        discovery = settings.discovery.map {
            DiscoveryMessage(topics: topics, prefix: $0, version: Daemon.version)
        }
        retained.set(topics.status, Array("online".utf8))
        retained.set(topics.about, about(announcedAt: discovery?.topicOfBridge) { $0.field("bridge", topics.bridge) })
        if let discovery { retained.set(discovery.topicOfBridge, discovery.bridge()) }
    }

    // MARK: What happens

    mutating func receive(_ event: DeviceEvent, _ value: [UInt8]?) {
        let id = event.origin
        switch event.kind {
        case .connected, .disconnected:
            shelved[id]?.isBehindGap = false
            changed.insert(id)
        case .data(let channel, _):
            if shelved[id]?.isBehindGap != false { changed.insert(id) }
            shelved[id]?.isBehindGap = false
            guard let value else { return }
            shelve(id)
            shelved[id]?.unread[channel] = (value, event.stamp.wall)
            speaking.insert(id)
        case .gap:
            shelved[id]?.isBehindGap = true
            changed.insert(id)
        case .attention, .occasion: break
        }
    }

    mutating func update(_ id: EventOrigin) { changed.insert(id) }

    mutating func updateAll() {
        for entry in catalog.devices { if let entry { changed.insert(entry.id) } }
    }

    mutating func handlersChanged() { areHandlersStale = true }

    /// A new connection: everything is published, also what did not change.
    mutating func restart() {
        retained.restart()
        updateAll()
    }

    /// Home Assistant has started, and knows nothing.
    mutating func announce() { if let prefix = settings.discovery { retained.republish(below: prefix + "/") } }

    // MARK: After the turns

    /// Publishes what is due of all that happened.
    mutating func settle(at now: Instant) {
        for id in changed { publish(id) }
        changed.removeAll()
        if areHandlersStale { publishHandlers() }
        nextDue = nil
        for id in speaking { publishState(of: id, at: now) }
    }

    private mutating func publishState(of id: EventOrigin, at now: Instant) {
        guard var entry = shelved[id] else { return }
        read(&entry, of: id)
        if let due = entry.state.due(at: now), due <= now {
            retained.set(topics.device(entry.alias, .state), entry.state.publish(at: now))
        }
        let due = entry.state.due(at: now)
        shelved[id] = entry
        if due == nil { speaking.remove(id) }
        nextDue = Instant.earlier(nextDue, due)
    }

    /// A named decoder's values are known only when a message was decoded on arrival.
    private mutating func read(_ entry: inout Shelved, of id: EventOrigin) {
        let before = entry.state.fieldCount
        for (channel, said) in entry.unread.sorted(by: { $0.value.time < $1.value.time }) {
            guard let value = (try? JSONValue(parsing: said.value)).map({ $0.told(of: channel) }) else { continue }
            entry.state.receive(value, at: said.time)
            entry.show(ShownField.all(in: value))
        }
        entry.unread.removeAll()
        if entry.state.fieldCount != before { announce(id, entry) }
        if entry.state.hasTooMany, !entry.isReported {
            entry.isReported = true
            log.warning(
                "\(entry.alias) has more than \(StatePublication.mostFields) fields: those that came first are published"
            )
        }
    }

    /// Other rules for the fields of devices.
    mutating func adopt(_ settings: MQTTSettings) {
        self.settings = settings
        for (id, device) in shelved {
            shelved[id]?.state.adopt(settings.rules(of: device.alias))
            speaking.insert(id)
        }
    }

    // MARK: Devices

    private mutating func shelve(_ id: EventOrigin) {
        guard shelved[id] == nil, let entry = catalog.entry(id) else { return }
        let profile = entry.profile.map { catalog.profiles[$0] }
        let silence = TimeSpan(nanoseconds: (profile?.expiry ?? .seconds(86_400)).nanoseconds / 3)
        let state = StatePublication(rules: settings.rules(of: entry.device.alias), longestSilence: silence)
        shelved[id] = Shelved(
            alias: entry.device.alias, state: state, fields: profile?.shownFields ?? [],
            hiding: Set(profile?.formerFields ?? []))
    }

    private mutating func publish(_ id: EventOrigin) {
        guard let entry = catalog.entry(id), !entry.device.kind.isRelayed else { return }
        guard isThere(entry.device) else { return forget(id, entry.device) }
        let former = shelved[id]?.alias
        if former != entry.device.alias { rename(id, entry.device.alias) }
        shelve(id)
        let (device, session) = (entry.device, known.sources.session(of: entry.device))
        let isHeard = entry.isConnected ?? (catalog.lastData(of: id) != nil)
        retained.set(topics.device(device.alias, .about), about(device, session))
        let isBehindGap = shelved[id]?.isBehindGap ?? false
        set(device, .availability, isHeard && !isBehindGap ? "online" : "offline")
        if let session { set(device, .session, session.rawValue) }
        if let known = shelved[id] { announce(id, known) }
        // The new name is there before the old one goes: readers see one device that is called otherwise.
        if let former, former != device.alias { removeTopics(of: former) }
    }

    /// Its state is published again, under the other name.
    private mutating func rename(_ id: EventOrigin, _ alias: String) {
        guard shelved[id] != nil else { return }
        shelved[id]?.alias = alias
        shelved[id]?.state.withdraw()
        speaking.insert(id)
    }

    /// A forgotten device is called by its source.
    private func isThere(_ device: Device) -> Bool { device.alias != device.uri && !known.isForgotten(device) }

    private mutating func set(_ device: Device, _ what: BridgeTopics.DeviceTopic, _ text: String) {
        retained.set(topics.device(device.alias, what), Array(text.utf8))
    }

    private func about(_ device: Device, _ session: LinkSession?) -> [UInt8] {
        about(announcedAt: discovery?.topic(ofDevice: device.uri)) { writer in
            writer.field("device", device.alias)
            writer.field("source", device.uri)
            writer.field("profile", device.profile)
            writer.field("mode", device.kind.rawValue)
            writer.field("bonded", device.isBonded)
            writer.field("session", session?.rawValue)
        }
    }

    /// It names the topic of its announcement, so that a later life of the bridge can remove that.
    private func about(announcedAt topic: String?, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            write(&writer)
            writer.field("discovery", topic)
        }
        return writer.bytes
    }

    private mutating func announce(_ id: EventOrigin, _ known: Shelved) {
        guard let discovery, let entry = catalog.entry(id), !known.fields.isEmpty || entry.isConnected != nil else {
            return
        }
        let profile = entry.profile.map { catalog.profiles[$0] }
        retained.set(
            discovery.topic(ofDevice: entry.device.uri),
            discovery.device(
                entry.device, model: profile?.title, fields: known.fields, switches: switches(of: entry.device),
                expireAfter: profile?.expiry ?? .seconds(86_400)))
    }

    private func switches(of device: Device) -> DiscoveryMessage.SessionSwitches {
        guard known.sources.session(of: device) != nil else { return .none }
        return settings.allowed.allowsAll(.session) ? .shown : .removed
    }

    private mutating func forget(_ id: EventOrigin, _ device: Device) {
        guard let known = shelved.removeValue(forKey: id) else { return }
        speaking.remove(id)
        removeTopics(of: known.alias)
        if let discovery { retained.remove(discovery.topic(ofDevice: device.uri)) }
    }

    // MARK: Handlers

    private mutating func publishHandlers() {
        areHandlersStale = false
        let present = Set(settings.allowed.allowsAll(.wake) ? catalog.handlers.values.map(\.name) : [])
        for id in handlers.subtracting(present).sorted() {
            retained.remove(topics.handler(id))
            if let discovery { retained.remove(discovery.topic(ofHandler: id)) }
        }
        handlers = present
        for id in present.sorted() {
            let topic = discovery?.topic(ofHandler: id)
            retained.set(topics.handler(id), about(announcedAt: topic) { $0.field("handler", id) })
            if let discovery { retained.set(discovery.topic(ofHandler: id), discovery.handler(id)) }
        }
    }

    // MARK: Removed topics

    /// Compares a retained topic with what the bridge has, and removes what an earlier run of the bridge has left.
    /// While very many removals wait, further topics wait for the next connection, when the broker sends all of them
    /// again.
    mutating func compare(_ name: BridgeTopics.RetainedName, with about: [UInt8]) {
        guard retained.takesStrangers else { return }
        let about = try? JSONValue(parsing: about)
        let announced: String?
        switch name {
        case .bridge: announced = discovery?.topicOfBridge
        case .device(let alias):
            removeTopics(of: alias)
            announced = present(about?["source"]?.string).flatMap { discovery?.topic(ofDevice: $0) }
        case .handler(let id):
            let isPresent = isConfigured(id)
            if !isPresent { retained.remove(topics.handler(id)) }
            announced = isPresent ? discovery?.topic(ofHandler: id) : nil
        }
        guard let former = about?["discovery"]?.string, former != announced,
            DiscoveryMessage.announces(at: former, topics)
        else { return }
        retained.remove(former)
    }

    /// Removes what is retained under a name, unless a device is called so.
    private mutating func removeTopics(of alias: String) {
        guard !catalog.devices.contains(where: { $0?.device.alias == alias && isThere(of: $0) }) else { return }
        for what in BridgeTopics.DeviceTopic.allCases { retained.remove(topics.device(alias, what)) }
    }

    /// The source of a device that is here, whatever it is called.
    private func present(_ source: String?) -> String? {
        catalog.devices.contains { $0?.device.uri == source && isThere(of: $0) } ? source : nil
    }

    private func isThere(of entry: Catalog.DeviceEntry?) -> Bool {
        entry.map { isThere($0.device) && !$0.device.kind.isRelayed } ?? false
    }

    private func isConfigured(_ id: String) -> Bool {
        settings.allowed.allowsAll(.wake) && catalog.handler(named: id) != nil
    }
}

extension ShownField {
    /// The fields of a value, as its profile would list them.
    fileprivate static func all(in value: JSONValue, below path: [String] = []) -> [ShownField] {
        guard case .object(let members) = value else { return [] }
        return members.flatMap { member -> [ShownField] in
            let path = path + [member.name]
            switch member.value {
            case .boolean: return [ShownField(path: path, kind: .flag)]
            case .integer, .number: return [ShownField(path: path, kind: .number)]
            case .string: return [ShownField(path: path, kind: .text)]
            case .object: return all(in: member.value, below: path)
            case .null, .array: return []
            }
        }
    }
}

extension JSONValue {
    /// A second characteristic of one UUID has its values below its own name: a second battery is another field.
    fileprivate func told(of channel: Channel) -> JSONValue {
        guard let name = channel.nameOfTwin else { return self }
        return .object([.init(name: name, value: self)])
    }
}
