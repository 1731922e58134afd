// Which of the attached devices are watched, and as whom: by their profile, and by what tells one from another.
import WakeModel
import WakeSystem

extension AccessorySource {
    func take(_ event: UdevFeed.Event) {
        let changes =
            switch event {
            case .record(let record): attached.take(record)
            case .snapshot(let records): attached.reconcile(with: records)
            }
        guard !changes.isEmpty else { return }
        let before = registry
        for change in changes { take(change) }
        askAgain()
        if registry != before { host?.accessories(are: registry) }
    }

    private func take(_ change: AttachedDevices.Change) {
        switch change {
        case .attached(let record, _): noteAttached(record)
        case .detached(let path, _): noteDetached(path)
        case .changed(let record): noteChanged(record)
        case .moved(let old, let record): noteMoved(from: old, record)
        }
    }

    private func noteAttached(_ record: UdevRecord) {
        guard sources[record.path] == nil, let match = host?.plan(for: record),
            let identity = AccessoryIdentity(record)
        else { return }
        let resolution = registry.resolve(
            identity, attached: Set(sources.values), waiting: waiting(besides: record.path))
        switch resolution {
        case .known(let source), .new(let source):
            doubts[record.path] = nil
            adopt(source, record, match)
        case .ambiguous(let candidates): doubt(record, candidates)
        }
    }

    /// Those that a profile knows and nobody has been told of yet.
    private func waiting(besides path: String) -> [AccessoryIdentity] {
        attached.records.filter { $0.path != path && sources[$0.path] == nil && host?.plan(for: $0) != nil }
            .compactMap { AccessoryIdentity($0) }
    }

    private func doubt(_ record: UdevRecord, _ candidates: [String]) {
        let doubt = Doubt(record: record, candidates: candidates)
        guard doubts.updateValue(doubt, forKey: record.path) == nil else { return }
        let names = candidates.map { registry.name(of: $0) ?? $0 }.joined(separator: " or ")
        log.warning(
            "\(record.node ?? record.path) may be \(names), or another of its kind, and has no serial number to tell; "
                + "say which with 'wakebridge pair \(record.node ?? record.path)'")
    }

    /// With one that came or went, another may be beyond doubt.
    private func askAgain() {
        for record in doubts.values.map(\.record).sorted(by: { $0.path < $1.path }) { noteAttached(record) }
    }

    private func adopt(_ source: String, _ record: UdevRecord, _ match: AccessoryMatch) {
        if let entry = watched[source], entry.machine.isAttached {
            return log.notice(
                "\(record.node ?? record.path) belongs to \(entry.device.alias) too, and is left alone: one node of an "
                    + "interface is opened; have a profile's 'match' name what tells them apart")
        }
        let device = Device(
            source: source, alias: registry.name(of: source) ?? Self.alias(source, match.profile),
            profile: match.profile, mode: .externalAccessory)
        if watched[source]?.match != match {
            // Told as the device that it was, before it is another's.
            step(source, .retired)
            let heard = watched[source].map { $0.machine.deafSince } ?? host?.listening(to: source)?.time
            let folded = watched[source]?.machine.presence.folded ?? 0
            watched[source] = Watched(
                device: device, match: match,
                machine: PortMachine(
                    match.plan, session: host?.session(of: source) ?? .open, heardUntil: heard, patience: patience
                ))
            watched[source]?.machine.presence.folded = folded
        }
        watched[source]?.device = device
        letsGo = letsGo || match.plan.onSuspend == .detach
        host?.accessory(knows: device)
        sources[record.path] = source
        step(source, .wanted(host?.isWanted(source) ?? false))
        step(source, .attached(node: record.node))
    }

    /// Of the profile and what is the device's own: `gps-receiver-A1001`.
    private static func alias(_ source: String, _ profile: String) -> String {
        let parts = source.split(separator: "/").last?.split(separator: ":") ?? []
        let own = parts.count > 2 ? parts[2].drop { $0 == "@" } : ""
        return own.isEmpty ? profile : "\(profile)-\(own)"
    }

    private func noteDetached(_ path: String) {
        doubts[path] = nil
        guard let source = sources.removeValue(forKey: path) else { return }
        watched[source]?.port?.conclude()
        step(source, .detached)
    }

    private func noteChanged(_ record: UdevRecord) {
        if let source = sources[record.path] { step(source, .changed) } else { noteAttached(record) }
    }

    private func noteMoved(from old: String, _ record: UdevRecord) {
        doubts[old] = nil
        if let source = sources.removeValue(forKey: old) {
            sources[record.path] = source
        } else {
            noteAttached(record)
        }
    }
}

// MARK: What people say of them

extension AccessorySource {
    /// The one at this node or place in /sys, if it is attached.
    public func record(at word: String) -> UdevRecord? {
        attached.records.first { $0.node == word || $0.path == word }
    }

    /// It is called so from now on; nil gives it its first name back. False where it was never known.
    public func rename(_ source: String, to name: String?) -> Bool {
        guard registry.setName(name, of: source) else { return false }
        host?.accessories(are: registry)
        if var device = watched[source]?.device {
            device.alias = name ?? Self.alias(source, device.profile ?? "accessory")
            watched[source]?.device = device
            host?.accessory(knows: device)
        }
        return true
    }

    /// What is attached at `path` is `source`, or where that is nil, none of those known.
    public func resolve(_ path: String, as source: String?) -> String? {
        guard let record = attached[path], let identity = AccessoryIdentity(record) else { return nil }
        if let taken = sources[path] { noteLost(taken, at: path) }
        let chosen: String
        var displaced: UdevRecord?
        if let source {
            if let other = sources.first(where: { $0.value == source })?.key {
                noteLost(source, at: other)
                displaced = attached[other]
            }
            registry.bind(identity, to: source)
            chosen = source
        } else {
            chosen = registry.addNew(identity)
        }
        doubts[path] = nil
        noteAttached(record)
        // Whoever was taken for it is somebody else, and others may be beyond doubt now.
        if let displaced { noteAttached(displaced) }
        askAgain()
        host?.accessories(are: registry)
        return chosen
    }

    /// Nothing of it is remembered; attached, it is new.
    public func forget(_ source: String) -> Bool {
        guard registry.forget(source) else { return false }
        host?.accessories(are: registry)
        guard let path = sources.first(where: { $0.value == source })?.key, let record = attached[path] else {
            return true
        }
        noteLost(source, at: path)
        noteAttached(record)
        host?.accessories(are: registry)
        return true
    }

    private func noteLost(_ source: String, at path: String) {
        sources[path] = nil
        watched[source]?.port?.conclude()
        step(source, .detached)
    }
}

// MARK: What keeps one from its handlers

extension AccessorySource {
    /// A sentence; nil where nothing is in its way but, it may be, its session.
    public func hindrance(of source: String) -> String? {
        guard let entry = watched[source] else { return "it has not been attached since the bridge started" }
        return entry.machine.hindrance
    }
}

extension PortMachine {
    var hindrance: String? {
        switch phase {
        case .away: "it is not attached"
        case .idle, .open: nil
        case .opening: refusal?.sentence
        case .barred: refusal?.sentence ?? "its node hung up, and is opened anew"
        }
    }
}
