// The bridge's connection to bluetoothd on the bus: it follows all objects through one mirror, and every call has a
// deadline.
import WakeLoop
import WakeModel
import WakeSystem

/// Receives the mirror's changes, in the order of the messages.
public protocol BluezListener: AnyObject {
    /// Bluetoothd is there and all its objects are known.
    func bluezDidAppear()
    /// It is gone, or the bus is: the changes before this have reported everything as gone.
    func bluezDidVanish()
    func bluez(did change: BluezChange)
    /// A link is begun at an adapter, or the beginning is over: see ``BluezClient/isLinking(on:)``.
    func bluezLinkingChanged(on adapter: String)
    /// Whether it ignores the advertisements of the peripheral at a path: hundreds may be in the air.
    func ignoresAdvertisements(of path: String) -> Bool
}

extension BluezListener {
    public func bluezLinkingChanged(on adapter: String) {}
    public func ignoresAdvertisements(of path: String) -> Bool { false }
}

public final class BluezClient {
    public private(set) var mirror = BluezMirror()
    /// True from the first snapshot of a life of bluetoothd to the end of that life.
    public private(set) var isThere = false
    /// Called when another bluetoothd is known, before its objects are; with true if the bus has reported its arrival
    /// just now.
    public var ownerDidChange: (Bool) -> Void = { _ in }

    private enum Question {
        case owner, objects
    }

    private struct Ear {
        weak var listener: (any BluezListener)?
    }

    private var ears: [Ear] = []
    /// By adapter, how many calls that begin a link are unanswered.
    private var links: [String: Int] = [:]
    let systemBus: SystemBus
    private var bus: BusConnection?
    private var subscriptions: [BusSubscription] = []
    private let patience: TimeSpan
    /// Repeats a request without an answer; armed only then.
    private var again: Timer?
    private var backOff = BackOff(from: .milliseconds(250), to: .seconds(60))
    private var question = Question.owner
    private let log = Log("bluetooth")

    /// `patience` is how long it may take to list its objects.
    public init(_ bus: SystemBus, patience: TimeSpan = .seconds(20)) {
        (systemBus, self.patience) = (bus, patience)
        again = try? bus.loop.timer(on: .monotonic) { [unowned self] in
            switch question {
            case .owner: askForOwner()
            case .objects: look()
            }
        }
        bus.listen { [unowned self] change in
            switch change {
            case .connected(let connection): begin(connection)
            case .lost: lose()
            }
        }
    }

    /// Listeners receive a change in the order in which they were added.
    public func listen(_ listener: any BluezListener) { ears.append(Ear(listener: listener)) }

    private func notify(_ body: (any BluezListener) -> Void) {
        for ear in ears { if let listener = ear.listener { body(listener) } }
    }

    private func notify(_ changes: [BluezChange]) {
        for change in changes { notify { $0.bluez(did: change) } }
    }

    // MARK: Calls

    /// Calls a method of bluetoothd. The answer comes exactly once while the bus is there, at the latest after `time`; at
    /// once where there is no bluetoothd.
    public func call(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [], within time: TimeSpan,
        _ answer: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        // By its unique name: a call to the name that everybody knows would have the bus start another bluetoothd.
        guard let bus, !bus.isLost, !owner.isEmpty else { return answer(.failure(.gone)) }
        let call = BusCall(owner, path, interface, member, arguments)
        guard interface == BluezInterface.peripheral, Self.linking.contains(member) else {
            return bus.call(call, within: time, answer)
        }
        // Before it is sent, so that a scan ends before it.
        countLinking(on: path.parent, 1)
        bus.call(call, within: time) { [self] result in
            countLinking(on: path.parent, -1)
            answer(result)
        }
    }

    /// The bridge's own calls that begin a link.
    private static let linking: Set<String> = ["Connect", "ConnectProfile", "Pair"]

    /// Whether a call of the bridge that begins a link at the adapter is unanswered.
    public func isLinking(on adapter: String) -> Bool { links[adapter] != nil }

    private func countLinking(on adapter: String, _ change: Int) {
        let count = (links[adapter] ?? 0) + change
        links[adapter] = count > 0 ? count : nil
        notify { $0.bluezLinkingChanged(on: adapter) }
    }

    /// The answer is the owner's, where it is still there.
    func call<Owner: AnyObject>(
        _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [], within time: TimeSpan,
        of owner: Owner, _ answer: @escaping (Owner, Result<[BusValue], BusError>) -> Void
    ) {
        call(path, interface, member, arguments, within: time) { [weak owner] result in
            if let owner { answer(owner, result) }
        }
    }

    /// An object of the owner, which keeps it.
    func export<Owner: AnyObject>(
        at path: String, of owner: Owner, _ body: @escaping (Owner, BusRequest) -> Void
    ) -> BusObject? {
        export(at: path) { [unowned owner] in body(owner, $0) }
    }

    public func set(
        _ property: String, of path: String, _ interface: String, to value: BusValue,
        _ answer: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        let arguments: [BusValue] = [.string(interface), .string(property), .variant(value)]
        call(path, BluezInterface.properties, "Set", arguments, within: .seconds(5), answer)
    }

    /// An object of the bridge that bluetoothd calls.
    public func export(at path: String, _ body: @escaping (BusRequest) -> Void) -> BusObject? {
        try? bus?.export(at: path, body)
    }

    // MARK: Its lives

    private func begin(_ connection: BusConnection) {
        bus = connection
        do throws(SystemError) {
            // Receives signals from before the first question on, so that none is lost between that and its answer.
            let glance = BusGlance(BluezPeripheral.advertised) { [unowned self] path in
                ears.allSatisfy { $0.listener?.ignoresAdvertisements(of: path) ?? true }
            }
            subscriptions = try BusRule.bluez.map { rule throws(SystemError) in
                try connection.subscribe(rule, dropping: rule == .bluezChanges ? glance : nil) { [unowned self] in
                    hear($0)
                }
            }
            subscriptions.append(
                try connection.subscribe(.bluezOwner) { [unowned self] signal in
                    changeOwner(to: signal.arguments.last?.string ?? "", isNew: true)
                })
        } catch {
            log.error("\(error.description); Bluetooth peripherals are not watched")
        }
        backOff.reset()
        askForOwner()
    }

    /// A signal reports a later arrival; an owner that is there already is known only by an answer.
    private func askForOwner() {
        bus?.call(.bluezOwner, within: min(patience, .seconds(5))) { [unowned self] result in
            switch result {
            case .success(let values): changeOwner(to: values.first?.string ?? "")
            case .failure(let error) where error.isNobodyThere: break
            case .failure(let error):
                guard owner.isEmpty, hasBus else { return }
                log.error("could not ask the message bus for bluetoothd: \(error); it is asked again")
                ask(again: .owner)
            }
        }
    }

    private func ask(again next: Question) {
        question = next
        again?.arm(at: SystemClock.monotonic() + backOff.next())
    }

    private func lose() {
        again?.disarm()
        subscriptions = []
        bus = nil
        changeOwner(to: "")
    }

    /// Bluetoothd's unique name; empty where there is none.
    package private(set) var owner = ""
    /// Whether bluetoothd is there or not can be known.
    var hasBus: Bool { bus.map { !$0.isLost } ?? false }

    private func changeOwner(to next: String, isNew: Bool = false) {
        guard next != owner else { return }
        if !owner.isEmpty { end() }
        owner = next
        again?.disarm()
        backOff.reset()
        if next.isEmpty { return }
        ownerDidChange(isNew)
        look()
    }

    private func end() {
        isThere = false
        links = [:]
        notify(mirror.begin())
        notify { $0.bluezDidVanish() }
    }

    private func look() {
        let generation = mirror.generation
        call("/", BluezInterface.objects, "GetManagedObjects", within: patience) { [unowned self] result in
            guard mirror.generation == generation, !owner.isEmpty else { return }
            switch result {
            case .success(let values):
                let changes = values.first.map { mirror.apply(snapshot: $0) } ?? []
                isThere = true
                notify { $0.bluezDidAppear() }
                notify(changes)
            case .failure(let error):
                log.error(
                    "could not ask bluetoothd for its objects: \(error); look at "
                        + "'\(InitSystem.ofThisMachine.command(.status, "bluetooth"))'")
                // It is slow, or hangs and may recover: without its objects the bridge would miss every device for all
                // its life.
                ask(again: .objects)
            }
        }
    }

    /// Signals of an earlier life of bluetoothd are ignored.
    private func hear(_ signal: BusSignal) {
        guard signal.sender == owner else { return }
        let changes = mirror.apply(signal)
        // Until the snapshot is here no change is passed on: it will hold this too.
        guard isThere else { return }
        notify(changes)
    }
}

extension BusError {
    /// There is no bluetoothd.
    static let gone = BusError(name: "org.freedesktop.DBus.Error.Disconnected", message: "bluetoothd is not there")

    /// The peripheral is not connected: by bluetoothd's own error, or by the kernel's text that it passes on.
    var isNotConnected: Bool {
        name == "org.bluez.Error.NotConnected" || message.lowercased().contains("not connected")
    }
}

extension BusRule {
    /// The three that bring all of org.bluez.
    fileprivate static let bluez = [
        bluezChanges,
        BusRule(sender: BluezInterface.service, interface: BluezInterface.objects, member: "InterfacesAdded"),
        BusRule(sender: BluezInterface.service, interface: BluezInterface.objects, member: "InterfacesRemoved"),
    ]
    fileprivate static let bluezChanges = BusRule(
        sender: BluezInterface.service, path: .under("/org/bluez"), interface: BluezInterface.properties,
        member: "PropertiesChanged")
    fileprivate static let bluezOwner = BusRule(
        sender: "org.freedesktop.DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
        argument: BluezInterface.service)
}

extension BusCall {
    fileprivate static let bluezOwner = BusCall.ofBus("GetNameOwner", [.string(BluezInterface.service)])
}
