// A scan on some adapters: begun with patience, begun again where it ends by itself, and always ended.
import WakeLoop
import WakeModel
import WakeSources
import WakeSystem

/// The reaction to an attempt to scan; pure. An adapter is never reset for it, because that would end all links.
public struct DiscoveryPatience: Hashable, Sendable {
    private var firstFailure: Instant?
    private var wait = shortest
    /// How many tries have failed one after another.
    public private(set) var failures = 0

    public init() {}

    /// The end of another program's scan keeps a controller busy for seconds, in which bluetoothd answers InProgress.
    static let most = TimeSpan.seconds(20)
    private static let shortest = TimeSpan.milliseconds(500)
    private static let longest = TimeSpan.seconds(4)

    /// When to try again after a try that failed `now`; nil where it was tried for long enough.
    public mutating func next(_ now: Instant) -> Instant? {
        let first = firstFailure ?? now
        firstFailure = first
        failures += 1
        let due = now + wait
        wait = min(wait * 2, Self.longest)
        return due <= first + Self.most ? due : nil
    }

    public mutating func succeed() { self = DiscoveryPatience() }
}

public final class Discovery {
    /// It cannot be, and why.
    public var didFail: (String) -> Void = { _ in }
    /// When an adapter scanned for the first time; nil before.
    public private(set) var begun: Instant?
    /// Why an adapter does not scan yet, if it was refused more than once and is asked again; nil once it scans.
    public private(set) var refusal: String?

    /// An adapter's report comes behind all advertisements of a crowd, and may be older than the answer.
    private static let recheck = TimeSpan.seconds(5)

    private let client: BluezClient
    private let services: [BluetoothUUID]
    private let loop: EventLoop
    private var adapters: [String: Adapter] = [:]
    private var isStopping = false

    private struct Adapter {
        let session: DiscoverySession
        var patience = DiscoveryPatience()
        var state = State.asking
        var timer: Timer?

        enum State {
            /// A request is under way, or its next try is waited for.
            case asking
            case scanning
            /// It is gone, mostly with a bluetoothd that died, or off, and its scan with it: begun when it is back.
            case away
        }
    }

    /// An empty list of services filters nothing. Advertisements still have to be examined one by one: bluetoothd
    /// merges the filters of all who scan.
    public init(of services: [BluetoothUUID], on adapters: [String], over client: BluezClient, on loop: EventLoop) {
        self.client = client
        self.services = services
        self.loop = loop
        for path in adapters { self.adapters[path] = Adapter(session: DiscoverySession(on: path, over: client)) }
    }

    public func begin() { for path in adapters.keys.sorted() { begin(path) } }

    private func begin(_ path: String) {
        guard !isStopping else { return }
        guard client.mirror.adapters[path]?.isPowered == true else { return putAway(path) }
        adapters[path]?.state = .asking
        adapters[path]?.timer = nil
        adapters[path]?.session.begin(filter) { [weak self] result in
            guard let self, !isStopping else { return }
            switch result {
            case .success: confirm(path)
            case .failure(let error): retry(path, error)
            }
        }
    }

    /// Bluetoothd may have answered for the end of another program's scan, which ended this one too.
    private func confirm(_ path: String) {
        adapters[path]?.state = .asking
        adapters[path]?.session.look { [weak self] isScanning in
            guard let self, !isStopping else { return }
            if isScanning { succeed(path) } else { retry(path, .endedWithAnother) }
        }
    }

    private func succeed(_ path: String) {
        adapters[path]?.state = .scanning
        adapters[path]?.patience.succeed()
        begun = begun ?? SystemClock.monotonic()
        refusal = nil
        let timer = try? loop.timer(on: .monotonic, of: self) { $0.compare(path) }
        timer?.arm(at: SystemClock.monotonic() + Self.recheck)
        adapters[path]?.timer = timer
    }

    private func retry(_ path: String, _ error: BusError) {
        let address = client.mirror.adapters[path]?.address ?? path
        guard let due = adapters[path]?.patience.next(SystemClock.monotonic()) else {
            return didFail(
                "adapter \(address) does not scan: \(error); end other programs that scan, or "
                    + "'\(InitSystem.ofThisMachine.command(.restart, "bluetooth"))'"
            )
        }
        if let failures = adapters[path]?.patience.failures, failures > 1 {
            refusal = "adapter \(address) does not scan yet: \(error); it is asked again for a while"
        }
        let timer = try? loop.timer(on: .monotonic, of: self) { $0.begin(path) }
        timer?.arm(at: due)
        adapters[path]?.timer = timer
    }

    /// Called for every change: a scan that another program ended is begun again.
    public func bluezDidChange(_ change: BluezChange) {
        guard !isStopping else { return }
        switch change {
        case .adapter(let path): compare(path)
        case .adapterGone(let path, _): if adapters[path]?.state == .scanning { putAway(path) }
        case .peripheral, .peripheralGone, .database, .value: break
        }
    }

    /// Compares the requested state with the adapter's.
    private func compare(_ path: String) {
        guard let state = adapters[path]?.state, let adapter = client.mirror.adapters[path] else { return }
        switch state {
        case .asking: break
        case .away: if adapter.isPowered { begin(path) }
        case .scanning where !adapter.isPowered: putAway(path)
        case .scanning: if !adapter.isDiscovering { confirm(path) }
        }
    }

    private func putAway(_ path: String) {
        guard let session = adapters[path]?.session else { return }
        adapters[path] = Adapter(session: session, state: .away)
    }

    /// Ends the scan on every adapter, then calls `done`.
    public func stop(_ done: @escaping () -> Void) {
        guard !isStopping else { return done() }
        isStopping = true
        var left = adapters.count
        if left == 0 { return done() }
        for path in adapters.keys {
            adapters[path]?.timer = nil
            adapters[path]?.session.end {
                left -= 1
                if left == 0 { done() }
            }
        }
    }

    private var filter: BusValue {
        var pairs: [(String, BusValue)] = [("Transport", .string("le")), ("DuplicateData", .boolean(false))]
        if !services.isEmpty { pairs.append(("UUIDs", .array(of: "s", services.map { .string($0.full) }))) }
        return .properties(pairs)
    }
}

extension BusError {
    fileprivate static let endedWithAnother = BusError(
        name: "org.bluez.Error.Failed", message: "the scan ended with that of another program")
}
