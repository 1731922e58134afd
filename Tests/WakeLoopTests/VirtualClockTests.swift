// The clock of replays: three clocks that run, stand still and are set apart from each other.
import Testing
import WakeLoop
import WakeModel

@Suite("The virtual clock")
struct VirtualClockTests {
    private let clock = VirtualClock(wall: WallTime(microseconds: 1_000_000))

    private var monotonic: TimeSpan { clock.now().monotonic - .zero }
    private var boottime: TimeSpan { clock.now().boottime - .zero }
    private var wall: Int64 { clock.stamp().wall.microseconds }

    @Test("while the machine sleeps only CLOCK_MONOTONIC stands still")
    func sleeps() {
        clock.advance(by: .seconds(1))
        clock.sleep(for: .seconds(10))
        #expect(monotonic == .seconds(1) && boottime == .seconds(11) && wall == 12_000_000)
        #expect(clock.elapsed == .seconds(11) && clock.now().slept == .seconds(10))
    }

    @Test("to set the wall clock moves neither of the clocks of decisions, and lasts")
    func isSet() {
        clock.advance(by: .seconds(1))
        clock.setWall(by: .zero - .seconds(100))
        clock.advance(by: .seconds(1))
        #expect(monotonic == .seconds(2) && boottime == .seconds(2) && wall == -97_000_000)
        #expect(clock.elapsed == .seconds(2))
    }

    @Test("after a reboot both clocks of decisions begin at zero, the wall clock goes on, and the boot has another id")
    func reboots() {
        let first = clock.bootID
        clock.advance(by: .seconds(5))
        clock.sleep(for: .seconds(5))
        clock.reboot(after: .seconds(60))
        #expect(monotonic == .zero && boottime == .zero && wall == 71_000_000)
        let second = clock.bootID
        clock.reboot(after: .zero)
        #expect(Set([first, second, clock.bootID]).count == 3)
    }

    @Test("whether the clock is right is told with each stamp")
    func isSynchronized() {
        #expect(clock.stamp().isClockSynchronized)
        clock.isSynchronized = false
        #expect(!clock.stamp().isClockSynchronized)
    }

    @Test("a deadline on each clock says how far the clock must advance, and is met exactly then")
    func distances() {
        clock.advance(by: .seconds(10))
        clock.sleep(for: .seconds(100))
        clock.setWall(by: .seconds(7))
        let due = Instant(nanoseconds: 150_000_000_000)
        #expect(clock.distance(toMonotonic: due) == .seconds(140))
        #expect(clock.distance(toBoottime: due) == .seconds(40))
        #expect(clock.distance(toWall: WallTime(microseconds: 150_000_000)) == .seconds(32))
        for past in [clock.distance(toMonotonic: .zero), clock.distance(toBoottime: .zero)] { #expect(past == .zero) }
        #expect(clock.distance(toWall: WallTime(microseconds: .min)) == .zero)
        #expect(clock.distance(toWall: WallTime(microseconds: .max)) > .seconds(1 << 32))
        clock.advance(by: clock.distance(toWall: WallTime(microseconds: 150_000_000)))
        #expect(wall == 150_000_000)
    }

    @Test("time in pieces below a microsecond is not lost on the wall clock")
    func fractions() {
        for _ in 0..<10 { clock.advance(by: TimeSpan(nanoseconds: 300)) }
        #expect(wall == 1_000_003)
    }
}
