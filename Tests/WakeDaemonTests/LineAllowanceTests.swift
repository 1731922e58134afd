// What a handler may say: never too little for whoever answers its events, and never without end.
import Testing
import WakeModel

@testable import WakeDaemon
@testable import WakeEngine

@Suite("The allowance of lines") struct LineAllowanceTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    @Test("eight lines for each event are always there, in batches of any size and with no time between them")
    func honest() {
        for size in [1, 7, 64, 1_024] {
            var allowance = LineAllowance(now: start)
            var shortages = 0
            for _ in 0..<200 {
                allowance.grant(events: size)
                for _ in 0..<(size * LineAllowance.linesPerEvent) {
                    shortages += allowance.isSpent(now: start) ? 1 : 0
                    allowance.payLine(now: start)
                }
            }
            #expect(shortages == 0, "in batches of \(size)")
        }
    }

    @Test("ten seconds of a flood are the burst and a thousand lines a second")
    func flood() {
        var allowance = LineAllowance(now: start)
        var heard = 0
        for millisecond in 0...10_000 {
            let now = start + .milliseconds(Int64(millisecond))
            while !allowance.isSpent(now: now) {
                allowance.payLine(now: now)
                heard += 1
            }
        }
        #expect(heard == LineAllowance.burst + 10 * LineAllowance.linesPerSecond)
    }

    @Test("years of paid silence buy no more than the largest batch is worth")
    func limit() {
        var allowance = LineAllowance(now: start)
        allowance.grant(events: 10_000_000)
        var heard = 0
        while !allowance.isSpent(now: start) {
            allowance.payLine(now: start)
            heard += 1
        }
        #expect(heard == LineAllowance.burst + 8 * 1_024)
    }

    @Test("what was heard unpaid is owed first, while an event that comes meanwhile can still be answered")
    func debt() {
        var allowance = LineAllowance(now: start)
        for _ in 0..<(LineAllowance.burst + 500) { allowance.payLine(now: start) }
        let isOwing = allowance.isSpent(now: start + .milliseconds(500))
        allowance.grant(events: 1)
        var heard = 0
        while !allowance.isSpent(now: start + .milliseconds(500)) {
            allowance.payLine(now: start)
            heard += 1
        }
        let isPaid = !allowance.isSpent(now: start + .milliseconds(501))
        #expect(isOwing && heard == 8 && isPaid)
    }

    @Test("ten seconds of lines of 96 KiB are the burst and a thousand KiB a second, however the bytes come")
    func longLines() {
        var allowance = LineAllowance(now: start)
        var heard = 0
        for millisecond in 0...10_000 {
            let now = start + .milliseconds(Int64(millisecond))
            while !allowance.isSpent(now: now) {
                allowance.pay(bytes: 8 << 10, now: now)
                heard += 8
            }
        }
        // One reading may go past the end.
        let due = LineAllowance.burst + 10 * LineAllowance.linesPerSecond
        #expect((due...(due + 8)).contains(heard))
        var small = LineAllowance(now: start)
        var bytes = 0
        while !small.isSpent(now: start) {
            small.pay(bytes: 100, now: start)
            bytes += 100
        }
        #expect(bytes / 1_024 == LineAllowance.burst)
    }
}
