// Enumerates attached devices where udev's messages are missing: at once, but with a rest between, and again after a
// failure.
import WakeLoop
import WakeModel
import WakeSystem

final class UdevLookup {
    private let look: () throws(SystemError) -> [UdevRecord]
    private let tell: ([UdevRecord]) -> Void
    private var timer: Timer?
    /// Not before this, after the last enumeration or failure.
    private var earliest: Instant?
    private var backOff = BackOff(from: .milliseconds(100), to: .seconds(10))
    private var hasFailed = false
    private let log = Log("accessories")

    /// Messages may be lost faster than an enumeration takes; attached devices are known again within a second all the
    /// same.
    static let interval = TimeSpan.milliseconds(250)

    init(
        on loop: EventLoop, _ look: @escaping () throws(SystemError) -> [UdevRecord],
        _ tell: @escaping ([UdevRecord]) -> Void
    ) throws(SystemError) {
        self.look = look
        self.tell = tell
        timer = try loop.timer(on: .monotonic) { [unowned self] in perform() }
    }

    /// Reports an enumeration that begins after this call.
    func request() {
        if let earliest, SystemClock.monotonic() < earliest {
            timer?.arm(at: earliest)
        } else {
            timer?.disarm()
            perform()
        }
    }

    private func perform() {
        do throws(SystemError) {
            let found = try look()
            earliest = SystemClock.monotonic() + Self.interval
            if hasFailed { log.notice("what is attached is known again") }
            hasFailed = false
            backOff.reset()
            tell(found)
        } catch {
            let next = SystemClock.monotonic() + backOff.next()
            earliest = next
            timer?.arm(at: next)
            if !hasFailed {
                log.error("\(error.description); until it succeeds, an accessory that came or went may be missed")
            }
            hasFailed = true
        }
    }
}
