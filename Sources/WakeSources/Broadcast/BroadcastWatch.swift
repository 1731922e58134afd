// The broadcasters that are heard: who is allowed, what of theirs is news, and when they come and go. Pure.
import WakeModel
import WakeProfiles

struct BroadcastWatch: Sendable {
    enum Effect: Hashable, Sendable {
        /// It is told of from now on.
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
        /// Profiles have changed since its plan was made: the next word that one of them knows makes another.
        var isOutdated = false
        /// What it said of itself before it was known.
        var introduction = Stranger()
    }

    /// One that no profile knows yet, or that is not meant.
    fileprivate struct Stranger: Sendable {
        /// The advertisements that were looked at; equal ones are one look.
        private(set) var looks: [UInt64] = []
        /// Its name and services from all of its advertisements; of services, the newest.
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

    /// The same bytes again within so long are one advertisement on three channels, or heard by two adapters.
    static let echo = TimeSpan.milliseconds(500)
    /// What a profile needs may come with one of several advertisements; after so many that differ it is a stranger for good.
    static let mostLooks = 8
    /// Private addresses come and go without end.
    static let mostStrangers = 4_096
    /// Of those that are heard without having been named; each stands in the daemon's books for good.
    static let mostLearnt = 4_096
    /// A broadcaster is gone after so many of its own pauses at least.
    private static let pausesOfSilence: Int64 = 4
    /// Longer ones count as this long.
    fileprivate static let longestPause = TimeSpan.seconds(900)

    init(_ rules: BroadcastRules) { self.rules = rules }

    /// From now on; who is heard is another only once it is looked at again.
    mutating func adopt(_ rules: BroadcastRules) { self.rules = rules }

    // MARK: Who is allowed

    /// Manifests, profiles or the list of those that are meant have changed: everyone is looked at again.
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

    /// Profiles have changed: each broadcaster is matched again when it speaks next. Those that are there stay.
    mutating func outdatePlans() {
        for address in heard.keys { heard[address]?.isOutdated = true }
        strangers = [:]
    }

    /// Nil for what is not allowed, and for what is not known yet.
    private mutating func admit(_ sighting: Sighting, _ judge: some BroadcastJudge) -> Broadcaster? {
        if let broadcaster = heard[sighting.address] { return renewed(broadcaster, sighting, judge) }
        var stranger = strangers[sighting.address] ?? Stranger()
        guard stranger.looks.count < Self.mostLooks else { return nil }
        stranger.note(sighting)
        // What is meant may say what no profile knows, or another than the one that it is named with, and then what it is meant for.
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

    /// With a plan for the profiles of now, or for the one that handlers watch; nil where its next words must tell which that is.
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

    // MARK: What is heard

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

    // MARK: Who is there

    private func tellsPresence(of broadcaster: Broadcaster) -> Bool {
        rules.presence > .zero && !broadcaster.plan.hasLink
    }

    private func end(of broadcaster: Broadcaster) -> Instant {
        broadcaster.heard + max(rules.presence, broadcaster.pause * Self.pausesOfSilence)
    }

    /// Those that have been silent for too long are gone.
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

    /// When ``settle(listened:)`` finds something if nothing is heard, on the clock of listening.
    var nextEnd: Instant? {
        guard rules.presence > .zero else { return nil }
        return heard.values.filter(\.isPresent).map(end).min()
    }

    // MARK: Asking

    /// Whether it is one of those that are told of.
    func watches(_ uri: String) -> Bool {
        let address = Device.bluetoothAddress(in: uri).flatMap { RadioAddress($0) }
        return address.flatMap { heard[$0] }.map { !$0.plan.hasLink } ?? false
    }

    /// What it was known as by what it said; nil where it has said nothing yet since profiles changed.
    func profile(of address: RadioAddress) -> String? {
        heard[address].flatMap { $0.isOutdated ? nil : $0.plan.profile }
    }

    /// The addresses of those that are heard.
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
