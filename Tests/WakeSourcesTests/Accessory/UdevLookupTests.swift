// How often what is attached is looked up: at once, again after a failure, and not without end while messages are lost.
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

private final class Bench {
    let loop: EventLoop
    private(set) var lookup: UdevLookup?
    private(set) var looks = 0
    private(set) var told = 0
    /// Of so many of the next looks nothing comes.
    var failures = 0

    init() throws {
        loop = try EventLoop()
        let look = { [unowned self] () throws(SystemError) -> [UdevRecord] in try self.look() }
        lookup = try UdevLookup(on: loop, look) { [unowned self] _ in told += 1 }
    }

    private func look() throws(SystemError) -> [UdevRecord] {
        looks += 1
        guard failures > 0 else { return [] }
        failures -= 1
        throw SystemError("look for devices in", "/sys", .noSpace)
    }

    /// Turns the loop for so long, with a request at each turn if asked for.
    func turn(_ span: TimeSpan, isStorm: Bool = false) throws {
        let end = SystemClock.monotonic() + span
        while SystemClock.monotonic() < end {
            if isStorm { lookup?.request() }
            try loop.runOnce(timeout: .milliseconds(2))
        }
    }
}

@Suite("Looking up what is attached")
struct UdevLookupTests {
    @Test("the first look is at once, and what failed is tried again until it succeeds, without being asked for")
    func retries() throws {
        let bench = try Bench()
        bench.failures = 2
        bench.lookup?.request()
        #expect(bench.looks == 1 && bench.told == 0)
        #expect(try bench.loop.turn { bench.looks == 3 } && bench.told == 1)
        try bench.turn(.milliseconds(300))
        #expect(bench.looks == 3)
        bench.lookup?.request()
        #expect(bench.looks == 4 && bench.told == 2)
    }

    @Test("while messages are lost without end it is looked a few times a second, and once more after the last loss")
    func storm() throws {
        let bench = try Bench()
        try bench.turn(.seconds(1), isStorm: true)
        #expect((2...5).contains(bench.looks), "\(bench.looks)")
        let before = bench.looks
        bench.lookup?.request()
        try bench.turn(.milliseconds(600))
        #expect(bench.looks == before + 1 && bench.told == bench.looks)
    }

    @Test("a look that waits its turn is not followed by another")
    func once() throws {
        let bench = try Bench()
        bench.lookup?.request()
        bench.lookup?.request()
        #expect(bench.looks == 1)
        try bench.turn(.milliseconds(600))
        #expect(bench.looks == 2)
    }
}
