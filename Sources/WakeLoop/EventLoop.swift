// The event loop on the one thread: waits until something is ready, and calls its watcher. It hardly ever wakes in vain.
import CSystemd
import Glibc
import WakeModel
import WakeSystem

/// The readiness of a descriptor.
public struct Readiness: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let readable = Readiness(rawValue: EPOLLIN.rawValue)
    public static let writable = Readiness(rawValue: EPOLLOUT.rawValue)
    /// A kernel file, such as `cgroup.events`, has changed.
    public static let priority = Readiness(rawValue: EPOLLPRI.rawValue)
    /// Each arrival is reported once, whether earlier bytes were read or not.
    public static let arrival = Readiness(rawValue: EPOLLIN.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue)
    /// Each arrival is reported, even where another process has read it before this one could look: that the socket can still be
    /// written is reported in its place. That it can be written again is reported too.
    public static let traffic = Readiness(rawValue: arrival.rawValue | EPOLLOUT.rawValue)
    /// The other side has closed. Always reported.
    public static let hangup = Readiness(rawValue: EPOLLHUP.rawValue)
    /// The other side has stopped sending.
    public static let endOfInput = Readiness(rawValue: EPOLLRDHUP.rawValue)
    /// An error. Always reported.
    public static let failure = Readiness(rawValue: EPOLLERR.rawValue)
}

/// The order in which ready sources are called.
public enum Priority: Int64, Sendable {
    case important = -100
    case normal = 0
    case idle = 100
    /// After everything else, scheduled work included: work that nothing waits for.
    case background = 200
}

/// A turn that gathers while the loop calls everything that was ready, and ends then.
public protocol LoopTurn: AnyObject {
    func loopEndsTurn()
}

/// An event loop for one thread: everything on it is created, called and released on the thread that runs it.
public final class EventLoop {
    let handle: OpaquePointer
    private let timers: any LoopTimers
    private var queues: [TimerClock: TimerQueue] = [:]
    /// Ended when everything that was found ready has been called, if ``requestTurn()`` was called.
    public weak var turn: (any LoopTurn)?
    private var isTurnRequested = false
    /// More was ready right after a turn: the next turn waits for further ready sources, so that a flood shares turns. The wait
    /// is limited: a source that is always ready must not block the turn.
    private var isBusy = false
    /// The rounds since the turn was requested.
    private var rounds = 0
    let account = LoopAccount()
    /// The longest time that one call should block the others.
    public static let patience = TimeSpan.milliseconds(50)
    private static let mostRounds = 32
    /// When the latest call began and ended, and when the one began that requested the turn.
    private var lastBegin = Instant.zero
    private var lastEnd = Instant.zero
    private var requestedAt = Instant.zero
    /// The longest time that slow calls may postpone the turn.
    private static let longestRounds = TimeSpan.milliseconds(5)
    /// The rounds of an immediate answer: timers are set only after them, because most are disarmed by then.
    private static let quickRounds = 2

    public init(timers: any LoopTimers = KernelTimers()) throws(SystemError) {
        var loop: OpaquePointer?
        try check(sd_event_new(&loop), "make", "an event loop")
        guard let loop else { throw SystemError("make", "an event loop", .invalid) }
        handle = loop
        self.timers = timers
    }

    deinit { sd_event_unref(handle) }

    /// Calls `body` whenever `raw` is ready for some of `readiness`, for as long as the returned watch is kept. The caller owns
    /// the descriptor, which must outlive the watch.
    public func watch(
        _ raw: Int32, for readiness: Readiness, priority: Priority = .normal, cause: LoopCause = .other,
        _ body: @escaping (Readiness) -> Void
    ) throws(SystemError) -> Watch {
        try Watch(on: self, descriptor: raw, for: readiness, priority: priority, cause: cause, body)
    }

    /// Calls `body` when the signal arrives; the signal is blocked first, so call this before there are other threads.
    public func onSignal(_ number: Int32, priority: Priority = .normal, _ body: @escaping () -> Void)
        throws(SystemError) -> SignalWatch
    {
        try SignalWatch(on: self, signal: number, priority: priority, body)
    }

    /// A timer that is not armed yet.
    public func timer(on clock: TimerClock, _ body: @escaping () -> Void) throws(SystemError) -> Timer {
        if let queue = queues[clock] { return Timer(in: queue, body) }
        let queue = try TimerQueue(on: self, clock: clock, timers: timers)
        queues[clock] = queue
        return Timer(in: queue, body)
    }

    /// Work for the end of a turn, when all ready sources have been called; not scheduled yet.
    public func deferred(priority: Priority = .idle, _ body: @escaping () -> Void) throws(SystemError) -> Deferred {
        try Deferred(on: self, priority: priority, body)
    }

    /// Notifies the service manager at intervals that the loop runs, if it requires that (WATCHDOG_USEC); otherwise
    /// does nothing.
    public func proveAlive() throws(SystemError) {
        try check(sd_event_set_watchdog(handle, 1), "watch", "the event loop for the service manager")
    }

    public func requestTurn() {
        if !isTurnRequested { requestedAt = lastBegin }
        isTurnRequested = true
    }

    /// Completes the turn now, for a flood that would postpone it for too long.
    public func runTurn() {
        isTurnRequested = false
        rounds = 0
        let begun = beginCall()
        let outer = account.cause
        account.cause = .turn
        turn?.loopEndsTurn()
        endCall(begun)
        account.cause = outer
        // The next one may be requested before the loop waits.
        settleTimers()
    }

    /// Runs until `stop`; returns its code.
    public func run() throws(SystemError) -> Int32 {
        while !isStopped { try iterate(waiting: .max) }
        var code: Int32 = 0
        sd_event_get_exit_code(handle, &code)
        return code
    }

    /// Waits for at most `timeout`, for ever without one, and calls at most one source; false if none was ready.
    @discardableResult
    public func runOnce(timeout: TimeSpan? = nil) throws(SystemError) -> Bool {
        try iterate(waiting: timeout.map { UInt64(max($0.nanoseconds, 0) + 999) / 1000 } ?? UInt64.max)
    }

    /// sd_event_run in its three steps: only between them is it known that nothing else is ready. A turn that were a source would
    /// cost another poll of every descriptor before it is called.
    @discardableResult
    private func iterate(waiting microseconds: UInt64) throws(SystemError) -> Bool {
        if !isTurnRequested || rounds >= Self.quickRounds { settleTimers() }
        var found = sd_event_prepare(handle)
        rounds = isTurnRequested ? rounds + 1 : 0
        let isOverdue = rounds > Self.mostRounds || rounds > 1 && lastEnd - requestedAt > Self.longestRounds
        let completes = isTurnRequested && (found == 0 && !isBusy || isOverdue)
        if completes { runTurn() }
        if found == 0 {
            // Does not wait after a turn, because it may have armed timers, which only the next step sets.
            let waits = !isTurnRequested && !completes
            if waits { timers.loopWaits() }
            found = sd_event_wait(handle, waits ? microseconds : 0)
            isBusy = found > 0 && !waits
            if found == 0 { return !waits }
        }
        try check(found, "wait in", "the event loop")
        let begun = beginCall()
        account.cause = .bus
        try check(sd_event_dispatch(handle), "run", "the event loop")
        endCall(begun)
        return true
    }

    private func beginCall() -> Instant {
        lastBegin = SystemClock.monotonic()
        return lastBegin
    }

    /// A turn that runs early is part of the call that needed it, so each records its own start.
    private func endCall(_ begun: Instant) {
        lastEnd = SystemClock.monotonic()
        account.count(lastEnd - begun, endedAt: lastEnd)
    }

    /// Sets the cause of the current call. Sources set theirs by themselves, except those of sd-bus.
    public func charge(_ cause: LoopCause) { account.cause = cause }

    public func stay(of cause: LoopCause) -> LoopStay { account.stay(of: cause) }

    /// The longest call of any cause, and how many calls took longer than ``patience``.
    public var longestCall: TimeSpan { account.longest }
    public var longCalls: Int { account.overPatience }

    /// Logs long calls from now on, each cause once an hour.
    public func logLongCalls() { account.isLogged = true }

    private func settleTimers() { for queue in queues.values { queue.settle() } }

    /// Makes `run` return `code` after the source that is being called.
    public func stop(code: Int32 = 0) { sd_event_exit(handle, code) }

    private var isStopped: Bool { sd_event_get_state(handle) == Int32(SD_EVENT_FINISHED) }
}

/// Turns sd-event's -errno into an error.
func check(_ code: Int32, _ attempted: String, _ subject: @autoclosure () -> String) throws(SystemError) {
    guard code < 0 else { return }
    throw SystemError(attempted, subject(), Errno(code: -code))
}
