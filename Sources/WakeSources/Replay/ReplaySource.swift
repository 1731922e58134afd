// A recorded trace as a source of device events: each operation becomes an event when its time has come.
import WakeLoop
import WakeModel
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
public protocol ReplayHost: AnyObject {
    /// True while handlers lag so far behind that playing waits until ``ReplaySource/resume()``.
    func mustWait(at speed: ReplaySpeed) -> Bool
    /// One operation whose time has come.
    func replay(_ operation: TraceOperation)
    /// The trace is played, or broken from here on.
    func replayEnded(_ error: TraceError?)
}

/// Plays one trace on the loop. It tells operations, not events: whose device is which number is the host's knowledge.
public final class ReplaySource {
    private var reader: TraceReader
    private let speed: ReplaySpeed
    private weak var host: (any ReplayHost)?
    private let playedLine: Int
    private var start: Instant?
    private var upcoming: TraceOperation?
    private var timer: Timer?
    private var burst: Deferred?
    private var isWaiting = false
    private var hasEnded = false

    /// A burst leaves the loop to others after so many operations.
    private static let operationsPerTurn = 256

    /// `after` is the line of the last operation that an earlier life has played; 0 for none.
    public init(_ reader: TraceReader, after line: Int = 0, speed: ReplaySpeed, on loop: EventLoop) throws(SystemError)
    {
        self.reader = reader
        playedLine = line
        self.speed = speed
        timer = try loop.timer(on: .monotonic, of: self) { $0.play() }
        burst = try loop.deferred(of: self) { $0.play() }
    }

    /// Begins so that the next operation is due now, whatever stood before it in the trace.
    public func begin(for host: any ReplayHost) {
        self.host = host
        advance()
        start = SystemClock.monotonic() - speed.delay(of: upcoming?.offset ?? .zero)
        play()
    }

    /// To be called when handlers may have caught up.
    public func resume() {
        guard isWaiting, host?.mustWait(at: speed) == false else { return }
        isWaiting = false
        burst?.schedule()
    }

    public func cancel() {
        (hasEnded, isWaiting) = (true, false)
        timer?.disarm()
        burst?.unschedule()
    }

    private func play() {
        guard !hasEnded, let start else { return }
        let now = SystemClock.monotonic()
        for _ in 0..<Self.operationsPerTurn {
            guard !hasEnded, let operation = upcoming else { return }
            let due = start + speed.delay(of: operation.offset)
            if due > now { return timer?.arm(at: due) ?? () }
            isWaiting = host?.mustWait(at: speed) ?? true
            if isWaiting { return }
            host?.replay(operation)
            advance()
        }
        burst?.schedule()
    }

    private func advance() {
        do {
            repeat { upcoming = try reader.next() } while upcoming.map { $0.line <= playedLine } ?? false
            if upcoming == nil { end(nil) }
        } catch {
            upcoming = nil
            end(error)
        }
    }

    private func end(_ error: TraceError?) {
        guard !hasEnded else { return }
        hasEnded = true
        host?.replayEnded(error)
    }
}
