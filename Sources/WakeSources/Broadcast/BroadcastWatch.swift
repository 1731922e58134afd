// The broadcasters that are received: which are allowed, which data of theirs is news, and when they come and go. Pure.
import WakeModel
import WakeProfiles

struct BroadcastWatch: Sendable {
    enum Effect: Hashable, Sendable {
        /// Its events are raised from now on.
        case introduce(Device, ProfileIndex)
        case raise(DeviceEvent.Kind, uri: String)
    }

    fileprivate struct Broadcaster: Sendable {
        var device: Device
        var plan: BroadcastPlan
        var last: [UInt8] = []
        /// On the clock of events.
        var lastAt: Instant?
        /// On the clock of listening.
        var heard = Instant.zero
        /// The longest of its pauses of late, while a radio listened.
        var pause = TimeSpan.zero
        var isPresent = false
        /// Profiles have changed since its plan was made: the next advertisement that a profile knows makes another.
        var isOutdated = false
        /// Its advertisements before it was known.
        var introduction = Stranger()
    }

    /// A broadcaster that no profile knows yet, or that is not meant.
    fileprivate struct Stranger: Sendable {
        /// The advertisements that were looked at; equal ones are one look.
        private(set) var looks: [UInt64] = []
        /// Its name and services, from all of its advertisements; the newest services only.
        var name: String?
        var services: [BluetoothUUID] = []
        private static let mostServices = 64

        mutating func note(_ sighting: Sighting) {
            name = sighting.name ?? name
            for service in sighting.services where !services.contains(service) {
                if services.count == Self.mostServices { services.removeFirst() }
                services.append(service)
            }
        }

        /// Counts a look; returns false where an equal advertisement was looked at before.
        mutating func look(at sighting: Sighting) -> Bool {
            var look = FNV1a()
            look.add(sighting.data)
            look.add((name ?? "").utf8)
            look.add(UInt64(services.count))
            guard !looks.contains(look.value) else { return false }
            looks.append(look.value)
            return true
        }

        /// It is not looked at again.
        mutating func turnAway() { looks = Array(repeating: 0, count: BroadcastWatch.mostLooks) }

        /// The sighting with the name and services of earlier advertisements.
        func completed(_ sighting: Sighting) -> Sighting {
            var whole = sighting
            (whole.name, whole.services) = (name, services)
            return whole
        }
    }

    private var heard: [RadioAddress: Broadcaster] = [:]
    private var strangers: [RadioAddress: Stranger] = [:]
    private var rules: BroadcastRules

    /// The longest time between copies of one advertisement, which three channels and several adapters deliver.
    static let echo = TimeSpan.milliseconds(500)
    /// A profile's data may come with one of several advertisements; after this many different ones it is a stranger
    /// for good.
    static let mostLooks = 8
    /// Private addresses come and go without end.
    static let mostStrangers = 4_096
    /// The most broadcasters that are learned without a name; each stays in the daemon's records for good.
    static let mostLearnt = 4_096
    /// A broadcaster is gone after at least this many of its own pauses.
    private static let pausesOfSilence: Int64 = 4
    /// Longer ones count as this long.
    fileprivate static let longestPause = TimeSpan.seconds(900)

    init(_ rules: BroadcastRules) { self.rules = rules }

    /// Takes the rules for the evaluations from now on.
    mutating func adopt(_ rules: BroadcastRules) { self.rules = rules }

    // MARK: Which broadcasters are allowed

    /// Manifests, profiles or the list of named devices have changed: every broadcaster is evaluated again.
    mutating func reconsider(_ judge: some BroadcastJudge) -> [Effect] {
        strangers = [:]
        var effects: [Effect] = []
        for (address, broadcaster) in heard.sorted(by: { $0.key.number < $1.key.number }) {
            let (alias, isMeant) = judge.standing(of: address, broadcaster.plan)
            if isMeant || rules.learns {
                effects += rename(address, broadcaster, alias)
            } else {
                effects += leave(address, broadcaster, because: "not-allowed")
                heard[address] = nil
            }
        }
        return effects
    }

    private mutating func rename(_ address: RadioAddress, _ broadcaster: Broadcaster, _ alias: String) -> [Effect] {
        guard broadcaster.device.alias != alias else { return [] }
        var renamed = broadcaster
        renamed.device.alias = alias
        heard[address] = renamed
        return renamed.isOutdated ? [] : [.introduce(renamed.device, renamed.plan.index)]
    }

    /// Profiles have changed: each broadcaster is matched again at its next advertisement. Present ones stay.
    mutating func outdatePlans() {
        for address in heard.keys { heard[address]?.isOutdated = true }
        strangers = [:]
    }

    /// Nil for a broadcaster that is not allowed, or not known yet.
    private mutating func admit(_ sighting: Sighting, _ judge: some BroadcastJudge) -> Broadcaster? {
        if let broadcaster = heard[sighting.address] { return renewed(broadcaster, sighting, judge) }
        var stranger = strangers[sighting.address] ?? Stranger()
        guard stranger.looks.count < Self.mostLooks else { return nil }
        stranger.note(sighting)
        // A device that is meant may send data that no profile knows, or that fits another profile than its named one.
        let isOneMeant = judge.isMeant(sighting.address)
        guard isOneMeant || stranger.look(at: sighting) else { return nil }
        guard let plan = judge.plan(for: stranger.completed(sighting)) else {
            return turnDown(sighting.address, stranger)
        }
        let (alias, isMeant) = judge.standing(of: sighting.address, plan)
        guard isMeant || mayLearn(sighting) else {
            if !isOneMeant { stranger.turnAway() }
            return turnDown(sighting.address, stranger)
        }
        strangers[sighting.address] = nil
        return Broadcaster(of: sighting.address, plan, alias: alias, stranger)
    }

    /// Addresses that change by themselves come without end.
    private func mayLearn(_ sighting: Sighting) -> Bool {
        rules.learns && !sighting.hasPassingAddress && heard.count < Self.mostLearnt
    }

    /// With a plan for the present profiles, or for the one that handlers watch; nil if its next advertisement must
    /// decide.
    private func renewed(
        _ broadcaster: Broadcaster, _ sighting: Sighting, _ judge: some BroadcastJudge
    ) -> Broadcaster? {
        let whole = broadcaster.introduction.completed(sighting)
        guard broadcaster.isOutdated else {
            guard let plan = judge.better(than: broadcaster.plan, for: whole) else { return broadcaster }
            return Broadcaster(
                of: sighting.address, plan, alias: judge.standing(of: sighting.address, plan).alias,
                broadcaster.introduction)
        }
        guard let plan = judge.plan(for: whole) else { return nil }
        var renewed = broadcaster
        (renewed.plan, renewed.isOutdated) = (plan, false)
        renewed.isPresent = broadcaster.isPresent && plan.profile == broadcaster.plan.profile
        renewed.device.profile = plan.profile
        renewed.device.alias = judge.standing(of: sighting.address, plan).alias
        return renewed
    }

    private mutating func turnDown(_ address: RadioAddress, _ stranger: Stranger) -> Broadcaster? {
        if strangers[address] == nil, strangers.count >= Self.mostStrangers { strangers = [:] }
        strangers[address] = stranger
        return nil
    }

    // MARK: Receiving

    /// - Parameter listened: the time on the clock of listening.
    mutating func hear(
        _ sighting: Sighting, _ judge: some BroadcastJudge, at now: Instant, listened: Instant
    ) -> [Effect] {
        let former = heard[sighting.address]
        guard var broadcaster = admit(sighting, judge) else { return [] }
        var effects: [Effect] = []
        let uri = broadcaster.device.uri
        if former?.plan != broadcaster.plan || former?.isOutdated == true, !broadcaster.plan.hasLink {
            effects.append(.introduce(broadcaster.device, broadcaster.plan.index))
        }
        if former?.plan.profile == broadcaster.plan.profile { broadcaster.notePause(until: listened) }
        broadcaster.heard = listened
        if !broadcaster.isPresent, tellsPresence(of: broadcaster) {
            effects.append(.raise(.connected(folded: 0), uri: uri))
        }
        broadcaster.isPresent = true
        if isNews(sighting.data, to: broadcaster, now), judge.reads(sighting.data, by: broadcaster.plan) {
            (broadcaster.last, broadcaster.lastAt) = (sighting.data, now)
            effects.append(.raise(.data(.advertisement, sighting.data), uri: uri))
        }
        heard[sighting.address] = broadcaster
        return effects
    }

    private func isNews(_ data: [UInt8], to broadcaster: Broadcaster, _ now: Instant) -> Bool {
        guard let lastAt = broadcaster.lastAt, now - lastAt < Self.echo else { return true }
        return data != broadcaster.last
    }

    // MARK: Presence

    private func tellsPresence(of broadcaster: Broadcaster) -> Bool {
        rules.presence > .zero && !broadcaster.plan.hasLink
    }

    private func end(of broadcaster: Broadcaster) -> Instant {
        broadcaster.heard + max(rules.presence, broadcaster.pause * Self.pausesOfSilence)
    }

    /// Reports broadcasters as gone that have been silent for too long.
    mutating func settle(listened: Instant) -> [Effect] {
        var effects: [Effect] = []
        guard rules.presence > .zero else { return [] }
        for (address, broadcaster) in heard.sorted(by: { $0.key.number < $1.key.number })
        where broadcaster.isPresent && end(of: broadcaster) <= listened {
            effects += leave(address, broadcaster, because: "silent")
        }
        return effects
    }

    private mutating func leave(
        _ address: RadioAddress, _ broadcaster: Broadcaster, because reason: String
    ) -> [Effect] {
        guard broadcaster.isPresent else { return [] }
        var gone = broadcaster
        gone.isPresent = false
        heard[address] = gone
        guard tellsPresence(of: broadcaster) else { return [] }
        return [.raise(.disconnected(reason: reason, folded: 0), uri: broadcaster.device.uri)]
    }

    /// When ``settle(listened:)`` finds something if no advertisement is received, on the clock of listening.
    var nextEnd: Instant? {
        guard rules.presence > .zero else { return nil }
        return heard.values.filter(\.isPresent).map(end).min()
    }

    // MARK: Asking

    /// Whether it reports the device's events.
    func watches(_ uri: String) -> Bool {
        let address = Device.bluetoothAddress(in: uri).flatMap { RadioAddress($0) }
        return address.flatMap { heard[$0] }.map { !$0.plan.hasLink } ?? false
    }

    /// The profile that its advertisements match; nil if it has sent none since profiles changed.
    func profile(of address: RadioAddress) -> String? {
        heard[address].flatMap { $0.isOutdated ? nil : $0.plan.profile }
    }

    /// The addresses of all received broadcasters.
    var addresses: [RadioAddress] { heard.keys.sorted { $0.number < $1.number } }

}

extension BroadcastWatch.Broadcaster {
    fileprivate init(
        of address: RadioAddress, _ plan: BroadcastPlan, alias: String, _ introduction: BroadcastWatch.Stranger
    ) {
        let uri = Device.uri(ofBluetooth: address.description)
        self.init(
            device: Device(uri: uri, alias: alias, profile: plan.profile, kind: .bluetoothCentral), plan: plan)
        self.introduction = introduction
    }

    /// A long pause fades, so that one that was far away for a while is soon known to be gone again.
    fileprivate mutating func notePause(until listened: Instant) {
        let last = min(max(.zero, listened - heard), BroadcastWatch.longestPause)
        pause = max(last, TimeSpan(nanoseconds: pause.nanoseconds / 8 * 7))
    }
}
