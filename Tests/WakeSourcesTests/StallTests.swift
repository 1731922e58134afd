// Adapters that do not scan again after a connection that failed: when they are switched off and on, and when they are left alone.
import TestBench
import Testing
import WakeLoop
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("Stalled adapters") struct StallLedgerTests {
    private let patience = LinkTimeouts()
    private let now = Instant(nanoseconds: 1_000_000_000_000)

    @Test("one that does not scan again is due a second later, and one that does is left alone")
    func comesDue() {
        var stalls = StallLedger()
        #expect(stalls.due("a", carrying: 0, patience) == nil)
        stalls.fail("a", at: now)
        #expect(stalls.due("a", carrying: 0, patience) == now + .seconds(1))
        #expect(stalls.due("b", carrying: 0, patience) == nil)
        stalls.recover("a")
        #expect(stalls.due("a", carrying: 0, patience) == nil)
        #expect(stalls.adapters.isEmpty && !stalls.isEmpty)
        stalls.succeed("a")
        #expect(stalls.isEmpty)
        stalls.fail("a", at: now)
        stalls.forget("a")
        #expect(stalls.isEmpty)
    }

    @Test("one on which connections fail again and again is given longer each time, until a link comes up")
    func backsOff() {
        var stalls = StallLedger()
        var pauses: [Int64] = []
        for _ in 0..<25 {
            stalls.fail("a", at: now)
            pauses.append((stalls.due("a", carrying: 0, patience) ?? now).seconds(since: now))
            stalls.recover("a")
        }
        let later = [(Int64(2), 8), (5, 11), (61, 5)].flatMap { Array(repeating: $0, count: $1) }
        #expect(pauses == [1] + later)
        // A link that is told late is older than the last failure.
        stalls.fail("a", at: now)
        stalls.succeed("a")
        #expect(stalls.due("a", carrying: 0, patience) == now + .seconds(1))
    }

    @Test("other links of the adapter are not ended for its sake within a minute, and again not within ten")
    func sparesOthers() {
        var stalls = StallLedger()
        stalls.fail("a", at: now)
        #expect(stalls.due("a", carrying: 2, patience) == now + .seconds(60))
        stalls.restart("a", carrying: 2, at: now + .seconds(60))
        #expect(stalls.adapters.isEmpty)
        // They come back.
        stalls.succeed("a")
        stalls.fail("a", at: now + .seconds(70))
        #expect(stalls.due("a", carrying: 2, patience) == now + .seconds(660))
        #expect(stalls.due("a", carrying: 0, patience) == now + .seconds(71))
    }
}

extension Instant {
    fileprivate func seconds(since other: Instant) -> Int64 { (self - other).wholeMilliseconds / 1000 }
}

extension SourceTests {
    /// Two peripherals that nothing brings back: the second is up, or away too.
    private func away(_ second: String) throws -> Air {
        let air = try Air()
        try air.populate(2)
        try air.tell("fault RegisterApplication failed", "quiet", "down 1")
        if second == "away" { try air.tell("down 2") }
        try air.turn { air.connected.count == (second == "away" ? 0 : 1) }
        // What is under way then may be forgotten.
        air.kernelStatus = [nil, 0x0a, nil, 0]
        return air
    }

    @Test("an adapter that does not scan after a failed connection is switched off, and on as soon as the kernel may")
    func mendsStall() throws {
        let air = try away("away")
        let begun = SystemClock.monotonic()
        try air.passFailure()
        try air.turn { air.orders.count == 4 }
        #expect(SystemClock.monotonic() - begun >= .milliseconds(900))
        #expect(air.orders.map(\.opcode) == [0x05, 0x05, 0x05, 0x05])
        #expect(air.orders.map(\.bytes) == [[0], [1], [1], [1]])
        #expect(air.orders.allSatisfy { $0.controller == 0 })
        try air.pass(.milliseconds(1500))
        #expect(air.orders.count == 4)
        // Again, and longer.
        let again = SystemClock.monotonic()
        try air.passFailure()
        try air.turn { air.orders.count == 6 }
        #expect(SystemClock.monotonic() - again >= .milliseconds(1900))
    }

    @Test("after a failed connection an adapter that scans again, or on which no peripheral is awaited, is left alone")
    func leavesScanningAlone() throws {
        let air = try away("away")
        try air.passFailure()
        try air.passScan()
        try air.pass(.milliseconds(1500))
        try air.tell("set 1 Blocked yes", "set 2 Blocked yes")
        try air.turn { air.isBlocked(1) && air.isBlocked(2) }
        try air.passFailure()
        try air.pass(.milliseconds(1500))
        #expect(!air.orders.contains { $0.opcode == 0x05 })
    }

    @Test("an adapter that stalled is not switched off under another link, and is once that has ended")
    func waitsForLinks() throws {
        let air = try away("up")
        try air.passFailure()
        try air.pass(.milliseconds(1500))
        #expect(air.orders.isEmpty)
        try air.tell("down 2")
        try air.turn { air.orders.count == 4 }
        #expect(air.orders.first?.opcode == 0x05)
    }

    @Test("a bluetoothd that comes between does not leave a stalled adapter off")
    func switchesOn() throws {
        let air = try away("away")
        air.kernelStatus = [0, 0x0a]
        try air.passFailure()
        try air.turn { air.orders.count > 2 }
        try air.replaceBluez()
        try air.tell("adapter hci0", "live")
        try air.settle()
        air.kernelStatus = [0]
        let count = air.orders.count
        try air.turn { air.orders.count > count }
        #expect(air.orders.last?.bytes == [1])
    }

    @Test("the bridge's end does not leave a stalled adapter off")
    func endsSwitchedOn() throws {
        let air = try away("away")
        air.kernelStatus = [0, 0x0a, 0x0a, nil, 0]
        try air.passFailure()
        try air.turn { air.orders.count == 2 }
        air.source?.stop()
        #expect(air.orders.map(\.bytes) == [[0], [1], [1], [1], [1]])
        try air.pass(.milliseconds(100))
        #expect(air.orders.count == 5)
    }

    @Test("an adapter is not switched off for a peripheral that the kernel was never told to wait for")
    func leavesUnaskedAlone() throws {
        let air = try Air()
        air.kernelStatus = [0]
        try air.tell("fault RegisterApplication failed 99", "adapter hci0", "peripheral 1 hci0", "live")
        try air.turn { air.source?.watched[SourceTests.first]?.machine.facts.isReachable == true }
        try air.passFailure()
        try air.pass(.milliseconds(1500))
        #expect(air.orders.isEmpty)
    }

    private static let first = "/bluetooth/C0:DE:00:00:00:01"
}
