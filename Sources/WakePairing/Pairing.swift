// A pairing on the bus: feeds its machine with bluetoothd's reports, and performs its requests.
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

public final class Pairing {
    public enum End: Hashable, Sendable {
        case done(PairingOutcome)
        case failed(String)
    }

    /// The alias that the peripheral shall have, by all that is known of it.
    public var alias: (BluezPeripheral) -> String = { $0.alias }
    /// Asks the operator a question, with the words that a terminal shows; the caller passes the answer back.
    public var ask: (PairingQuestion?, String) -> Void = { _, _ in }
    public var withdraw: () -> Void = {}
    /// A sentence, and the passkey that is to be typed on the peripheral if it shows none.
    public var show: (String, _ passkey: String?) -> Void = { _, _ in }
    /// Called once, when all that was begun has ended or was undone.
    public var finish: (End) -> Void = { _ in }

    private let client: BluezClient
    private let path: String
    private var machine: PairingMachine
    private var agent: PairingAgent?
    private let loop: EventLoop
    private var discovery: Discovery?
    private var timer: Timer?
    private var end: End?
    /// Requests whose answers the end waits for.
    private var undoing = 0

    public init(of path: String, over client: BluezClient, on loop: EventLoop, _ wish: PairingWish) throws(SystemError)
    {
        self.client = client
        self.loop = loop
        self.path = path
        machine = PairingMachine(wish)
        timer = try loop.timer(on: .monotonic) { [unowned self] in step(.tick) }
        agent = PairingAgent(client, for: path) { [unowned self] in step($0) }
    }

    public func begin() {
        agent?.register()
        look()
    }

    /// To be called for every change.
    public func bluezDidChange(_ change: BluezChange) {
        discovery?.bluezDidChange(change)
        switch change {
        case .peripheral(path, let facts) where facts != .advertisement: look()
        case .peripheralGone(path, _), .adapter, .adapterGone: look()
        case .peripheral, .peripheralGone, .database, .value: break
        }
    }

    /// A line of the operator; nil at the end of their input.
    public func hear(_ line: String?) { step(.said(line)) }
    public func interrupt() { step(.interrupted) }

    private func look() {
        let adapter = client.mirror.adapters[path.parent]
        let peripheral = client.mirror.peripherals[path]
        let facts = peripheral.map {
            PairingFacts($0, isAdapterUp: adapter?.isPowered ?? false, wantedAlias: alias($0))
        }
        step(.facts(facts ?? PairingFacts()))
    }

    private func step(_ input: PairingInput) {
        for effect in machine.step(input, at: SystemClock.monotonic()) { perform(effect) }
        if let deadline = machine.deadline { timer?.arm(at: deadline) } else { timer?.disarm() }
        conclude()
    }

    private func perform(_ effect: PairingEffect) {
        switch effect {
        case .request(let request): ask(request)
        case .reply(let reply): agent?.reply(reply)
        case .ask(let prompt): ask(machine.question, prompt)
        case .withdraw: withdraw()
        case .show(let sentence): show(sentence, machine.shownPasskey)
        case .done(let outcome): end = .done(outcome)
        case .failed(let sentence): end = .failed(sentence)
        }
    }

    private func conclude() {
        guard let end, undoing == 0 else { return }
        self.end = nil
        agent?.unregister()
        hush { [weak self] in self?.finish(end) }
    }

    private func ask(_ request: PairingRequest) {
        let undoes = [.cancelPairing, .disconnect, .forget].contains(request)
        if undoes { undoing += 1 }
        let answer: (Result<[BusValue], BusError>) -> Void = { [weak self] result in
            guard let self else { return }
            if undoes { undoing -= 1 }
            var failure: PairingFailure?
            if case .failure(let error) = result { failure = PairingFailure(error) }
            step(.answered(request, failure))
        }
        let interface = BluezInterface.peripheral
        switch request {
        case .connect: client.call(path, interface, "Connect", within: .seconds(25), answer)
        case .pair: client.call(path, interface, "Pair", within: .seconds(60), answer)
        case .trust: client.set("Trusted", of: path, interface, to: .boolean(true), answer)
        case .name(let alias): client.set("Alias", of: path, interface, to: .string(alias), answer)
        case .cancelPairing: client.call(path, interface, "CancelPairing", within: .seconds(3), answer)
        case .disconnect: client.call(path, interface, "Disconnect", within: .seconds(4), answer)
        case .forget:
            let object = [BusValue.objectPath(path)]
            client.call(path.parent, BluezInterface.adapter, "RemoveDevice", object, within: .seconds(30), answer)
        case .listen: listen()
        case .hush: hush { [weak self] in self?.step(.answered(.hush, nil)) }
        }
    }

    private func listen() {
        let discovery = Discovery(of: [], on: [path.parent], over: client, on: loop)
        discovery.didFail = { [weak self] in self?.step(.answered(.listen, .other($0))) }
        self.discovery = discovery
        discovery.begin()
    }

    private func hush(_ done: @escaping () -> Void) {
        guard let discovery else { return done() }
        self.discovery = nil
        discovery.stop { withExtendedLifetime(discovery, done) }
    }
}

extension PairingFailure {
    init(_ error: BusError) {
        switch error.name {
        case "org.bluez.Error.AuthenticationFailed": self = .authenticationFailed
        case "org.bluez.Error.AuthenticationRejected", "org.bluez.Error.Rejected": self = .rejected
        case "org.bluez.Error.AuthenticationCanceled", "org.bluez.Error.Canceled": self = .cancelled
        case "org.bluez.Error.AuthenticationTimeout": self = .authenticationTimedOut
        case "org.bluez.Error.AlreadyExists", "org.bluez.Error.AlreadyConnected": self = .alreadyExists
        case "org.bluez.Error.InProgress": self = .inProgress
        case _ where error.isTimeout: self = .noReply
        default: self = .other(error.description)
        }
    }
}
