// The stream of another bridge, from a broker's messages to the events raised here: pure.
import WakeModel

struct RemoteStream {
    enum Input: Hashable {
        /// The broker delivers the bridge's publications from now on.
        case reached
        /// The broker is away, for the reason.
        case lost(why: String)
        /// The bridge itself is there, or the broker has missed it.
        case presence(isOnline: Bool)
        /// The bridge's description of a device, beside its stream.
        case described(alias: String, RemoteDescription)
        /// The bridge has forgotten a device, or calls it otherwise.
        case forgotten(alias: String)
        case availability(alias: String, isOnline: Bool)
        case line(RemoteLine)
    }

    /// The changes of one input: in this order, and in one commit.
    struct Outcome: Hashable {
        var introduced: [Device] = []
        var events: [RelayedEvent] = []
        /// The URI of a device that is gone, after its events.
        var forgotten: String?
        /// Nil if it does not move.
        var cursor: StreamCursor?
        /// Why the input changed nothing, as a sentence.
        var refusal: String?
    }

    /// Whether the bridge's publications would come here.
    private enum Path: Hashable {
        /// The broker was not reached yet.
        case unreached
        case brokerAway(why: String, since: WallTime)
        case bridgeAway(since: WallTime)
        /// The broker is there, and nothing shows that the bridge is.
        case silent(since: WallTime)
        case open
    }

    private struct Entry: Hashable {
        var device: Device
        /// Whether its bridge has it connected, by the stream; nil if that is unknown.
        var isConnectedThere: Bool?
        /// The last availability, which is published beside the stream.
        var isAvailable: Bool?
        /// Whether its handlers here believe it to be connected.
        var isConnectedHere = false

        /// The state there may have changed since.
        mutating func forget() { (isConnectedThere, isAvailable) = (nil, nil) }
    }

    let bridge: String
    private let prefix: String
    private(set) var cursor: StreamCursor?
    /// False if the cursor may be older than the raised events.
    private var isCertain: Bool
    private var path = Path.unreached
    private var entries: [String: Entry] = [:]
    private var order: [String] = []
    /// Availabilities of devices that nothing has introduced yet, by their aliases here.
    private var unplaced: [String: Bool] = [:]

    /// More devices than one bridge can have links to, and few enough that a stranger's lines fill no memory.
    static let mostDevices = 1_000

    /// - Parameters:
    ///   - cursor: as the journal has it; nil for a bridge that was never received.
    ///   - devices: the known devices of the bridge.
    ///   - isCertain: false where events after the cursor were raised, and lost with it.
    init(of bridge: String, from cursor: StreamCursor?, isCertain: Bool, knowing devices: [Device]) {
        self.bridge = bridge
        prefix = SourceKind.remote.uriPrefix + bridge
        (self.cursor, self.isCertain) = (cursor, isCertain)
        for device in devices {
            entries[device.uri] = Entry(device: device)
            order.append(device.uri)
        }
    }

    mutating func step(_ input: Input, at now: WallTime) -> Outcome {
        var outcome = Outcome()
        switch input {
        case .reached: path = .silent(since: now)
        case .lost(let why): lose(.brokerAway(why: why, since: now), reason: Self.brokerAway, at: now, &outcome)
        case .presence(true): open(at: now, &outcome)
        case .presence(false):
            lose(.bridgeAway(since: now), reason: Self.bridgeOffline, at: now, &outcome)
            // It ends its links or keeps them; its next messages show which.
            unplaced = [:]
            for uri in order { entries[uri]?.forget() }
        case .described(let alias, let description): describe(alias, description, at: now, &outcome)
        case .forgotten(let alias): forget(alias, at: now, &outcome)
        case .availability(let alias, let isOnline): setAvailable(alias, isOnline, at: now, &outcome)
        case .line(let line): follow(line, at: now, &outcome)
        }
        return outcome
    }

    static let brokerAway = "broker-away"
    static let bridgeOffline = "bridge-offline"
    /// The link ended while nothing came from there.
    static let missed = "link-lost"
    static let forgottenThere = "forgotten"
}

// MARK: The way to the bridge

extension RemoteStream {
    /// A broker that stays away, or another reason, is no news to handlers.
    private mutating func lose(_ path: Path, reason: String, at now: WallTime, _ outcome: inout Outcome) {
        if case (.brokerAway(_, let since), .brokerAway(let why, _)) = (self.path, path) {
            self.path = .brokerAway(why: why, since: since)
        } else {
            self.path = path
        }
        for uri in order where entries[uri]?.isConnectedHere == true {
            raise(.disconnected(reason: reason, folded: 0), of: uri, at: now, &outcome)
        }
    }

    /// A message of the bridge came: devices that are connected there are so here.
    private mutating func open(at time: WallTime, _ outcome: inout Outcome) {
        path = .open
        for uri in order where entries[uri]?.isConnectedThere == true && entries[uri]?.isConnectedHere == false {
            raise(.connected(folded: 0), of: uri, at: time, &outcome)
        }
    }

    /// Counts only where the stream has reported no more.
    private mutating func setAvailable(
        _ alias: String, _ isOnline: Bool, at now: WallTime, _ outcome: inout Outcome
    ) {
        let name = localAlias(alias)
        guard let uri = order.first(where: { entries[$0]?.device.alias == name }) else {
            if unplaced.count < Self.mostDevices { unplaced[name] = isOnline }
            return
        }
        entries[uri]?.isAvailable = isOnline
        guard entries[uri]?.isConnectedThere == nil else { return }
        settle(uri, at: now, &outcome)
    }

    /// Uses the availability as the connection, because the stream does not show it.
    private mutating func settle(_ uri: String, at time: WallTime, _ outcome: inout Outcome) {
        guard let entry = entries[uri], let isAvailable = entry.isAvailable else { return }
        entries[uri]?.isConnectedThere = isAvailable
        guard path == .open, isAvailable != entry.isConnectedHere else { return }
        raise(
            isAvailable ? .connected(folded: 0) : .disconnected(reason: Self.missed, folded: 0), of: uri, at: time,
            &outcome)
    }

    private mutating func raise(
        _ kind: DeviceEvent.Kind, of uri: String, at time: WallTime, heard: HeardValue = .none,
        isClockSynchronized: Bool = true, _ outcome: inout Outcome
    ) {
        switch kind {
        case .connected: entries[uri]?.isConnectedHere = true
        case .disconnected: entries[uri]?.isConnectedHere = false
        case .data, .gap, .attention, .occasion: break
        }
        outcome.events.append(
            RelayedEvent(kind, of: uri, at: time, heard: heard, isClockSynchronized: isClockSynchronized))
    }
}

// MARK: Devices

extension RemoteStream {
    private func localAlias(_ alias: String) -> String { "\(bridge)/\(alias.plain(toBytes: RemoteLine.longestText))" }

    /// False where the bridge has more devices than are taken.
    private mutating func introduce(_ device: Device, _ outcome: inout Outcome) -> Bool {
        if let known = entries[device.uri] {
            guard known.device != device else { return true }
        } else {
            guard order.count < Self.mostDevices else {
                outcome.refusal =
                    "bridge \(bridge) names more than \(Self.mostDevices) devices; \(device.alias) is left out"
                return false
            }
            order.append(device.uri)
        }
        freeAlias(for: device, &outcome)
        if entries[device.uri] == nil { entries[device.uri] = Entry(device: device) }
        entries[device.uri]?.device = device
        if let isOnline = unplaced.removeValue(forKey: device.alias) { entries[device.uri]?.isAvailable = isOnline }
        outcome.introduced.append(device)
        return true
    }

    /// Its bridge has given the name to another device.
    private mutating func freeAlias(for device: Device, _ outcome: inout Outcome) {
        guard let former = order.first(where: { $0 != device.uri && entries[$0]?.device.alias == device.alias }),
            var other = entries[former]?.device
        else { return }
        other.alias = former
        entries[former]?.device = other
        outcome.introduced.append(other)
    }

    private mutating func describe(
        _ alias: String, _ description: RemoteDescription, at now: WallTime, _ outcome: inout Outcome
    ) {
        guard !description.source.hasPrefix(SourceKind.remote.uriPrefix) else { return }
        let device = Device(
            uri: prefix + description.source, alias: localAlias(alias), profile: description.profile, kind: .remote,
            isBonded: description.isBonded)
        if introduce(device, &outcome), entries[device.uri]?.isConnectedThere == nil {
            settle(device.uri, at: now, &outcome)
        }
    }

    /// A device that has another name by now stays.
    private mutating func forget(_ alias: String, at now: WallTime, _ outcome: inout Outcome) {
        let name = localAlias(alias)
        unplaced[name] = nil
        guard let place = order.firstIndex(where: { entries[$0]?.device.alias == name }) else { return }
        let uri = order.remove(at: place)
        if entries[uri]?.isConnectedHere == true {
            raise(.disconnected(reason: Self.forgottenThere, folded: 0), of: uri, at: now, &outcome)
        }
        entries[uri] = nil
        outcome.forgotten = uri
    }

    /// The device as the event describes it, merged with known facts.
    private func device(of event: RemoteLine.Event) -> Device {
        let uri = prefix + event.source
        let known = entries[uri]?.device
        // Everyone can broadcast in a bonded device's name.
        let isBonded = event.kind.isBroadcast ? known?.isBonded ?? false : event.isAuthenticated
        return Device(
            uri: uri, alias: event.subject == event.source ? uri : localAlias(event.subject),
            profile: event.profile ?? known?.profile, kind: .remote, isBonded: isBonded)
    }
}

// MARK: Lines

extension RemoteStream {
    private mutating func follow(_ line: RemoteLine, at now: WallTime, _ outcome: inout Outcome) {
        let step = cursor?.step(to: line) ?? .next
        guard step != .known else { return }
        // Before anything changes: a line that is left out is missing.
        if case .event(let event) = line.content, !introduce(device(of: event), &outcome) { return }
        let time = line.time ?? now
        open(at: time, &outcome)
        raiseGap(of: step, line, at: time, &outcome)
        if case .event(let event) = line.content { raise(event, at: time, &outcome) }
        let next = cursor?.followed(by: line)
        cursor = next ?? StreamCursor(life: line.life, number: line.numbers.upperBound, time: time)
        outcome.cursor = cursor
        isCertain = true
    }

    /// Raises a gap for each device of the bridge, whatever is missing: any of them may have sent it.
    private mutating func raiseGap(
        of step: StreamCursor.Step, _ line: RemoteLine, at time: WallTime, _ outcome: inout Outcome
    ) {
        guard let (cause, since) = loss(of: step, line, at: time) else { return }
        let gap = Gap(cause: cause, count: nil, first: nil, last: nil, from: min(since, time), to: time)
        for uri in order {
            raise(.gap(gap), of: uri, at: time, &outcome)
            // Its connection may be among the missing events.
            entries[uri]?.isConnectedThere = nil
            settle(uri, at: time, &outcome)
        }
    }

    /// The loss before the line, or the one that it reports; nil if there is none.
    private func loss(of step: StreamCursor.Step, _ line: RemoteLine, at time: WallTime) -> (GapCause, WallTime)? {
        let known = cursor?.time ?? time
        switch (step, line.content) {
        case (.newLife, .gap(_, let since)): return (.bridgeRestart, min(since, known))
        case (.newLife, .event), (.newLife, .other): return (.bridgeRestart, known)
        case (.behindMissing, .gap(let cause, let since)): return (cause, min(since, known))
        case (.behindMissing, .event), (.behindMissing, .other): return isCertain ? (.link, known) : nil
        case (.next, .gap(let cause, let since)): return (cause, since)
        case (.next, .event), (.next, .other), (.known, _): return nil
        }
    }

    private mutating func raise(_ event: RemoteLine.Event, at time: WallTime, _ outcome: inout Outcome) {
        let uri = prefix + event.source
        switch event.kind {
        case .connected(let folded):
            entries[uri]?.isConnectedThere = true
            // Its availability has reported it already.
            if folded == 0, entries[uri]?.isConnectedHere == true { return }
        case .disconnected: entries[uri]?.isConnectedThere = false
        case .data where !event.kind.isBroadcast: connect(uri, at: time, &outcome)
        case .data, .gap, .attention, .occasion: break
        }
        raise(
            event.kind, of: uri, at: time, heard: event.heard, isClockSynchronized: event.isClockSynchronized, &outcome)
    }

    /// A device that sends is connected, even if no event reported that.
    private mutating func connect(_ uri: String, at time: WallTime, _ outcome: inout Outcome) {
        entries[uri]?.isConnectedThere = true
        guard entries[uri]?.isConnectedHere == false else { return }
        raise(.connected(folded: 0), of: uri, at: time, &outcome)
    }
}

// MARK: Why

extension RemoteStream {
    /// A sentence on why the device's events do not reach its handlers; nil if they do.
    func blockingReason(of uri: String, through broker: String) -> String? {
        switch path {
        case .unreached: "the broker \(broker) of bridge \(bridge) was not reached yet"
        case .brokerAway(let why, let since):
            "the broker \(broker) of bridge \(bridge) is away since \(since.rfc3339): \(why)"
        case .bridgeAway(let since):
            "bridge \(bridge) is away from the broker \(broker) since \(since.rfc3339); "
                + "look whether wakebridged runs there"
        case .silent:
            "bridge \(bridge) has sent nothing to the broker \(broker); "
                + "check mqtt in its settings, and base and bridge here"
        case .open:
            entries[uri]?.isConnectedThere == false
                ? "it is not connected to bridge \(bridge); there, wakebridge why shows the cause" : nil
        }
    }
}

/// A bridge's description of a device, which it publishes beside its stream.
struct RemoteDescription: Hashable {
    /// As that bridge names it.
    var source: String
    var profile: String?
    var isBonded: Bool

    /// Nil if no bridge writes such bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= 64 << 10, let json = try? JSONValue(parsing: bytes),
            let source = json["source"]?.string, RemoteLine.isSource(source)
        else { return nil }
        let profile = json["profile"]?.string.flatMap { $0.isPlainName ? $0 : nil }
        self.init(source: source, profile: profile, isBonded: json["bonded"]?.boolean ?? false)
    }

    init(source: String, profile: String?, isBonded: Bool) {
        (self.source, self.profile, self.isBonded) = (source, profile, isBonded)
    }
}
