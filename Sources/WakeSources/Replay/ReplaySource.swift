// A recorded trace as a source of device events: each operation becomes an event when its time has come.
import WakeLoop
import WakeModel
import WakeProfiles
import WakeSystem
import WakeTrace

/// How fast a trace is played.
public enum ReplaySpeed: Hashable, Sendable {
    /// So many seconds of the trace in one second; greater than 0.
    case times(Double)
    /// As fast as its handlers keep up.
    case max

    /// Where in real time an operation of the trace comes.
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

/// What a trace is played to.
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

/// Plays one trace on the loop, in place of the devices that it names.
public final class ReplaySource {
    private var reader: TraceReader
    private let header: TraceHeader
    private var clock: TraceClock
    private let speed: ReplaySpeed
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

    /// A burst leaves the loop to others after so many operations.
    private static let operationsPerTurn = 256

    /// Reads the header, and introduces its devices.
    /// - Parameter line: the last line that an earlier start of the bridge has played; 0 for none.
    public init(_ reader: TraceReader, after line: Int = 0, speed: ReplaySpeed, for host: any ReplayHost) throws {
        self.reader = reader
        header = try self.reader.header()
        clock = TraceClock(start: header.start)
        playedLine = line
        self.speed = speed
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
            isWaiting = host.mustWait(at: speed)
            if isWaiting { return }
            play(operation)
            advance()
        }
        burst?.schedule()
    }

    private func play(_ operation: TraceOperation) {
        switch operation.subject {
        case .device(let place, let kind):
            count += 1
            host.replay(
                kind, of: header.devices[place].uri, at: clock.wall(at: operation.offset), line: operation.line)
        case .machine, .handler: passOver(operation.line)
        }
    }

    /// This machine's clocks and handlers are real.
    private func passOver(_ line: Int) {
        guard !hasPassedOver else { return }
        hasPassedOver = true
        log.warning(
            "line \(line) of the trace tells what the machine or a handler did, which cannot be done to real ones; it and its like "
                + "are left out: play the trace with wakebridge replay and without a handler to have them")
    }

    private func advance() {
        do {
            repeat {
                if let upcoming { clock.follow(upcoming) }
                upcoming = try reader.next()
            } while upcoming.map { $0.line <= playedLine } ?? false
            if upcoming == nil { end(nil) }
        } catch {
            upcoming = nil
            end(error)
        }
    }

    private func end(_ error: TraceError?) {
        guard !hasEnded else { return }
        hasEnded = true
        host.replayEnded(error)
    }
}

extension ReplaySource: WakeSource {
    /// The next operation is due now, whatever came before it in the trace.
    public func start() {
        advance()
        startedAt = SystemClock.monotonic() - speed.delay(of: upcoming?.offset ?? .zero)
        play()
    }

    public func stop() {
        (hasEnded, isWaiting) = (true, false)
        timer?.disarm()
        burst?.unschedule()
    }

    /// Handlers may have caught up.
    public func turnEnded() {
        guard isWaiting, !host.mustWait(at: speed) else { return }
        isWaiting = false
        burst?.schedule()
    }
}

extension TraceDevice {
    /// The device as event lines show it.
    public func device(_ profiles: ProfileLibrary) -> Device {
        var device = profiles.device(
            kind, uri: uri, address: address, alias: alias, services: services, name: name,
            properties: properties.map { ($0.key, $0.value) })
        device.reportDescriptor = reportDescriptor
        return device
    }
}
