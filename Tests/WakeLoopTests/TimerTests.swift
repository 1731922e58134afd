// Many timers on one kernel timer: order, punctuality, and what they may do to each other from inside their calls.
import Testing
import WakeModel
import WakeSystem

@testable import WakeLoop

@Suite struct TimerTests {
    @Test("two hundred deadlines due together fire in one turn, in the order they were armed")
    func together() throws {
        let loop = try EventLoop()
        var late: [Int64] = []
        var order: [Int] = []
        let due = SystemClock.monotonic() + .milliseconds(20)
        let timers = try (0..<200).map { number in
            try loop.timer(on: .monotonic) {
                order.append(number)
                late.append((SystemClock.monotonic() - due).nanoseconds)
            }
        }
        for timer in timers { timer.arm(at: due) }
        // An optimised build releases what is not used again, and a released timer is disarmed.
        let called = try withExtendedLifetime(timers) { try loop.runOnce(timeout: .seconds(1)) }
        #expect(called)
        print(
            "cost: 200 timers due together: first \((late.min() ?? 0) / 1000) µs, last \((late.max() ?? 0) / 1000) µs late"
        )
        #expect(order == Array(0..<200))
        #expect(late.allSatisfy { $0 >= 0 })
        #expect(try loop.runOnce(timeout: .zero) == false)
    }

    @Test("a thousand random armings, re-armings and disarmings fire in the order of their instants, each once")
    func random() throws {
        let loop = try EventLoop()
        var generator = SystemRandomNumberGenerator()
        var fired: [Instant] = []
        var expected: [Instant] = []
        var timers: [Timer] = []
        for _ in 0..<300 {
            let box = Box()
            let timer = try loop.timer(on: .boottime) { if let due = box.due { fired.append(due) } }
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let due = Instant(nanoseconds: .random(in: 1...1_000_000, using: &generator))
                box.due = due
                timer.arm(at: due)
                if Bool.random(using: &generator) {
                    timer.disarm()
                    box.due = nil
                }
            }
            if let due = box.due { expected.append(due) }
            timers.append(timer)
        }
        while try loop.runOnce(timeout: .zero) {}
        #expect(fired == expected.sorted())
        #expect(timers.allSatisfy { $0.armedAt == nil })
    }

    @Test("a timer that is disarmed or released by another one due with it does not fire")
    func disarmedByNeighbour() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        var third: Timer? = try loop.timer(on: .monotonic) { fired.append("third") }
        let second = try loop.timer(on: .monotonic) { fired.append("second") }
        let first = try loop.timer(on: .monotonic) {
            fired.append("first")
            second.disarm()
            third = nil
        }
        for timer in [first, second, third] { timer?.arm(at: .zero) }
        while try loop.runOnce(timeout: .milliseconds(5)) {}
        #expect(fired == ["first"])
        #expect(third == nil)
    }

    @Test("a timer that always arms itself for the past starves no other source")
    func selfish() throws {
        let loop = try EventLoop()
        var rounds = 0
        var selfish: Timer?
        selfish = try loop.timer(on: .monotonic) {
            rounds += 1
            if rounds < 100 { selfish?.arm(at: .zero) }
        }
        var fired = false
        let other = try loop.timer(on: .monotonic) { fired = true }
        selfish?.arm(at: .zero)
        other.arm(at: SystemClock.monotonic())
        try loop.runOnce(timeout: .seconds(1))
        try loop.runOnce(timeout: .seconds(1))
        #expect(fired && other.armedAt == nil)
        while try loop.runOnce(timeout: .milliseconds(1)) {}
        #expect(rounds == 100)
    }

    @Test("an earlier arming brings the wake-up forward, a later one puts it off")
    func moved() throws {
        let loop = try EventLoop()
        var fired = 0
        let timer = try loop.timer(on: .monotonic) { fired += 1 }
        timer.arm(at: SystemClock.monotonic() + .seconds(100))
        timer.arm(at: SystemClock.monotonic() + .milliseconds(1))
        #expect(try loop.runOnce(timeout: .seconds(1)))
        timer.arm(at: SystemClock.monotonic() + .milliseconds(1))
        timer.arm(at: SystemClock.monotonic() + .seconds(100))
        #expect(try loop.runOnce(timeout: .milliseconds(20)) == false)
        #expect(fired == 1)
    }

    @Test(
        "a deadline put off thirty times is met at its last instant, and the kernel's timer, left as it was, costs one look more"
    )
    func putOff() throws {
        let loop = try EventLoop()
        var fired: [Instant] = []
        let timer = try loop.timer(on: .monotonic) { fired.append(SystemClock.monotonic()) }
        // One look is enough where this thread has no turn from the first instant to the last.
        var looks = 0
        for _ in 0..<5 where looks != 2 {
            fired = []
            let last = try putOff(timer, on: loop)
            looks = 0
            while fired.isEmpty, SystemClock.monotonic() < last + .seconds(5) {
                looks += try loop.runOnce(timeout: .seconds(1)) ? 1 : 0
            }
            #expect(fired.count == 1 && fired[0] >= last && looks <= 2)
        }
        #expect(looks == 2)
        timer.arm(at: SystemClock.monotonic() + .milliseconds(100))
        #expect(try loop.runOnce(timeout: .zero) == false)
        timer.disarm()
        #expect(try loop.runOnce(timeout: .milliseconds(200)) == false)
        #expect(fired.count == 1)
    }

    /// From half a second on, to the instant that is returned.
    private func putOff(_ timer: WakeLoop.Timer, on loop: EventLoop) throws -> Instant {
        let start = SystemClock.monotonic()
        for round in 0..<30 {
            timer.arm(at: start + .milliseconds(500 + Int64(round) * 10))
            #expect(try loop.runOnce(timeout: .zero) == false)
        }
        return start + .milliseconds(790)
    }
}

private final class Box {
    var due: Instant?
}
