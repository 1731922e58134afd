// A recorded trace as a source of device events: each operation becomes an event when its time has come.
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

/// How fast a trace is played.
public enum ReplaySpeed: Hashable, Sendable {
    /// This many seconds of the trace in one second; greater than 0.
    case times(Double)
    /// As fast as its handlers keep up.
    case max

    /// The delay of an operation in real time.
    func delay(of offset: TimeSpan) -> TimeSpan {
        switch self {
        case .max: .zero
        case .times(1): offset
        case .times(let factor): TimeSpan(nanoseconds: Self.saturating(Double(offset.nanoseconds) / factor))
        }
    }

    /// Ten years a hundred times as slow are more than 64 bits of nanoseconds.
    private static func saturating(_ nanoseconds: Double) -> Int64 {
        nanoseconds < Double(Int64.max) ? Int64(nanoseconds) : .max
    }
}

/// The bridge to which a trace is played.
public protocol ReplayHost: SourceHost {
    /// True while handlers lag so far behind that playing waits for the end of a later turn.
    func mustWait(at speed: ReplaySpeed) -> Bool
    /// Raises an event of the trace.
    /// - Parameters:
    ///   - wall: the trace's own time.
    ///   - line: where the trace goes on after a restart: behind it.
    func replay(_ kind: DeviceEvent.Kind, of uri: String, at wall: WallTime, line: Int)
    /// The trace is played, or broken from here on.
    func replayEnded(_ error: TraceError?)
}

/// Admits events of a trace on request, beside their time.
public protocol ReplayGate: AnyObject {
    /// Whether the event may come now. If not, the source tries again at the end of a turn.
    func admits(_ event: TraceOperation, of header: TraceHeader) -> Bool
    /// An event that was admitted comes.
    func pass()
}

/// Plays one trace on the loop, in place of the devices that it names.
public final class ReplaySource {
    private var trace: TraceCut
    private let header: TraceHeader
    private var clock: TraceClock
    private let speed: ReplaySpeed
    private let gate: (any ReplayGate)?
    private unowned let host: any ReplayHost
    private let playedLine: Int
    private var startedAt: Instant?
    private var upcoming: TraceOperation?
    private var timer: Timer?
    private var burst: Deferred?
    private var isWaiting = false
    private var hasEnded = false
    private var hasPassedOver = false
    private let log = Log("replay")
    /// How many operations were played.
    public private(set) var count = 0

    /// The operations of a burst after which others have the loop.
    private static let operationsPerTurn = 256

    /// Reads up to the part, and introduces its devices.
    /// - Parameters:
    ///   - line: the last line that an earlier start of the bridge has played; 0 for none.
    ///   - gate: nil where each event comes in its time.
    public init(
        _ reader: TraceReader, part: TracePart = TracePart(), after line: Int = 0, speed: ReplaySpeed,
        gate: (any ReplayGate)? = nil, for host: any ReplayHost
    ) throws {
        trace = try part.cut(reader)
        header = trace.header
        clock = TraceClock(start: header.start)
        playedLine = line
        (self.speed, self.gate) = (speed, gate)
        self.host = host
        timer = try host.loop.timer(on: .monotonic, of: self) { $0.play() }
        burst = try host.loop.deferred(of: self) { $0.play() }
        for device in header.devices { host.introduce(device.device(host.profiles), by: nil) }
    }

    private func play() {
        guard !hasEnded, let startedAt else { return }
        let now = SystemClock.monotonic()
        for _ in 0..<Self.operationsPerTurn {
            guard !hasEnded, let operation = upcoming else { return }
            let due = startedAt + speed.delay(of: operation.offset)
            if due > now { return timer?.arm(at: due) ?? () }
            isWaiting = mustWait(for: operation)
            if isWaiting { return }
            play(operation)
            advance()
        }
        burst?.schedule()
    }

    private func mustWait(for operation: TraceOperation) -> Bool {
        if host.mustWait(at: speed) { return true }
        guard let gate, isGated(operation) else { return false }
        return !gate.admits(operation, of: header)
    }

    /// State at the beginning of a part has no line, and comes at once.
    private func isGated(_ operation: TraceOperation) -> Bool { operation.line > 0 && operation.kind != nil }

    private func play(_ operation: TraceOperation) {
        if isGated(operation) { gate?.pass() }
        switch operation.subject {
        case .device(let place, let kind):
            count += 1
            host.replay(
                kind, of: header.devices[place].uri, at: clock.wall(at: operation.offset), line: trace.line)
        case .machine, .handler: passOver(operation.line)
        }
    }

    /// This machine's clocks and handlers are real.
    private func passOver(_ line: Int) {
        guard !hasPassedOver else { return }
        hasPassedOver = true
        let place = line > 0 ? "line \(line)" : "the beginning"
        log.warning(
            "\(place) of the trace describes what the machine or a handler did, which cannot be done to real ones; it and its like "
                + "are left out: play the trace with wakebridge replay and without a handler to have them")
    }

    private func advance() {
        do {
            repeat {
                if let upcoming { clock.follow(upcoming) }
                upcoming = try trace.next()
            } while upcoming.map(wasPlayed) ?? false
            if upcoming == nil { end(nil) }
        } catch {
            upcoming = nil
            end(error)
        }
    }

    /// By an earlier start of the bridge.
    private func wasPlayed(_ operation: TraceOperation) -> Bool { playedLine > 0 && operation.line <= playedLine }

    private func end(_ error: TraceError?) {
        guard !hasEnded else { return }
        hasEnded = true
        host.replayEnded(error)
    }
}

extension ReplaySource: WakeSource {
    /// The next operation is due now, whatever its time in the trace.
    public func start() {
        advance()
        startedAt = SystemClock.monotonic() - speed.delay(of: upcoming?.offset ?? .zero)
        play()
    }

    public var unwatched: [UnwatchedDevice] {
        header.devices.compactMap { device in
            let known = device.device(host.profiles)
            guard known.profile == nil else { return nil }
            return UnwatchedDevice(alias: known.alias, uri: known.uri, isConnected: false, facts: device.facts)
        }
    }

    public func stop() {
        (hasEnded, isWaiting) = (true, false)
        timer?.disarm()
        burst?.unschedule()
    }

    /// Handlers may have caught up.
    public func turnEnded() {
        guard isWaiting, let upcoming, !mustWait(for: upcoming) else { return }
        isWaiting = false
        burst?.schedule()
    }
}

extension TraceDevice {
    /// The device as event lines show it.
    public func device(_ profiles: ProfileLibrary) -> Device {
        var device = profiles.device(
            kind, uri: uri, address: address, alias: alias, services: services, name: name,
            properties: properties.map { ($0.key, $0.value) }, advertisement: advertisement)
        device.reportDescriptor = reportDescriptor
        return device
    }
}

extension TraceDevice {
    /// The facts that the trace's header contains.
    fileprivate var facts: DeviceFacts {
        DeviceFacts(
            kind: kind, services: Set(services), name: name,
            properties: Dictionary(properties.map { ($0.key, $0.value) }) { first, _ in first },
            advertisement: advertisement)
    }
}
