// Accessories that udev announces as a source of events: those that a profile knows are watched, each by a machine of its own,
// its node held open by the bridge over all lives of its handlers.
import WakeLoop
import WakeModel
import WakeSystem

/// Who the events are for, and who knows what is worth watching.
public protocol AccessoryHost: AnyObject {
    /// What the profiles ask of such a device; nil where none knows it.
    func plan(for record: UdevRecord) -> AccessoryMatch?
    func plan(for peripheral: BluezPeripheral) -> AccessoryMatch?
    /// What it was called last, be it in an earlier life; nil where it never was.
    func alias(of uri: String) -> String?
    /// What the user's switch says.
    func session(of uri: String) -> LinkSession
    /// How far it was listened to, as was told last, be it in an earlier life; nil where it never was.
    func listening(to uri: String) -> Listening?
    /// Whether a handler is awake that watches it.
    func isWanted(_ uri: String) -> Bool
    /// An accessory is watched from now on, or is called otherwise.
    func accessory(knows device: Device, by match: AccessoryMatch)
    func accessory(_ uri: String, did kind: DeviceEvent.Kind, at stamp: Stamp)
    /// How far it is listened to, told where that changes, after the events that tell of it: to be kept over restarts.
    func accessory(_ uri: String, isHeard listening: Listening)
    /// It is nobody any more: what its session was is of no account.
    func accessory(isForgotten uri: String)
    /// Which device is which, to be kept over restarts.
    func accessories(are registry: AccessoryRegistry)
}

public struct AccessoryMatch: Hashable, Sendable {
    /// The profile's name.
    public var profile: String
    public var plan: AccessoryPlan
    /// Of one profile's texts, which one: what the host makes of the bytes may change though nothing else does.
    public var edition: Int

    public init(profile: String, plan: AccessoryPlan, edition: Int = 0) {
        self.profile = profile
        self.plan = plan
        self.edition = edition
    }
}

public final class AccessorySource {
    /// One that is watched. It stays here while it is unplugged.
    struct Watched {
        var device: Device
        var match: AccessoryMatch
        var machine: PortMachine
        let opener: any NodeOpener
        /// As it was before the latest plug, until something is told of that: another node may be the one to open.
        var beforePlug: PortMachine?
        /// As the host was told.
        var listening: Listening?
        var port: AccessoryPort?
        /// The number in /sys of the plug that udev has told, and since when another has been seen there.
        var plug: (number: UInt64?, replacedSince: Instant?) = (nil, nil)
        /// When somebody was told last that what it says is no message.
        var spoiltToldAt: Instant?
        /// How often it was since.
        var spoiltCount = 0
    }

    /// One that may be any of several: nobody guesses.
    public struct Doubt: Hashable, Sendable {
        public var record: UdevRecord
        public var candidates: [String]
    }

    public weak var host: (any AccessoryHost)?
    let loop: EventLoop
    let clock: () -> Stamp
    let patience: PortPatience
    private var feed: UdevFeed?
    private var subsystems: Set<String> = []
    /// Of those that were attached when profiles changed, by their places in /sys: they go on as they are.
    var held: [String: AccessoryMatch] = [:]
    var attached = AttachedDevices()
    public internal(set) var registry: AccessoryRegistry
    var watched: [String: Watched] = [:]
    var candidates = AttachedCandidates()
    var places = AccessoryPlaces()
    public internal(set) var doubts: [String: Doubt] = [:]
    /// Of what udev announces.
    var files: any NodeOpener
    /// For what is waited for, which the system's sleep is part of.
    private var waits: Timer?
    /// For what takes place while the system runs: silence on a line, questions to a device.
    private var pauses: Timer?
    /// Nodes that are left alone, by their places in /sys: whose they are too.
    var spares: [String: String] = [:]
    /// Armed while a node that others were left alone for is gone.
    var spareTimer: Timer?
    private var inputs: [(uri: String, input: PortInput, stamp: Stamp)] = []
    private var isStepping = false
    private var mustRearm = false
    /// Some are let go between wakes, so that it matters to them who is awake.
    public internal(set) var letsGo = false
    let log = Log("accessories")

    public init(
        on loop: EventLoop, registry: AccessoryRegistry, patience: PortPatience = PortPatience(),
        clock: @escaping () -> Stamp
    ) throws(SystemError) {
        self.loop = loop
        self.registry = registry
        self.patience = patience
        self.clock = clock
        files = NodeFiles(on: loop)
        waits = try loop.timer(on: .boottime) { [unowned self] in tickMachines() }
        pauses = try loop.timer(on: .monotonic) { [unowned self] in tickPorts() }
        spareTimer = try loop.timer(on: .monotonic) { [unowned self] in takeUpSpares() }
    }

    /// Begins to listen to udev, and takes in what is attached already.
    public func begin(hearing subsystems: [String]) throws(SystemError) {
        feed = try UdevFeed(on: loop, hearing: subsystems) { [unowned self] in take($0) }
        self.subsystems = Set(subsystems)
    }

    /// The host's profiles have changed: what is attached and nobody's yet is asked for anew, as is what comes from now on.
    public func reconsider(hearing subsystems: [String]) throws(SystemError) {
        holdAttached()
        takeUpUnknown()
        // Before `begin` nobody listens at all.
        guard feed != nil, !self.subsystems.isSuperset(of: subsystems) else { return }
        // With what was heard so far: whoever is attached by that is there still.
        try begin(hearing: self.subsystems.union(subsystems).sorted())
    }

    /// What is asked of those that are called over the air, by source.
    public var calledMatches: [String: AccessoryMatch] {
        watched.mapValues(\.match).filter { $0.value.plan.node == .rfcomm }
    }

    // MARK: The user's switch

    public func set(_ session: LinkSession, of uri: String) {
        if session != .open { watched[uri]?.port?.conclude() }
        step(uri, .session(session))
    }

    /// A handler that watches it woke, or the last one sleeps.
    public func want(_ uri: String, _ isWanted: Bool) {
        guard !isWanted, let entry = watched[uri], entry.match.plan.onSuspend == .detach, let port = entry.port
        else {
            return step(uri, .wanted(isWanted))
        }
        // Half a message would wake again who has just gone to sleep: it is part of what nobody heard.
        port.readOut()
        step(uri, .wanted(false, toldUntil: clock().moved(to: port.toldUntil).wall))
    }

    // MARK: Machines

    /// What follows from an input may bring the next one: one after the other, so that effects keep their order.
    func step(_ uri: String, _ input: PortInput, at stamp: Stamp? = nil) {
        inputs.append((uri, input, stamp ?? clock()))
        guard !isStepping else { return }
        isStepping = true
        while !inputs.isEmpty {
            let next = inputs.removeFirst()
            let due = deadlines(of: next.uri)
            let effects = watched[next.uri]?.machine.step(next.input, at: next.stamp) ?? []
            for effect in effects { perform(effect, of: next.uri) }
            tellListening(to: next.uri)
            mustRearm = mustRearm || deadlines(of: next.uri) != due
        }
        isStepping = false
        // Most of what is said changes no deadline, and to look at those of all costs the more the more there are.
        if mustRearm { rearm() }
    }

    private func deadlines(of uri: String) -> [Instant?] {
        [watched[uri]?.machine.deadline, watched[uri]?.port?.deadline]
    }

    private func perform(_ effect: PortEffect, of uri: String) {
        guard let entry = watched[uri] else { return }
        switch effect {
        case .tell(let sentence): log.notice("\(entry.device.alias): \(sentence)")
        case .raise(let kind, let stamp):
            watched[uri]?.beforePlug = nil
            host?.accessory(uri, did: kind, at: stamp)
        case .open(let place): open(place, of: uri, entry)
        case .close: close(uri)
        }
    }

    private func tellListening(to uri: String) {
        guard let listening = watched[uri]?.machine.listening, watched[uri]?.listening != listening else {
            return
        }
        watched[uri]?.listening = listening
        host?.accessory(uri, isHeard: listening)
    }

    /// The bridge ends in order, and knows better than its next life how far it listened. What nobody was told any more, half a
    /// message for instance, the next life tells as part of a gap.
    public func end() {
        for (uri, entry) in watched where entry.port != nil {
            let toldUntil = entry.port?.toldUntil
            close(uri)
            // A session that is paused, or has not settled, is told as what it is already.
            guard entry.machine.isOpen, case .since(let since) = entry.machine.listening else { continue }
            let now = clock()
            let told = now.moved(to: toldUntil ?? now.moment.monotonic).wall
            host?.accessory(uri, isHeard: .until(max(since, min(told, entry.machine.surelyHeard(at: now)))))
        }
        NodeClosing.wait(atMost: Self.closingTime)
    }

    /// For lines to send what was written to them before the process ends, which cuts it off.
    private static let closingTime = TimeSpan.seconds(1)

    // MARK: Nodes

    private func open(_ place: String, of uri: String, _ entry: Watched) {
        guard !isReplaced(uri) else { return step(uri, .refused(.absent(Self.replaced))) }
        do throws(PortRefusal) {
            watched[uri]?.port = try AccessoryPort(
                opening: place, entry.match.plan, by: entry.opener, on: loop, at: clock().moment.monotonic
            ) { [weak self] in self?.take($0, of: uri) }
        } catch {
            step(uri, .refused(error))
        }
    }

    /// Somebody asks for the end of what stands open.
    func hangUp(_ uri: String) {
        guard let entry = watched[uri], entry.machine.isOpen else { return }
        entry.port?.conclude()
        close(uri)
        step(uri, .parted)
    }

    func close(_ uri: String) {
        guard let port = watched[uri]?.port else { return }
        watched[uri]?.port = nil
        port.close()
    }

    private func take(_ event: AccessoryPort.Event, of uri: String) {
        switch event {
        case .opened:
            for remark in watched[uri]?.port?.remarks ?? [] { log.notice("\(label(of: uri)): \(remark)") }
            step(uri, .opened)
        case .refused(let refusal):
            watched[uri]?.port = nil
            step(uri, .refused(isGone(uri) ? .absent(refusal.sentence) : refusal))
        case .word(let word, let instant): take(word, of: uri, at: clock().moved(to: instant))
        case .gone:
            watched[uri]?.port = nil
            step(uri, .lost)
        case .deadline: rearm()
        }
    }

    /// Plugged in anew, before udev has said that it went: what is opened now is another visit, and would be closed for that word.
    private func isReplaced(_ uri: String) -> Bool {
        guard let plug = watched[uri]?.plug, let told = plug.number, let found = plugNumber(of: uri),
            found != told
        else { return false }
        let now = clock().moment.boottime
        watched[uri]?.plug.replacedSince = plug.replacedSince ?? now
        // Udev's word may have been lost.
        return now - (plug.replacedSince ?? now) < Self.udevPatience
    }

    func plugNumber(of uri: String) -> UInt64? { place(of: uri).flatMap { File.number(of: $0) } }

    private static let udevPatience = TimeSpan.seconds(10)
    private static let replaced = "it was plugged in anew, which udev has not told yet"

    /// Unplugged already, which udev is about to say.
    private func isGone(_ uri: String) -> Bool { place(of: uri).map { !File.exists($0) } ?? false }

    private func take(_ word: NodeWord, of uri: String, at stamp: Stamp) {
        switch word {
        case .data(let channel, let bytes): step(uri, .said(.data(channel, bytes)), at: stamp)
        case .spoilt(let channel, let bytes, let why):
            tellSpoilt(uri, why, stamp)
            step(uri, .said(.data(channel, bytes)), at: stamp)
        case .loss(let from, let to):
            let gap = Gap(
                cause: .overflow, count: nil, first: nil, last: nil, from: stamp.moved(to: from).wall,
                to: stamp.moved(to: to).wall)
            step(uri, .said(.gap(gap)), at: stamp)
        }
    }

    /// A device that babbles is told of every so often, with how much there was of it; the bytes themselves come each time.
    private func tellSpoilt(_ uri: String, _ why: String, _ stamp: Stamp) {
        let now = stamp.moment.monotonic
        watched[uri]?.spoiltCount += 1
        guard let entry = watched[uri], entry.spoiltToldAt.map({ now - $0 >= .seconds(10) }) ?? true else { return }
        let times = entry.spoiltCount > 1 ? "; \(entry.spoiltCount) pieces like it since that was told last" : ""
        watched[uri]?.spoiltToldAt = now
        watched[uri]?.spoiltCount = 0
        step(uri, .said(.attention(.undecodable, detail: why + times)), at: stamp)
    }

    // MARK: Time

    private func tickMachines() {
        let now = clock()
        for (uri, entry) in watched {
            if let due = entry.machine.deadline, due <= now.moment.boottime { step(uri, .tick, at: now) }
        }
        rearm()
    }

    private func tickPorts() {
        let now = clock().moment.monotonic
        for entry in watched.values {
            if let due = entry.port?.deadline, due <= now { entry.port?.tick(at: now) }
        }
        rearm()
    }

    func rearm() {
        mustRearm = false
        arm(waits, at: watched.values.compactMap { $0.machine.deadline }.min())
        arm(pauses, at: watched.values.compactMap { $0.port?.deadline }.min())
    }

    private func arm(_ timer: Timer?, at next: Instant?) {
        if let next { timer?.arm(at: next) } else { timer?.disarm() }
    }
}

extension Stamp {
    /// The same clocks at another instant of the one that stops in system sleep.
    func moved(to instant: Instant) -> Stamp {
        let span = moment.monotonic - instant
        return Stamp(
            moment: Moment(monotonic: instant, boottime: moment.boottime - span), wall: wall - span,
            isClockSynchronized: isClockSynchronized)
    }
}
