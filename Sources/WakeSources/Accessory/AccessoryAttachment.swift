// Chooses which attached devices are watched, and under which URI: by their profile and their identity.
import WakeModel
import WakeProfiles
import WakeSystem

extension AccessorySource {
    func apply(_ event: UdevFeed.Event) {
        let changes =
            switch event {
            case .record(let record): attached.apply(record)
            case .snapshot(let records, _): attached.reconcile(with: records)
            }
        guard !changes.isEmpty else { return }
        if case .snapshot(_, afterLoss: true) = event { reportMissed(changes) }
        // All are candidates before the first is resolved: its twins that wait play a part in that.
        for change in changes { consider(change) }
        changingRegistry {
            for change in changes { apply(change) }
            resolveDoubts()
        }
    }

    /// Handlers get these like any other; the log explains why they are late.
    private func reportMissed(_ changes: [AttachedDevices.Change]) {
        log.notice(
            "among udev's lost messages were \(changes.count(where: \.isArrival)) of what came and "
                + "\(changes.count(where: \.isDeparture)) of what went; all of it is known again")
    }

    /// Saves the registry once, if `body` changes it.
    func changingRegistry(_ body: () -> Void) {
        let before = registry.changes
        body()
        guard registry.changes != before else { return }
        for uri in registry.trim(attached: places.uris) { discard(uri) }
        saveRegistry()
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
        guard let match = held[record.path] ?? planner.plan(for: record), let identity = AccessoryIdentity(record)
        else {
            return nil
        }
        return .init(identity: identity, match: match)
    }

    func holdAttached() {
        for record in attached.records {
            if let uri = places[record.path] { held[record.path] = watched[uri]?.match }
        }
    }

    func adoptUnknown() {
        let unknown = attached.records.filter { places[$0.path] == nil }
        for record in unknown { candidates.set(candidate(record), at: record.path) }
        changingRegistry {
            for record in unknown { attach(record, displaces: false) }
            resolveDoubts()
        }
    }

    private func apply(_ change: AttachedDevices.Change) {
        switch change {
        case .attached(let record, _): attach(record)
        case .detached(let path, _): detach(path)
        case .changed(let record): reconsider(record)
        case .moved(let old, let record): move(from: old, record)
        }
    }

    /// - Parameter displaces: whether this node replaces another of its interface that has the URI already, if it goes
    /// before it.
    func attach(_ record: UdevRecord, displaces: Bool = true) {
        guard places[record.path] == nil else { return }
        guard let candidate = candidates[record.path] else { return forgetQuestions(of: record.path) }
        let waiting = candidates.waitingTwins(of: record.path, places)
        guard admits(candidate.identity, waiting, record) else { return }
        let resolution = registry.resolve(candidate.identity, attached: places.uris, waiting: waiting)
        switch resolution {
        case .known(let uri), .new(let uri):
            doubts[record.path] = nil
            if makeRoom(for: record, as: uri, displaces: displaces) { adopt(uri, record, candidate.match) }
        case .ambiguous(let candidates): doubt(record, candidates)
        }
    }

    /// Limits new devices at one port, because a device that keeps sending new serial numbers invents them.
    private func admits(
        _ identity: AccessoryIdentity, _ waiting: [AccessoryIdentity], _ record: UdevRecord
    ) -> Bool {
        guard case .new = registry.look(at: identity, attached: places.uris, waiting: waiting) else { return true }
        switch candidates.newcomers.judge(identity, at: host.clock.now().boottime) {
        case .admitted: return true
        case .refusedToo: return false
        case .refused:
            log.warning(
                "more than \(NewcomerLimit.most) new devices came at \(identity.port) within an hour, so \(record.name) and others "
                    + "are left alone there; to take one, run 'wakebridge pair \(record.name) --as new'")
            return false
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

    /// Once a device has come or gone, another may be beyond doubt.
    private func resolveDoubts() {
        for record in doubts.values.map(\.record).sorted(by: { $0.path < $1.path }) { attach(record) }
    }

    private func adopt(_ uri: String, _ record: UdevRecord, _ match: AccessoryMatch) {
        let device = Device(
            uri: uri, alias: registry.name(of: uri) ?? Self.alias(uri, match.profile),
            profile: match.profile, kind: .externalAccessory,
            reportDescriptor: match.plan.needsReportDescriptor ? reportDescriptor(of: record) : [])
        spares[record.path] = nil
        places.put(uri, at: record.path)
        attach(device, match, at: record.node, by: files)
    }

    /// Empty, and logged, where it cannot be read: its reports come undecoded then.
    private func reportDescriptor(of record: UdevRecord) -> [UInt8] {
        // The kernel puts a folder for the class between the device and its node.
        let device = File.parent(of: record.path)
        let places = [device, File.parent(of: device)].map { $0 + "/report_descriptor" }
        do throws(SystemError) {
            return try File.bytes(at: places.first { File.exists($0) } ?? places[1], limit: 4_096)
        } catch {
            log.warning("the reports of \(record.name) cannot be decoded: \(error); plug it in again")
            return []
        }
    }

    /// It is there, and watched from now on.
    func attach(_ device: Device, _ match: AccessoryMatch, at place: String?, by opener: any NodeOpener) {
        let uri = device.uri
        if watched[uri]?.match != match { watch(device, match, by: opener) }
        watched[uri]?.device = device
        needsWanted = needsWanted || match.plan.onSuspend == .detach || match.plan.ask.needsWanted
        introduce(device, match)
        step(uri, .wanted(host.isWanted(uri)))
        let machine = watched[uri]?.machine
        watched[uri]?.beforePlug = machine
        watched[uri]?.plug = (plugNumber(of: uri), nil)
        step(uri, .attached(node: place))
    }

    func introduce(_ device: Device, _ match: AccessoryMatch) {
        host.introduce(device, by: ProfileIndex(rawValue: match.edition))
    }

    private func watch(_ device: Device, _ match: AccessoryMatch, by opener: any NodeOpener) {
        let uri = device.uri
        // Its last events are raised before it gets another profile.
        step(uri, .retired)
        let heard = watched[uri].map { $0.machine.deafSince } ?? host.listening(to: uri)?.time
        let folded = watched[uri]?.machine.presence.folded ?? 0
        watched[uri] = Entry(
            device: device, match: match,
            machine: PortMachine(
                match.plan, session: host.session(of: uri), heardUntil: heard,
                patience: match.plan.node == .rfcomm ? .calling : patience),
            opener: opener)
        watched[uri]?.machine.presence.folded = folded
    }

    /// Made of the profile and the device's own part: `gps-receiver-A1001`, or `gps-receiver-A1001-02` for an interface
    /// that is not its first one.
    private static func alias(_ uri: String, _ profile: String) -> String {
        let parts = uri.split(separator: "/").last?.split(separator: ":").dropFirst(2) ?? []
        let own = parts.map { $0.drop { $0 == "@" } }.filter { !$0.isEmpty && $0 != "00" }
        return ([profile[...]] + own).joined(separator: "-")
    }

    private func detach(_ path: String) {
        forgetQuestions(of: path)
        guard let uri = places[path] else { return }
        release(uri, at: path)
        registry.touch(uri)
        expectSpare(for: uri)
    }

    private func reconsider(_ record: UdevRecord) {
        guard let uri = places[record.path] else { return attach(record) }
        guard candidates[record.path]?.match != watched[uri]?.match else { return step(uri, .changed) }
        // Another profile knows it now, or none does.
        release(uri, at: record.path)
        attach(record)
        expectSpare(for: uri)
    }

    private func move(from old: String, _ record: UdevRecord) {
        forgetQuestions(of: old)
        guard let uri = places.remove(at: old) else { return attach(record) }
        places.put(uri, at: record.path)
    }

    func release(_ uri: String, at path: String) {
        places.remove(at: path)
        watched[uri]?.port?.conclude()
        step(uri, .detached)
    }
}

// MARK: Orders of the operator

extension AccessorySource {
    /// The one at this node or place in /sys, if it is attached.
    public func record(at word: String) -> UdevRecord? {
        attached.records.first { $0.node == word || $0.path == word }
    }

    /// Sets its name, also of a device that has not been attached since the start. False where it was never known.
    @discardableResult
    public func rename(_ uri: String, to name: String) -> Bool {
        guard registry.setName(name, of: uri) else { return false }
        saveRegistry()
        if let match = watched[uri]?.match, var device = watched[uri]?.device {
            device.alias = name
            watched[uri]?.device = device
            introduce(device, match)
        } else if var device = host.knownDevice(at: uri) {
            device.alias = name
            host.introduce(device, by: nil)
        }
        return true
    }

    /// Assigns `uri` to the device at `path`, or a new URI if `uri` is nil.
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
        attach(record)
        // The device that was taken for it is another, and doubts about others may be over.
        if let other = displaced.flatMap({ attached[$0] }) { attach(other) }
        lookAgain()
        return chosen
    }

    /// The registry forgets the device; if it is attached, it is new.
    public func forget(_ uri: String) -> Bool {
        guard registry.forget(uri) else { return false }
        let place = places.place(of: uri)
        if let place { release(uri, at: place) }
        discard(uri)
        if let record = place.flatMap({ attached[$0] }) {
            // Or it would be taken for a twin that is away.
            if let candidate = candidates[record.path] { _ = registry.addNew(candidate.identity) }
            attach(record)
        }
        lookAgain()
        return true
    }

    /// The device is unknown now, and so is its session: the next device of this URI begins like a new one.
    private func discard(_ uri: String) {
        unwatch(uri)
        host.forget(uri)
    }

    private func unwatch(_ uri: String) {
        step(uri, .retired)
        watched[uri] = nil
    }

    private func lookAgain() {
        adoptSpares()
        resolveDoubts()
        saveRegistry()
    }
}

// MARK: Obstacles between a device and its handlers

extension AccessorySource {
    public func blockingReason(of uri: String) -> String? {
        if let entry = watched[uri] { return entry.machine.blockingReason }
        return Device.bluetoothAddress(in: uri) != nil
            ? "bluetoothd has not announced it as paired and trusted since the bridge started"
            : "it has not been attached since the bridge started"
    }
}

extension PortMachine {
    private static let unknown =
        "bluetoothd does not know it as paired and trusted now; plug its adapter in, or pair it again"

    var blockingReason: String? {
        switch phase {
        case .away: isCalled ? Self.unknown : "it is not attached"
        case .idle: nil
        case .open: asking.trouble?.sentence
        case .opening: refusal?.sentence
        case .barred: refusal?.sentence ?? "it hung up, and is opened again"
        }
    }
}

// MARK: Spare nodes: of several nodes of one interface that profiles know, the first by name is opened

/// A node that is not opened, because another one of its interface is.
public struct SpareNode: Hashable, Sendable {
    public var record: UdevRecord
    /// Whose it is too.
    public var uri: String
}

extension AccessorySource {
    /// Sorted by their places in /sys.
    public var spareNodes: [SpareNode] {
        spares.compactMap { path, uri in attached[path].map { SpareNode(record: $0, uri: uri) } }
            .sorted { $0.record.path < $1.record.path }
    }

    /// Whose node it is, if it is left alone.
    public func owner(ofSpare place: String) -> String? { spares[place] }

    /// Makes room for `record` if its node comes before the one that has `uri`; false if it is left alone.
    func makeRoom(for record: UdevRecord, as uri: String, displaces: Bool) -> Bool {
        guard let holder = places.place(of: uri) else { return true }
        guard displaces, record.path.comesNaturally(before: holder) else {
            leaveAlone(record, uri, for: attached[holder])
            return false
        }
        undoPlug(of: uri, at: holder)
        if let other = attached[holder] { leaveAlone(other, uri, for: record) }
        return true
    }

    private func leaveAlone(_ record: UdevRecord, _ uri: String, for holder: UdevRecord?) {
        guard spares.updateValue(uri, forKey: record.path) == nil else { return }
        log.notice(
            "\(record.name) belongs to \(label(of: uri)) too, and is left alone: of one interface's nodes \(holder?.name ?? "one") "
                + "is opened; have a profile's 'match' name what tells them apart")
    }

    /// Whichever node came first, handlers get the same events: a plug that raised none did not happen.
    private func undoPlug(of uri: String, at holder: String) {
        guard let machine = watched[uri]?.beforePlug else { return release(uri, at: holder) }
        places.remove(at: holder)
        close(uri)
        watched[uri]?.machine = machine
        step(uri, .session(host.session(of: uri)))
    }

    /// Mostly the whole device is being unplugged, and its other nodes are about to go.
    func expectSpare(for uri: String) {
        guard timers.spares?.armedAt == nil, spares.values.contains(uri) else { return }
        timers.spares?.arm(at: host.clock.now().monotonic + .milliseconds(500))
    }

    /// The nodes that these were left alone for are gone.
    func adoptSpares() {
        let free = spares.filter { places.place(of: $0.value) == nil }.keys
        changingRegistry {
            for path in free.sorted(by: { $0.comesNaturally(before: $1) }) {
                spares[path] = nil
                if let record = attached[path] { attach(record) }
            }
        }
    }
}

extension UdevRecord {
    /// Its node, or its place in /sys where it has none.
    var name: String { node ?? path }
}

extension String {
    /// Letter by letter, but numbers by their value: input9 before input10, as the kernel counts what it makes.
    func comesNaturally(before other: String) -> Bool {
        var (left, right) = (utf8[...], other.utf8[...])
        while let one = left.first, let two = right.first {
            let (mine, others) = (left.prefix(while: \.isDigit), right.prefix(while: \.isDigit))
            if !mine.isEmpty, !others.isEmpty {
                let (a, b) = (mine.drop { $0 == UInt8(ascii: "0") }, others.drop { $0 == UInt8(ascii: "0") })
                if a.count != b.count { return a.count < b.count }
                if !a.elementsEqual(b) { return a.lexicographicallyPrecedes(b) }
                (left, right) = (left[mine.endIndex...], right[others.endIndex...])
            } else if one == two {
                left.removeFirst()
                right.removeFirst()
            } else {
                return one < two
            }
        }
        return left.isEmpty && !right.isEmpty
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
