// Which of the attached devices are watched, and as whom: by their profile, and by what tells one from another.
import WakeModel
import WakeSystem

extension AccessorySource {
    func take(_ event: UdevFeed.Event) {
        let changes =
            switch event {
            case .record(let record): attached.take(record)
            case .snapshot(let records, _): attached.reconcile(with: records)
            }
        guard !changes.isEmpty else { return }
        if case .snapshot(_, afterLoss: true) = event { tellMissed(changes) }
        // All are known before the first is resolved: who else waits plays a part in that.
        for change in changes { consider(change) }
        changingRegistry {
            for change in changes { take(change) }
            askAgain()
        }
    }

    /// Handlers are told of these as of any other; an operator may want to know why it was late.
    private func tellMissed(_ changes: [AttachedDevices.Change]) {
        log.notice(
            "among udev's lost messages were \(changes.count(where: \.isArrival)) of what came and "
                + "\(changes.count(where: \.isDeparture)) of what went; all of it is known again")
    }

    /// What changed in the registry meanwhile is kept once.
    func changingRegistry(_ body: () -> Void) {
        let before = registry.changes
        body()
        guard registry.changes != before else { return }
        for uri in registry.trim(attached: places.uris) { discard(uri) }
        host?.accessories(are: registry)
    }

    private func consider(_ change: AttachedDevices.Change) {
        switch change {
        case .attached(let record, _), .changed(let record): candidates.set(candidate(record), at: record.path)
        case .detached(let path, _):
            held[path] = nil
            candidates.set(nil, at: path)
        case .moved(let old, let record):
            held[record.path] = held.removeValue(forKey: old)
            candidates.set(nil, at: old)
            candidates.set(candidate(record), at: record.path)
        }
    }

    private func candidate(_ record: UdevRecord) -> AttachedCandidates.Candidate? {
        guard let match = held[record.path] ?? host?.plan(for: record), let identity = AccessoryIdentity(record) else {
            return nil
        }
        return .init(identity: identity, match: match)
    }

    func holdAttached() {
        for record in attached.records {
            if let uri = places[record.path] { held[record.path] = watched[uri]?.match }
        }
    }

    func takeUpUnknown() {
        let unknown = attached.records.filter { places[$0.path] == nil }
        for record in unknown { candidates.set(candidate(record), at: record.path) }
        changingRegistry {
            for record in unknown { noteAttached(record, displaces: false) }
            askAgain()
        }
    }

    private func take(_ change: AttachedDevices.Change) {
        switch change {
        case .attached(let record, _): noteAttached(record)
        case .detached(let path, _): noteDetached(path)
        case .changed(let record): noteChanged(record)
        case .moved(let old, let record): noteMoved(from: old, record)
        }
    }

    /// - Parameter displaces: another node of its interface that stands for the device already, where this one goes before it.
    func noteAttached(_ record: UdevRecord, displaces: Bool = true) {
        guard places[record.path] == nil else { return }
        guard let candidate = candidates[record.path] else { return forgetQuestions(of: record.path) }
        let resolution = registry.resolve(
            candidate.identity, attached: places.uris, waiting: candidates.waitingTwins(of: record.path, places))
        switch resolution {
        case .known(let uri), .new(let uri):
            doubts[record.path] = nil
            if makeRoom(for: record, as: uri, displaces: displaces) { adopt(uri, record, candidate.match) }
        case .ambiguous(let candidates): doubt(record, candidates)
        }
    }

    private func forgetQuestions(of path: String) {
        doubts[path] = nil
        spares[path] = nil
    }

    private func doubt(_ record: UdevRecord, _ candidates: [String]) {
        let doubt = Doubt(record: record, candidates: candidates)
        guard doubts.updateValue(doubt, forKey: record.path) == nil else { return }
        let names = candidates.map { registry.name(of: $0) ?? $0 }.joined(separator: " or ")
        log.warning(
            "\(record.name) may be \(names), or another of its kind, and has no serial number to tell; "
                + "say which with 'wakebridge pair \(record.name) --as DEVICE', or '--as new'")
    }

    /// With one that came or went, another may be beyond doubt.
    private func askAgain() {
        for record in doubts.values.map(\.record).sorted(by: { $0.path < $1.path }) { noteAttached(record) }
    }

    private func adopt(_ uri: String, _ record: UdevRecord, _ match: AccessoryMatch) {
        let device = Device(
            uri: uri, alias: registry.name(of: uri) ?? Self.alias(uri, match.profile),
            profile: match.profile, kind: .externalAccessory)
        spares[record.path] = nil
        places.put(uri, at: record.path)
        attach(device, match, at: record.node, by: files)
    }

    /// It is there, and watched from now on.
    func attach(_ device: Device, _ match: AccessoryMatch, at place: String?, by opener: any NodeOpener) {
        let uri = device.uri
        if watched[uri]?.match != match { watch(device, match, by: opener) }
        watched[uri]?.device = device
        letsGo = letsGo || match.plan.onSuspend == .detach
        host?.accessory(knows: device, by: match)
        step(uri, .wanted(host?.isWanted(uri) ?? false))
        let machine = watched[uri]?.machine
        watched[uri]?.beforePlug = machine
        watched[uri]?.plug = (plugNumber(of: uri), nil)
        step(uri, .attached(node: place))
    }

    private func watch(_ device: Device, _ match: AccessoryMatch, by opener: any NodeOpener) {
        let uri = device.uri
        // Told as the device that it was, before it is another's.
        step(uri, .retired)
        let heard = watched[uri].map { $0.machine.deafSince } ?? host?.listening(to: uri)?.time
        let folded = watched[uri]?.machine.presence.folded ?? 0
        watched[uri] = Watched(
            device: device, match: match,
            machine: PortMachine(
                match.plan, session: host?.session(of: uri) ?? .open, heardUntil: heard,
                patience: match.plan.node == .rfcomm ? .calling : patience),
            opener: opener)
        watched[uri]?.machine.presence.folded = folded
    }

    /// Of the profile and what is the device's own: `gps-receiver-A1001`, and `gps-receiver-A1001-02` for an interface that is
    /// not its first one.
    private static func alias(_ uri: String, _ profile: String) -> String {
        let parts = uri.split(separator: "/").last?.split(separator: ":").dropFirst(2) ?? []
        let own = parts.map { $0.drop { $0 == "@" } }.filter { !$0.isEmpty && $0 != "00" }
        return ([profile[...]] + own).joined(separator: "-")
    }

    private func noteDetached(_ path: String) {
        forgetQuestions(of: path)
        guard let uri = places[path] else { return }
        release(uri, at: path)
        registry.touch(uri)
        expectSpare(for: uri)
    }

    private func noteChanged(_ record: UdevRecord) {
        guard let uri = places[record.path] else { return noteAttached(record) }
        guard candidates[record.path]?.match != watched[uri]?.match else { return step(uri, .changed) }
        // Another profile knows it now, or none does.
        release(uri, at: record.path)
        noteAttached(record)
        expectSpare(for: uri)
    }

    private func noteMoved(from old: String, _ record: UdevRecord) {
        forgetQuestions(of: old)
        guard let uri = places.remove(at: old) else { return noteAttached(record) }
        places.put(uri, at: record.path)
    }

    func release(_ uri: String, at path: String) {
        places.remove(at: path)
        watched[uri]?.port?.conclude()
        step(uri, .detached)
    }
}

// MARK: What people say of them

extension AccessorySource {
    /// The one at this node or place in /sys, if it is attached.
    public func record(at word: String) -> UdevRecord? {
        attached.records.first { $0.node == word || $0.path == word }
    }

    /// It is called so from now on; nil gives it its first name back. False where it was never known.
    public func rename(_ uri: String, to name: String?) -> Bool {
        guard registry.setName(name, of: uri) else { return false }
        host?.accessories(are: registry)
        if let match = watched[uri]?.match, var device = watched[uri]?.device {
            device.alias = name ?? Self.alias(uri, device.profile ?? "accessory")
            watched[uri]?.device = device
            host?.accessory(knows: device, by: match)
        }
        return true
    }

    /// What is attached at `path` is `uri`, or where that is nil, none of those known.
    public func resolve(_ path: String, as uri: String?) -> String? {
        guard let record = attached[path], let identity = AccessoryIdentity(record) else { return nil }
        let before = places.uris
        if let taken = places[path] { release(taken, at: path) }
        let displaced = uri.flatMap { places.place(of: $0) }
        if let uri, let displaced { release(uri, at: displaced) }
        let chosen: String
        if let uri {
            if let gone = registry.bind(identity, to: uri, attached: before) { discard(gone) }
            chosen = uri
        } else {
            chosen = registry.addNew(identity)
        }
        doubts[path] = nil
        noteAttached(record)
        // Whoever was taken for it is somebody else, and others may be beyond doubt now.
        if let other = displaced.flatMap({ attached[$0] }) { noteAttached(other) }
        lookAgain()
        return chosen
    }

    /// Nothing of it is remembered; attached, it is new.
    public func forget(_ uri: String) -> Bool {
        guard registry.forget(uri) else { return false }
        let place = places.place(of: uri)
        if let place { release(uri, at: place) }
        discard(uri)
        if let record = place.flatMap({ attached[$0] }) {
            // Or it would be taken for a twin that is away.
            if let candidate = candidates[record.path] { _ = registry.addNew(candidate.identity) }
            noteAttached(record)
        }
        lookAgain()
        return true
    }

    /// It is nobody any more, and goes with its session: whoever is called so next begins anew.
    private func discard(_ uri: String) {
        unwatch(uri)
        host?.accessory(isForgotten: uri)
    }

    private func unwatch(_ uri: String) {
        step(uri, .retired)
        watched[uri] = nil
    }

    private func lookAgain() {
        takeUpSpares()
        askAgain()
        host?.accessories(are: registry)
    }
}

// MARK: What keeps one from its handlers

extension AccessorySource {
    /// A sentence; nil where nothing is in its way but, it may be, its session.
    public func hindrance(of uri: String) -> String? {
        if let entry = watched[uri] { return entry.machine.hindrance }
        return Device.bluetoothAddress(in: uri) != nil
            ? "bluetoothd has not told of it as paired and trusted since the bridge started"
            : "it has not been attached since the bridge started"
    }
}

extension PortMachine {
    private static let unknown =
        "bluetoothd does not know it as paired and trusted now; plug its adapter in, or pair it anew"

    var hindrance: String? {
        switch phase {
        case .away: isCalled ? Self.unknown : "it is not attached"
        case .idle, .open: nil
        case .opening: refusal?.sentence
        case .barred: refusal?.sentence ?? "it hung up, and is opened anew"
        }
    }
}
