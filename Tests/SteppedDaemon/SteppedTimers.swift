// Alarms that go off when a test has moved the clocks to them.
import Glibc
import SteppedPage
import WakeLoop
import WakeModel
import WakeSystem

final class SteppedTimers: LoopTimers {
    let page: SteppedPage
    private let bell: FileDescriptor
    private var alarms: [SteppedAlarm] = []
    private var watch: Watch?
    private var overdue: Deferred?
    /// The latest question that was seen while nothing else was ready.
    private var question: UInt64 = 0

    /// The kernel's own where no test moves the clocks.
    static func make() -> any LoopTimers {
        guard let path = getenv(SteppedPage.variable).map({ String(cString: $0) }) else { return KernelTimers() }
        do {
            return try SteppedTimers(path)
        } catch {
            Log("stepped").error("\(error)")
            exit(1)
        }
    }

    private init(_ path: String) throws(SystemError) {
        page = try SteppedPage(path)
        page.clearDeadlines()
        let bell = open(SteppedPage.bell(of: path), O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard bell >= 0 else { throw SystemError("open", SteppedPage.bell(of: path), Errno.last) }
        self.bell = FileDescriptor(owning: bell)
    }

    func alarm(
        of queue: TimerQueue, clock: TimerClock, on loop: EventLoop
    ) throws(SystemError) -> any LoopAlarm {
        if watch == nil {
            watch = try loop.watch(bell.raw, for: .readable, priority: .background, of: self) { $0.heed() }
            overdue = try loop.deferred(priority: .normal, of: self) { $0.fireDue() }
        }
        let alarm = SteppedAlarm(of: queue, clock: clock, by: self)
        alarms.append(alarm)
        return alarm
    }

    func loopWaits() { page.answer = question }

    func set(_ due: Instant?, on clock: TimerClock) {
        page.setDeadline(due, on: clock)
        if let due, due <= page.now(on: clock) { overdue?.schedule() }
    }

    /// The bell has the lowest priority: whatever else was ready has been called before.
    private func heed() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(bell.raw, &bytes, bytes.count) > 0 {}
        question = page.question
        fireDue()
    }

    private func fireDue() {
        for alarm in alarms { alarm.fire() }
    }
}

private final class SteppedAlarm: LoopAlarm {
    private unowned let queue: TimerQueue
    private unowned let timers: SteppedTimers
    private let clock: TimerClock
    private var due: Instant?

    init(of queue: TimerQueue, clock: TimerClock, by timers: SteppedTimers) {
        (self.queue, self.clock, self.timers) = (queue, clock, timers)
    }

    func set(for instant: Instant?) {
        due = instant
        timers.set(instant, on: clock)
    }

    func fire() {
        guard let instant = due, instant <= timers.page.now(on: clock) else { return }
        set(for: nil)
        queue.fireDue()
    }
}
