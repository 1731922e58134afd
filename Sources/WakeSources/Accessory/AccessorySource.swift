// Accessories that udev announces, as a source of events. A machine watches each one that a profile knows. The bridge
// keeps its node open over all lives of its handlers.
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem

public struct AccessoryMatch: Hashable, Sendable {
    /// The profile's name.
    public var profile: String
    public var plan: AccessoryPlan
    /// The profile's number in the library: its decoded values may change though no other setting does.
    public var edition: Int

    public init(profile: String, plan: AccessoryPlan, edition: Int = 0) {
        self.profile = profile
        self.plan = plan
        self.edition = edition
    }
}

public final class AccessorySource: MachineSource {
    /// A device that is watched. It stays here while it is unplugged.
    struct Entry: WatchedDevice {
        var device: Device
        var match: AccessoryMatch
        var machine: PortMachine
        let opener: any NodeOpener
        /// As it was before the latest plug, until that has raised an event: another node may be the one to open.
        var beforePlug: PortMachine?
        var recordedListening: Listening?
        var deadlines: DeviceDeadlines { DeviceDeadlines(machine: machine.deadline, port: port?.deadline) }
        var port: AccessoryPort?
        /// The number in /sys of the plug that udev announced, and since when another one has been there.
        var plug: (number: UInt64?, replacedSince: Instant?) = (nil, nil)
        var spoilt = SpoiltPieces()
    }

    struct Timers {
        /// For the machines' waits, which include the system's sleep.
        var machines: Timer?
        /// For the ports: silence on a line, questions to a device, which take place while the system runs.
        var ports: Timer?
        /// Armed while a node that others were left alone for is gone.
        var spares: Timer?
    }

    /// A device that may be any of several; an operator has to decide.
    public struct Doubt: Hashable, Sendable {
        public var record: UdevRecord
        public var candidates: [String]
    }

    unowned let host: any SourceHost
    let planner: any AccessoryPlanner
    private let store: any AccessoryRegistryStoring
    let patience: PortTimeouts
    private var feed: UdevFeed?
    private var subsystems: Set<String> = []
    /// The plans of devices that were attached when profiles changed, by their places in /sys.
    var held: [String: AccessoryMatch] = [:]
    var attached = AttachedDevices()
    public internal(set) var registry: AccessoryRegistry
    var watched: [String: Entry] = [:]
    var steps = StepQueue<PortInput>()
    /// Devices with a serial port over Bluetooth; nil where no Bluetooth is watched.
    private var serial: SerialPeripherals?
    var candidates = AttachedCandidates()
    var places = AccessoryPlaces()
    public internal(set) var doubts: [String: Doubt] = [:]
    /// Opens the nodes that udev announces.
    var files: any NodeOpener
    var timers = Timers()
    /// Nodes that are left alone, by their places in /sys: whose they are too.
    var spares: [String: String] = [:]
    /// Some nodes are closed between wakes, so it matters which handlers are awake.
    public internal(set) var needsWanted = false
    let log = Log("accessories")

    init(
        for host: any SourceHost, planner: any AccessoryPlanner, registry: AccessoryRegistry,
        store: any AccessoryRegistryStoring, patience: PortTimeouts = PortTimeouts()
    ) throws(SystemError) {
        self.host = host
        self.planner = planner
        self.registry = registry
        self.store = store
        self.patience = patience
        files = NodeFiles(on: host.loop)
        timers.machines = try host.loop.timer(on: PortMachine.clock, of: self) { source in
            source.tickMachines(at: source.host.clock.stamp())
            source.rearm()
        }
        timers.ports = try host.loop.timer(on: .monotonic, of: self) { $0.tickPorts() }
        timers.spares = try host.loop.timer(on: .monotonic, of: self) { $0.adoptSpares() }
    }

    /// Begins to follow udev, and adds devices that are attached already.
    private func listen(to subsystems: [String]) throws(SystemError) {
        feed = try UdevFeed(on: host.loop, hearing: subsystems) { [unowned self] in apply($0) }
        self.subsystems = Set(subsystems)
    }

    /// The registry has changed; it is written when the turn ends, once for a crowd that is plugged in together.
    func saveRegistry() {
        store.save(registry)
        host.requestTurn()
    }

    /// An operator's change is on disk before it is confirmed.
    public func writeRegistry() { store.write() }

    // MARK: Machines

    var ownDeadline: Instant? { nil }

    func perform(_ effect: PortEffect, of uri: String) {
        guard let entry = watched[uri] else { return }
        switch effect {
        case .log(let sentence): log.notice("\(entry.device.alias): \(sentence)")
        case .raise(let kind, let stamp):
            watched[uri]?.beforePlug = nil
            host.raise(kind, of: uri, at: stamp)
        case .open(let place): open(place, of: uri, entry)
        case .close: close(uri)
        case .ask(let asked):
            if let port = entry.port { port.ask(asked) } else { step(uri, .asked(asked.number, .notConnected)) }
        }
    }

    /// Lets lines send their written bytes before the process ends, which would cut them off.
    private static let closingTime = TimeSpan.seconds(1)

    // MARK: Nodes

    private func open(_ place: String, of uri: String, _ entry: Entry) {
        guard !isReplaced(uri) else { return step(uri, .refused(.absent(Self.replaced))) }
        do throws(PortRefusal) {
            watched[uri]?.port = try AccessoryPort(
                opening: place, entry.match.plan, by: entry.opener, on: host.loop,
                at: host.clock.now().monotonic
            ) { [weak self] in self?.apply($0, of: uri) }
        } catch {
            step(uri, .refused(error))
        }
    }

    /// Bluetoothd wants its channel closed.
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

    private func apply(_ event: AccessoryPort.Event, of uri: String) {
        switch event {
        case .opened:
            for remark in watched[uri]?.port?.remarks ?? [] { log.notice("\(label(of: uri)): \(remark)") }
            step(uri, .opened)
        case .refused(let refusal):
            watched[uri]?.port = nil
            step(uri, .refused(isGone(uri) ? .absent(refusal.sentence) : refusal))
        case .asked(let number, let failure): step(uri, .asked(number, failure))
        case .word(let word, let instant): raise(word, of: uri, at: host.clock.stamp().moved(to: instant))
        case .gone:
            watched[uri]?.port = nil
            step(uri, .lost)
        case .deadline: rearm()
        }
    }

    /// Plugged in again before udev announced that it went: a node that is opened now would be closed by that announcement.
    private func isReplaced(_ uri: String) -> Bool {
        guard let plug = watched[uri]?.plug, let told = plug.number, let found = plugNumber(of: uri),
            found != told
        else { return false }
        let now = host.clock.now().boottime
        watched[uri]?.plug.replacedSince = plug.replacedSince ?? now
        // Udev's message may have been lost.
        return now - (plug.replacedSince ?? now) < Self.udevPatience
    }

    func plugNumber(of uri: String) -> UInt64? { place(of: uri).flatMap { File.number(of: $0) } }

    private static let udevPatience = TimeSpan.seconds(10)
    private static let replaced = "it was plugged in again, which udev has not announced yet"

    /// Unplugged already, which udev is about to announce.
    private func isGone(_ uri: String) -> Bool { place(of: uri).map { !File.exists($0) } ?? false }

    private func raise(_ word: NodeWord, of uri: String, at stamp: Stamp) {
        switch word {
        case .data(let channel, let bytes): step(uri, .said(.data(channel, bytes)), at: stamp)
        case .spoilt(let channel, let bytes, let why):
            if let detail = watched[uri]?.spoilt.record(why, at: stamp.moment.monotonic) {
                step(uri, .said(.attention(.undecodable, detail: detail)), at: stamp)
            }
            step(uri, .said(.data(channel, bytes)), at: stamp)
        case .loss(let from, let to):
            let gap = Gap(
                cause: .overflow, count: nil, first: nil, last: nil, from: stamp.moved(to: from).wall,
                to: stamp.moved(to: to).wall)
            step(uri, .said(.gap(gap)), at: stamp)
        }
    }

    // MARK: Time

    private func tickPorts() {
        let now = host.clock.now().monotonic
        for entry in watched.values {
            if let due = entry.port?.deadline, due <= now { entry.port?.tick(at: now) }
        }
        rearm()
    }

    func rearm() {
        timers.machines?.rearm(at: nextMachineDeadline)
        timers.ports?.rearm(at: watched.values.compactMap { $0.port?.deadline }.min())
    }
}

extension AccessorySource: RegisteredSource {
    public static var kind: SourceKind { .externalAccessory }

    /// A channel over the air outlives the last answer for a while; the bytes of a node are read at once.
    public static func unnoticedEnd(of device: Device) -> TimeSpan {
        Device.bluetoothAddress(in: device.uri) != nil ? PortTimeouts.calling.unnoticedEnd : .zero
    }

    public static func make(
        for host: any SourceHost, _ resources: SourceResources
    ) throws(SystemError) -> AccessorySource {
        let store = AccessoryRegistryStore(in: resources.stateDirectory)
        let source = try AccessorySource(
            for: host, planner: AccessoryProfiles(of: host), registry: store.read(), store: store)
        if let bluez = resources.bluez { source.serial = try SerialPeripherals(bluez, for: source) }
        return source
    }

    public func start() throws(SystemError) { try listen(to: planner.subsystems) }

    /// The bridge knows better than its next start how far it listened. The gap of the next start covers unraised data,
    /// such as half a message.
    public func stop() {
        for (uri, entry) in watched where entry.port != nil {
            let raisedUntil = entry.port?.raisedUntil
            close(uri)
            // A session that is paused, or has not settled, is recorded as what it is already.
            guard entry.machine.isOpen, case .since(let since) = entry.machine.listening else { continue }
            let now = host.clock.stamp()
            let raised = now.moved(to: raisedUntil ?? now.moment.monotonic).wall
            host.record(.until(max(since, min(raised, entry.machine.surelyHeard(at: now)))), of: uri)
        }
        NodeClosing.wait(atMost: Self.closingTime)
        // The order in which devices were seen is written on this occasion alone.
        if !registry.uris.isEmpty { store.save(registry) }
        store.write()
    }

    /// Evaluates attached, unknown devices again.
    public func reconfigure() throws(SystemError) {
        planner.hold(watched.mapValues(\.match).filter { $0.value.plan.node == .rfcomm })
        serial?.reconsider()
        try reconsider()
    }

    func reconsider() throws(SystemError) {
        holdAttached()
        adoptUnknown()
        // Without a feed, start() has not been called or has failed.
        guard feed != nil, !subsystems.isSuperset(of: planner.subsystems) else { return }
        // Keeps the subsystems followed so far: a device attached through them is still there.
        try listen(to: subsystems.union(planner.subsystems).sorted())
    }

    public func setSession(_ session: LinkSession, of uri: String) {
        if session != .open { watched[uri]?.port?.conclude() }
        step(uri, .session(session))
    }

    public func setWanted(_ isWanted: Bool, _ uri: String) {
        guard !isWanted, let entry = watched[uri], entry.match.plan.onSuspend == .detach, let port = entry.port
        else {
            return step(uri, .wanted(isWanted))
        }
        // Half a message would wake the handler that has just been suspended: it is part of the next gap.
        port.readOut()
        step(uri, .wanted(false, toldUntil: host.clock.stamp().moved(to: port.raisedUntil).wall))
    }

    public func turnEnded() { store.write() }

    public func perform(_ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void) {
        switch request {
        case .read: answer(.failure(ProtocolFault(refusalToRead(of: device.uri), request)))
        case .write(let address, let bytes):
            write(bytes, to: address.channel, of: device.uri) { result in
                answer(result.map { .written(device: device.alias) }.mapError { ProtocolFault($0, request) })
            }
        }
    }
}

// MARK: Writes of handlers

extension AccessorySource {
    /// - Parameter channel: nil for the only stream of the device; a HID report begins with its number.
    /// - Parameter answer: called exactly once, when the system has taken all of it.
    public func write(
        _ bytes: [UInt8], to channel: Channel?, of uri: String,
        _ answer: @escaping (Result<Void, TalkFailure>) -> Void
    ) {
        guard let entry = watched[uri], entry.machine.isOpen, let port = entry.port else {
            return answer(.failure(.notConnected))
        }
        port.write(bytes, to: channel) { failure in answer(failure.map(Result.failure) ?? .success(())) }
    }

    /// The nodes without a profile on a bus that reports vendor or HID ids.
    public var unwatched: [UnwatchedDevice] {
        attached.records.filter { record in
            record.node != nil && candidates[record.path] == nil && spares[record.path] == nil
                && ["ID_VENDOR_ID", "HID_ID"].contains { record.properties[$0] != nil }
        }.map { UnwatchedDevice($0) }
    }

    /// A stream accepts no requests; its data comes by itself.
    public func refusalToRead(of uri: String) -> TalkFailure {
        watched[uri]?.machine.isOpen == true
            ? .notOffered("an accessory's stream cannot be asked; what it says comes as data") : .notConnected
    }
}

// MARK: Finding a device by its node, its name or its URI

extension AccessorySource {
    /// The device at this node or place in /sys, where that is beyond doubt.
    public func uri(at word: String) -> String? { record(at: word).flatMap { places[$0.path] } }

    /// A URI, with or without `/accessory/`, or a name, of one that is known, attached or not.
    public func uri(named word: String) -> String? {
        let known = registry.uris
        return known.first { label(of: $0) == word } ?? known.first { $0 == word || $0 == "/accessory/" + word }
    }

    /// Its name, or else its alias or URI.
    public func label(of uri: String) -> String {
        registry.name(of: uri) ?? watched[uri]?.device.alias ?? host.knownDevice(at: uri)?.alias ?? uri
    }

    /// False for a device that was forgotten. Bluetoothd's devices are forgotten by bluetoothd.
    public func isKnown(_ uri: String) -> Bool {
        registry.identity(of: uri) != nil || Device.bluetoothAddress(in: uri) != nil
    }

    /// Nil while it is away, or where it has none.
    public func node(of uri: String) -> String? { place(of: uri).flatMap { attached[$0]?.node } }

    /// In /sys; nil while it is away.
    public func place(of uri: String) -> String? { places.place(of: uri) }

    /// Whether a profile matches the device at the place.
    public func isPlanned(at place: String) -> Bool { attached[place].map { planner.plan(for: $0) != nil } ?? false }
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
