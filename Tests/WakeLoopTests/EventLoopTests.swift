// The loop: what is called, when, how often, and that nothing is called after its end.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeLoop

@Suite struct EventLoopTests {
    @Test("a watched descriptor calls when it becomes readable, and not before")
    func readable() throws {
        let loop = try EventLoop()
        let pipe = try Pipe(ours: .both)
        var calls: [Readiness] = []
        let watch = try loop.watch(pipe.readEnd.raw, for: .readable) { calls.append($0) }
        #expect(try loop.runOnce(timeout: .zero) == false)
        _ = try pipe.writeEnd.write([1])
        #expect(try loop.runOnce(timeout: .seconds(1)))
        #expect(calls == [.readable])
        watch.cancel()
        #expect(try loop.runOnce(timeout: .zero) == false)
    }

    @Test("a call that keeps the loop for over 50 ms counts for its cause, and a turn within it for the turn alone")
    func longStays() throws {
        final class Turn: LoopTurn { func loopEndsTurn() {} }
        let (loop, turn) = (try EventLoop(), Turn())
        loop.turn = turn
        let pipe = try Pipe(ours: .both)
        let watch = try loop.watch(pipe.readEnd.raw, for: .readable, cause: .http) { _ in
            let begun = SystemClock.monotonic()
            loop.runTurn()
            while SystemClock.monotonic() - begun <= EventLoop.patience {}
        }
        _ = try pipe.writeEnd.write([1])
        #expect(try loop.runOnce(timeout: .seconds(1)))
        watch.cancel()
        #expect(loop.stay(of: .http).overPatience == 1)
        #expect(loop.stay(of: .http).longest > EventLoop.patience && loop.longestCall >= loop.stay(of: .http).longest)
        #expect(loop.stay(of: .turn).longest > .zero && loop.stay(of: .mqtt) == LoopStay())
    }

    @Test("a long stay is told once an hour for each cause, with the cause and its length")
    func toldHourly() {
        let account = LoopAccount()
        let start = Instant(nanoseconds: 0)
        account.cause = .http
        #expect(account.sentence(on: .milliseconds(83), at: start)?.contains("83 ms, by: http") == true)
        #expect(account.sentence(on: .seconds(9), at: start + .seconds(3_599)) == nil)
        account.cause = .mqtt
        #expect(account.sentence(on: .milliseconds(51), at: start + .seconds(1)) != nil)
        account.cause = .http
        #expect(account.sentence(on: .milliseconds(51), at: start + .seconds(3_600)) != nil)
    }

    /// Sources that are always ready, because they are never read. Each asks for a turn whenever it is called.
    private final class Flood {
        private let pipes: [(readEnd: Int32, writeEnd: Int32)]
        private var watches: [Watch] = []

        init(of count: Int, on loop: EventLoop, called: @escaping () -> Void) throws {
            pipes = try (0..<count).map { _ in try Pipe(ours: .both).releaseEnds() }
            for pipe in pipes {
                write(pipe.writeEnd, "1", 1)
                watches.append(
                    try loop.watch(pipe.readEnd, for: .readable) { _ in
                        called()
                        loop.requestTurn()
                    })
            }
        }

        func end() {
            watches = []
            for pipe in pipes {
                close(pipe.readEnd)
                close(pipe.writeEnd)
            }
        }
    }

    private final class CountedTurn: LoopTurn {
        private(set) var count = 0
        func loopEndsTurn() { count += 1 }
    }

    @Test("a turn that was asked for comes although sources are ready without end", arguments: [1, 2])
    func turnUnderFlood(sources: Int) throws {
        let loop = try EventLoop()
        var calls = 0
        let turn = CountedTurn()
        loop.turn = turn
        let flood = try Flood(of: sources, on: loop) { calls += 1 }
        while calls < 1000 { try loop.runOnce(timeout: .zero) }
        #expect(turn.count >= 9)
        flood.end()
    }

    @Test("a timer fires although sources that are ready without end ask for a turn each time", arguments: [1, 2])
    func timerUnderFlood(sources: Int) throws {
        let loop = try EventLoop()
        var (calls, hasFired) = (0, false)
        let flood = try Flood(of: sources, on: loop) { calls += 1 }
        for _ in 0..<10 { try loop.runOnce(timeout: .zero) }
        let timer = try loop.timer(on: .monotonic) { hasFired = true }
        timer.arm(at: SystemClock.monotonic() + .milliseconds(1))
        let end = SystemClock.monotonic() + .seconds(2)
        while !hasFired, SystemClock.monotonic() < end { try loop.runOnce(timeout: .zero) }
        #expect(hasFired && calls > 10)
        timer.disarm()
        flood.end()
    }

    @Test("a released watch is not called any more")
    func released() throws {
        let loop = try EventLoop()
        let pipe = try Pipe(ours: .both)
        _ = try pipe.writeEnd.write([1])
        var calls = 0
        var watch: Watch? = try loop.watch(pipe.readEnd.raw, for: .readable) { _ in calls += 1 }
        #expect(watch != nil)
        watch = nil
        #expect(try loop.runOnce(timeout: .zero) == false)
        #expect(calls == 0)
    }

    @Test("a source may cancel and release itself from inside its own call")
    func selfCancel() throws {
        let loop = try EventLoop()
        let pipe = try Pipe(ours: .both)
        _ = try pipe.writeEnd.write([1])
        var calls = 0
        var watch: Watch?
        watch = try loop.watch(pipe.readEnd.raw, for: .readable) { _ in
            calls += 1
            watch?.cancel()
            watch = nil
        }
        for _ in 0..<3 { try loop.runOnce(timeout: .zero) }
        #expect(calls == 1)
        #expect(watch == nil)
    }

    @Test("a watch that its owner releases in its own call has left its descriptor by then")
    func releaseWithinCall() throws {
        let loop = try EventLoop()
        let pipe = try Pipe(ours: .both)
        _ = try pipe.writeEnd.write([1])
        let raw = pipe.readEnd.raw
        var watch: Watch?
        var next: Result<Watch, SystemError>?
        watch = try loop.watch(raw, for: .readable) { _ in
            watch = nil
            // A descriptor can be watched once: EEXIST while the first watch is there.
            next = Result { () throws(SystemError) in try loop.watch(raw, for: .readable) { _ in } }
        }
        try loop.runOnce(timeout: .zero)
        #expect(watch == nil)
        #expect(throws: Never.self) { try next?.get() }
        #expect(next != nil)
        _ = try pipe.writeEnd.write([1])
    }

    @Test("a timer that arms itself again from its own call fires again; one that releases itself does not")
    func selfRearm() throws {
        let loop = try EventLoop()
        var fired = 0
        var timer: Timer?
        timer = try loop.timer(on: .monotonic) {
            fired += 1
            if fired < 3 { timer?.arm(at: SystemClock.monotonic()) } else { timer = nil }
        }
        timer?.arm(at: SystemClock.monotonic())
        #expect(try loop.turn { timer == nil })
        try loop.runOnce(timeout: .milliseconds(5))
        #expect(fired == 3)
    }

    @Test("disabling silences a watch, enabling brings what is still ready, and readiness can be changed")
    func enabling() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let ours = FileDescriptor(owning: ends[0])
        let theirs = FileDescriptor(owning: ends[1])
        var calls: [Readiness] = []
        let watch = try loop.watch(ours.raw, for: .readable) { calls.append($0) }
        _ = try theirs.write([1])
        watch.disable()
        #expect(try loop.runOnce(timeout: .zero) == false)
        watch.enable()
        #expect(try loop.runOnce(timeout: .seconds(1)))
        try watch.setReadiness([.writable])
        #expect(try loop.runOnce(timeout: .seconds(1)))
        #expect(calls == [.readable, .writable])
    }

    @Test("a hang-up is reported without having been asked for")
    func hangup() throws {
        let loop = try EventLoop()
        let ends = try Pipe(ours: .both).releaseEnds()
        defer { close(ends.readEnd) }
        var seen: Readiness = []
        let watch = try loop.watch(ends.readEnd, for: .readable) { seen = $0 }
        close(ends.writeEnd)
        #expect(try loop.runOnce(timeout: .seconds(1)))
        #expect(seen.contains(.hangup))
        watch.cancel()
    }

    @Test("a timer fires once, on each clock, never before its instant")
    func timers() throws {
        for (clock, now) in [
            (TimerClock.monotonic, { SystemClock.monotonic() }), (.boottime, { SystemClock.boottime() }),
            (.realtime, { SystemClock.realtime() }),
        ] {
            let loop = try EventLoop()
            var late: [Int64] = []
            var due = Instant.zero
            let timer = try loop.timer(on: clock) { late.append((now() - due).nanoseconds) }
            for _ in 0..<20 {
                due = now() + .milliseconds(3)
                timer.arm(at: due)
                let before = late.count
                #expect(try loop.turn { late.count > before })
                #expect(timer.armedAt == nil)
            }
            #expect(late.allSatisfy { $0 >= 0 })
            print("cost: a timer: median \(late.sorted()[10] / 1000) µs late")
        }
    }

    @Test("a disarmed timer does not fire, and an idle loop has nothing to wake for")
    func disarmed() throws {
        let loop = try EventLoop()
        var fired = 0
        let timer = try loop.timer(on: .monotonic) { fired += 1 }
        timer.arm(at: SystemClock.monotonic() + .milliseconds(2))
        timer.disarm()
        let start = SystemClock.monotonic()
        #expect(try loop.runOnce(timeout: .milliseconds(30)) == false)
        #expect(SystemClock.monotonic() - start >= .milliseconds(29))
        #expect(fired == 0)
    }

    @Test("an instant that has passed fires in the next turn")
    func overdue() throws {
        let loop = try EventLoop()
        var fired = 0
        let timer = try loop.timer(on: .boottime) { fired += 1 }
        timer.arm(at: .zero)
        #expect(try loop.runOnce(timeout: .seconds(1)))
        #expect(fired == 1 && timer.armedAt == nil)
    }

    @Test("a deferred call runs once, after everything that was ready in the turn")
    func deferredIsLast() throws {
        let loop = try EventLoop()
        let first = try Pipe(ours: .both)
        let second = try Pipe(ours: .both)
        var order: [String] = []
        var scratch = [UInt8](repeating: 0, count: 8)
        let commit = try loop.deferred { order.append("commit") }
        let reads = { (name: String, raw: Int32) in
            try loop.watch(raw, for: .readable) { _ in
                _ = read(raw, &scratch, 8)
                order.append(name)
                commit.schedule()
                commit.schedule()
            }
        }
        let watches = [try reads("a", first.readEnd.raw), try reads("b", second.readEnd.raw)]
        for _ in 0..<2 {
            order = []
            _ = try first.writeEnd.write([1])
            _ = try second.writeEnd.write([1])
            while try loop.runOnce(timeout: .zero) {}
            #expect(order.sorted() == ["a", "b", "commit"])
            #expect(order.last == "commit")
        }
        for watch in watches { watch.cancel() }
    }

    @Test("a signal is a call like any other")
    func signals() throws {
        let loop = try EventLoop()
        var calls = 0
        let watch = try loop.onSignal(SIGUSR1) { calls += 1 }
        raise(SIGUSR1)
        #expect(try loop.runOnce(timeout: .seconds(1)))
        #expect(calls == 1)
        watch.cancel()
    }

    @Test("run returns the code it is stopped with")
    func stops() throws {
        let loop = try EventLoop()
        let timer = try loop.timer(on: .monotonic) { loop.stop(code: 7) }
        timer.arm(at: SystemClock.monotonic())
        #expect(try loop.run() == 7)
        #expect(timer.armedAt == nil)
    }

    @Test("a descriptor that cannot be watched is refused with a sentence that names it")
    func refused() throws {
        let loop = try EventLoop()
        let file = try File.open("/proc/self/exe", for: .read)
        #expect(throws: SystemError.self) { try loop.watch(file.raw, for: .readable) { _ in } }
    }

    @Test("the virtual clock stands still until it is moved, and moves all clocks together")
    func virtualClock() {
        let clock = VirtualClock(wall: WallTime(microseconds: 1_000_000))
        #expect(clock.now() == clock.now())
        clock.advance(by: .milliseconds(5))
        #expect(clock.now().monotonic.nanoseconds == 5_000_000)
        #expect(clock.now().boottime.nanoseconds == 5_000_000)
        #expect(clock.stamp().wall.microseconds == 1_005_000)
        clock.advance(to: .zero)
        #expect(clock.now().monotonic.nanoseconds == 5_000_000)
    }
}
