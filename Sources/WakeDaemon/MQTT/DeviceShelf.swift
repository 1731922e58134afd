// What the broker retains of each device and handler: about, availability, session, state, and discovery.
import WakeControl
import WakeEngine
import WakeMQTT
import WakeModel
import WakeProfiles
import WakeSystem

struct DeviceShelf {
    /// What is known of a device since it was published first.
    private struct Shelved {
        var alias: String
        var state: StatePublication
        var fields: [ShownField] = []
        /// What it said last by each channel, not read yet.
        var unread: [Channel: (value: [UInt8], time: WallTime)] = [:]
    }

    var retained = RetainedTopics()
    let discovery: DiscoveryMessage?
    private(set) var nextDue: Instant?
    private let settings: MQTTSettings
    private let topics: BridgeTopics
    private let answers: ControlAnswers
    private var shelved: [EventOrigin: Shelved] = [:]
    /// Those that have something to publish.
    private var speaking: Set<EventOrigin> = []
    private var changed: Set<EventOrigin> = []
    private var handlers: Set<String> = []
    private var areHandlersStale = true

    private var catalog: Catalog { answers.bridge.catalog }

    init(_ settings: MQTTSettings, _ topics: BridgeTopics, of answers: ControlAnswers) {
        (self.settings, self.topics, self.answers) = (settings, topics, answers)
        discovery = settings.discovery.map {
            DiscoveryMessage(topics: topics, prefix: $0, version: Daemon.version)
        }
        retained.set(topics.status, Array("online".utf8))
        if let discovery { retained.set(discovery.topicOfBridge, discovery.bridge()) }
    }

    // MARK: What happens

    mutating func receive(_ event: DeviceEvent, _ value: [UInt8]?) {
        let id = event.origin
        switch event.kind {
        case .connected, .disconnected: changed.insert(id)
        case .data(let channel, _):
            if shelved[id] == nil { changed.insert(id) }
            guard let value else { return }
            shelve(id)
            shelved[id]?.unread[channel] = (value, event.stamp.wall)
            speaking.insert(id)
        case .gap, .attention, .occasion: break
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

    /// What a named decoder makes is known only when it was heard.
    private mutating func read(_ entry: inout Shelved, of id: EventOrigin) {
        let before = entry.state.fieldNames.count
        for (value, time) in entry.unread.values.sorted(by: { $0.time < $1.time }) {
            guard let value = try? JSONValue(parsing: value) else { continue }
            entry.state.receive(value, at: time)
            for field in ShownField.all(in: value) where !entry.fields.contains(where: { $0.path == field.path }) {
                entry.fields.append(field)
            }
        }
        entry.unread.removeAll()
        if entry.state.fieldNames.count != before { announce(id, entry) }
    }

    // MARK: Devices

    private mutating func shelve(_ id: EventOrigin) {
        guard shelved[id] == nil, let entry = catalog.entry(id) else { return }
        let profile = entry.profile.map { catalog.profiles[$0] }
        let silence = TimeSpan(nanoseconds: (profile?.expiry ?? .seconds(86_400)).nanoseconds / 3)
        let state = StatePublication(rules: settings.rules(of: entry.device.alias), longestSilence: silence)
        shelved[id] = Shelved(alias: entry.device.alias, state: state, fields: profile?.shownFields ?? [])
    }

    private mutating func publish(_ id: EventOrigin) {
        guard let entry = catalog.entry(id), !entry.device.kind.isRelayed else { return }
        if let known = shelved[id], known.alias != entry.device.alias { forget(id, known.alias) }
        guard isThere(entry.device) else { return forget(id, entry.device.alias) }
        shelve(id)
        let (device, session) = (entry.device, answers.sources.session(of: entry.device))
        let isHeard = entry.isConnected ?? (catalog.lastData(of: id) != nil)
        set(device, .about, about(device, session))
        set(device, .availability, isHeard ? "online" : "offline")
        if let session { set(device, .session, session.rawValue) }
        if let known = shelved[id] { announce(id, known) }
    }

    /// A forgotten device is called by its source.
    private func isThere(_ device: Device) -> Bool { device.alias != device.uri && !answers.isForgotten(device) }

    private mutating func set(_ device: Device, _ what: BridgeTopics.DeviceTopic, _ text: String) {
        retained.set(topics.device(device.alias, what), Array(text.utf8))
    }

    private func about(_ device: Device, _ session: LinkSession?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("device", device.alias)
            writer.field("source", device.uri)
            writer.field("profile", device.profile)
            writer.field("mode", device.kind.rawValue)
            writer.field("bonded", device.isBonded)
            writer.field("session", session?.rawValue)
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private mutating func announce(_ id: EventOrigin, _ known: Shelved) {
        guard let discovery, let entry = catalog.entry(id), !known.fields.isEmpty || entry.isConnected != nil else {
            return
        }
        let profile = entry.profile.map { catalog.profiles[$0] }
        let hasSession = answers.sources.session(of: entry.device) != nil && settings.allowed.contains(.session)
        retained.set(
            discovery.topic(ofDevice: entry.device.alias),
            discovery.device(
                entry.device, model: profile?.title, fields: known.fields, controls: hasSession ? .session : [],
                expireAfter: profile?.expiry ?? .seconds(86_400)))
    }

    private mutating func forget(_ id: EventOrigin, _ alias: String) {
        guard shelved.removeValue(forKey: id) != nil else { return }
        speaking.remove(id)
        clear(.device(alias))
    }

    // MARK: Handlers

    private mutating func publishHandlers() {
        areHandlersStale = false
        let present = Set(settings.allowed.contains(.wake) ? catalog.handlers.values.map(\.id) : [])
        for id in handlers.subtracting(present).sorted() { clear(.handler(id)) }
        handlers = present
        for id in present.sorted() {
            retained.set(topics.handler(id), Array(JSONWriter.line { $0.field("handler", id) }.dropLast()))
            if let discovery { retained.set(discovery.topic(ofHandler: id), discovery.handler(id)) }
        }
    }

    // MARK: What is gone

    /// Removes what is retained under a name, unless it is there.
    mutating func clear(_ name: BridgeTopics.RetainedName) {
        switch name {
        case .device(let alias):
            guard !catalog.devices.contains(where: { $0?.device.alias == alias && isThere(of: $0) }) else { return }
            for what in BridgeTopics.DeviceTopic.allCases { retained.remove(topics.device(alias, what)) }
            if let discovery { retained.remove(discovery.topic(ofDevice: alias)) }
        case .handler(let id):
            guard !isConfigured(id) else { return }
            retained.remove(topics.handler(id))
            if let discovery { retained.remove(discovery.topic(ofHandler: id)) }
        }
    }

    private func isThere(of entry: Catalog.DeviceEntry?) -> Bool {
        entry.map { isThere($0.device) && !$0.device.kind.isRelayed } ?? false
    }

    private func isConfigured(_ id: String) -> Bool {
        settings.allowed.contains(.wake) && catalog.handler(named: id) != nil
    }
}

extension ShownField {
    /// What a value shows, as its profile would say it.
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
