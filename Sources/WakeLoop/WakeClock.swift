// The engine's clock: the kernel's clocks in the daemon, a clock that the trace moves in a replay.
import WakeModel
import WakeSystem

public protocol WakeClock: AnyObject {
    func now() -> Moment
    /// The current time on every clock, as an event records it.
    func stamp() -> Stamp
}

/// The kernel's clocks.
public final class RealClock: WakeClock {
    private var isSynchronized = false
    private var nextLook = Instant.zero

    public init() {}

    public func now() -> Moment { SystemClock.now() }

    public func stamp() -> Stamp {
        let now = SystemClock.now()
        look(at: now.monotonic)
        return Stamp(moment: now, wall: SystemClock.wall(), isClockSynchronized: isSynchronized)
    }

    /// The clock is kept now: the next stamp reports it.
    public func lookAgain() { nextLook = .zero }

    /// A look at the kernel costs a system call, so there is one in each second until the clock is set.
    private func look(at now: Instant) {
        guard !isSynchronized, now >= nextLook else { return }
        isSynchronized = SystemClock.isSynchronized
        nextLook = now + .seconds(1)
    }
}

/// A machine's clocks that stop until they are moved: by time that passes, by sleeps, by reboots, and by being set.
public final class VirtualClock: WakeClock {
    private var moment: Moment
    /// The wall clock at `elapsed` zero, by its present setting. Added up in one piece, so that no fraction of a
    /// microsecond is lost on the way.
    private var wallAtStart: WallTime
    /// Since the clock was made, with the time that the machine slept or was off.
    public private(set) var elapsed = TimeSpan.zero
    /// Whether the wall clock is known to be right.
    public var isSynchronized: Bool
    private var boots = 1

    public init(startingAt start: Stamp) {
        (moment, wallAtStart, isSynchronized) = (start.moment, start.wall, start.isClockSynchronized)
    }

    /// Starts at zero on both clocks of decisions.
    public convenience init(wall: WallTime) {
        self.init(startingAt: Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: wall))
    }

    public func now() -> Moment { moment }
    public func stamp() -> Stamp { Stamp(moment: moment, wall: wall, isClockSynchronized: isSynchronized) }
    private var wall: WallTime { wallAtStart + elapsed }
    /// Another one after each reboot, as the kernel's is.
    public var bootID: String { "virtual-\(boots)" }

    /// The machine runs: all three clocks advance.
    public func advance(by span: TimeSpan) {
        moment.monotonic = moment.monotonic + span
        rest(for: span)
    }

    /// Moves to `instant` of the monotonic clock; an instant in the past changes nothing.
    public func advance(to instant: Instant) { advance(by: distance(toMonotonic: instant)) }

    /// The machine sleeps: CLOCK_MONOTONIC stops.
    public func sleep(for span: TimeSpan) { rest(for: span) }

    /// A person or a time server sets the wall clock, forward or back; no other clock moves.
    public func setWall(by step: TimeSpan) { wallAtStart = wallAtStart + step }

    /// The machine is off for the span; then both clocks of decisions begin at zero again.
    public func reboot(after span: TimeSpan) {
        rest(for: span)
        moment = Moment(monotonic: .zero, boottime: .zero)
        boots += 1
    }

    private func rest(for span: TimeSpan) {
        precondition(span >= .zero, "time does not run backwards")
        moment.boottime = moment.boottime + span
        elapsed = elapsed + span
    }
}

// The spans to advance until an instant is due; zero if that has passed.
extension VirtualClock {
    public func distance(toMonotonic instant: Instant) -> TimeSpan { max(.zero, instant - moment.monotonic) }
    public func distance(toBoottime instant: Instant) -> TimeSpan { max(.zero, instant - moment.boottime) }
    /// As the clock is set now.
    public func distance(toWall time: WallTime) -> TimeSpan {
        let (microseconds, isFar) = time.microseconds.subtractingReportingOverflow(wallAtStart.microseconds)
        guard !isFar else { return TimeSpan(nanoseconds: time > wallAtStart ? .max : 0) }
        return max(.zero, .microseconds(microseconds) - elapsed)
    }
}
