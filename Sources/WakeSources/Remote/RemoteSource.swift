// Devices of other bridges as devices of this one: it raises the events of their streams, once and in order.
import WakeLoop
import WakeModel
import WakeSystem

/// A follower for each bridge that the settings name.
public final class RemoteSource: RegisteredSource {
    public static let kind = SourceKind.remote

    private let followers: [RemoteFollower]

    public static func make(
        for host: any SourceHost, _ resources: SourceResources
    ) throws(SystemError) -> RemoteSource {
        RemoteSource(resources.remotes.map { RemoteFollower(of: $0, for: host) })
    }

    private init(_ followers: [RemoteFollower]) { self.followers = followers }

    public func start() throws(SystemError) { for follower in followers { try follower.start() } }

    public func stop() { for follower in followers { follower.stop() } }

    public func turnEnded() { for follower in followers { follower.turnEnded() } }

    public func blockingReason(of uri: String) -> String? {
        let name = uri.dropFirst(Self.kind.uriPrefix.count).prefix { $0 != "/" }
        guard let follower = followers.first(where: { $0.bridge.name == name }) else {
            return "its bridge '\(name)' is not in remote of the settings any more"
        }
        return follower.blockingReason(of: uri)
    }

    /// Only the bridge that has the device can perform a request.
    public func perform(
        _ request: DeviceRequest, on device: Device, _ answer: @escaping (DeviceAnswer) -> Void
    ) {
        let why = "another bridge has the device; publish to its topics, or ask there"
        answer(.failure(.deviceFailed(request.address.device, verb: request.verb, why: why)))
    }
}

/// Follows the stream of one bridge. The broker keeps each line until the turn has committed what it brought.
final class RemoteFollower {
    let bridge: RemoteBridge
    private unowned let host: any SourceHost
    private var stream: RemoteStream
    private var watch: Watch?
    /// A line was raised and is not committed yet.
    private var owesAcknowledgement = false
    private var refusals = SparseReport()
    /// Limits changes of its presence: a client that publishes in its name may make it come and go without a pause.
    private var presences = RateLimiter(perSecond: 1, burst: 5, now: SystemClock.monotonic())
    /// The broker was lost, and operators know.
    private var isAway = false
    private let log = Log("remote")

    init(of bridge: RemoteBridge, for host: any SourceHost) {
        (self.bridge, self.host) = (bridge, host)
        stream = RemoteStream(of: bridge.name, from: nil, isCertain: true, knowing: [])
    }

    /// Not before: the journal has recovered by now.
    func start() throws(SystemError) {
        let known = host.knownDevices.filter {
            // A forgotten device is called by its URI.
            $0.kind == RemoteSource.kind && $0.alias != $0.uri
                && $0.uri.hasPrefix("\(RemoteSource.kind.uriPrefix)\(bridge.name)/")
        }
        for device in known { introduce(device) }
        let position = host.position(ofStream: bridge.stream)
        stream = RemoteStream(
            of: bridge.name, from: position.flatMap { StreamCursor(text: $0.text) },
            isCertain: position?.isCertain ?? true, knowing: known)
        watch = try host.loop.watch(bridge.feed.descriptor, for: .readable, cause: .mqtt, of: self) { $0.read() }
        bridge.feed.open()
    }

    func stop() {
        watch = nil
        bridge.feed.close()
    }

    func blockingReason(of uri: String) -> String? { stream.blockingReason(of: uri, through: bridge.broker) }

    func turnEnded() {
        guard owesAcknowledgement else { return }
        owesAcknowledgement = false
        bridge.feed.acknowledgeLine()
    }

    /// The rest keeps the feed readable: a flood of one bridge does not keep the loop from other devices.
    private func read() {
        for _ in 0..<Self.mostAtOnce {
            guard let news = bridge.feed.next() else { return }
            hear(news)
        }
    }

    private static let mostAtOnce = 32

    private func hear(_ news: RemoteNews) {
        switch news {
        case .reached:
            log.notice("follows bridge \(bridge.name) through the broker \(bridge.broker)")
            isAway = false
            step(.reached)
        case .lost(let why):
            // It is tried again and again.
            if !isAway { log.warning("cannot follow bridge \(bridge.name): \(why)") }
            isAway = true
            step(.lost(why: why))
        case .presence(let isOnline):
            if presences.consume(now: host.clock.now().monotonic) {
                log.notice("bridge \(bridge.name) is \(isOnline ? "there" : "away")")
            }
            step(.presence(isOnline: isOnline))
        case .described(let alias, let bytes):
            if bytes.isEmpty {
                step(.forgotten(alias: alias))
            } else if let description = RemoteDescription(bytes) {
                step(.described(alias: alias, description))
            }
        case .availability(let alias, let isOnline): step(.availability(alias: alias, isOnline: isOnline))
        case .line(let bytes): hear(line: bytes)
        case .refused(let topics):
            log.error("the broker \(bridge.broker) does not let this user subscribe to \(topics); allow it there")
        case .other: break
        }
    }

    /// A line with events is acknowledged after their commit; another at once.
    private func hear(line bytes: [UInt8]) {
        do throws(RemoteLineFault) {
            owesAcknowledgement = step(.line(try RemoteLine(bytes)))
        } catch {
            refuse("a line of bridge \(bridge.name) is left out: \(error.reason)")
        }
        if !owesAcknowledgement { bridge.feed.acknowledgeLine() }
    }

    /// Whether something follows that a commit keeps.
    @discardableResult
    private func step(_ input: RemoteStream.Input) -> Bool {
        let outcome = stream.step(input, at: host.clock.stamp().wall)
        for device in outcome.introduced { introduce(device) }
        if let refusal = outcome.refusal { refuse(refusal) }
        let isKept = !outcome.events.isEmpty || outcome.cursor != nil
        if isKept { host.relay(outcome.events, of: bridge.stream, followedTo: outcome.cursor?.text) }
        // After its last event, which its handlers get by its name.
        if let uri = outcome.forgotten { host.forget(uri) }
        return isKept
    }

    private func introduce(_ device: Device) {
        host.introduce(device, by: device.profile.flatMap { host.profiles.index(named: $0) })
    }

    private func refuse(_ sentence: String) {
        guard let unreported = refusals.count(at: host.clock.now().monotonic) else { return }
        log.warning(unreported == 0 ? sentence : "\(sentence); \(unreported) more like it since the last one")
    }
}
