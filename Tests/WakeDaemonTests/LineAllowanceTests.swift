// How many lines a handler may write: always enough to answer its events, and never without limit.
import Testing
import WakeModel

@testable import WakeDaemon
@testable import WakeEngine

@Suite("The allowance of lines") struct LineAllowanceTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    @Test("each event allows eight lines, in batches of any size and with no time between them")
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

    @Test("an answer of a KiB is free, and one of 700 KiB holds back what follows")
    func answers() {
        var allowance = LineAllowance(now: start)
        for _ in 0..<100_000 { allowance.payAnswer(bytes: 1_024, now: start) }
        let wasSpent = allowance.isSpent(now: start)
        #expect(!wasSpent)
        var answers = 0
        while !allowance.isSpent(now: start) {
            allowance.payAnswer(bytes: 701 * 1_024, now: start)
            answers += 1
        }
        #expect(answers == 6)
        let (soon, later) = (start + .milliseconds(100), start + .seconds(1))
        let isSpent = [allowance.isSpent(now: soon), allowance.isSpent(now: later)]
        #expect(isSpent == [true, false])
    }

    @Test("a flood of ten seconds gets the burst and a thousand lines a second")
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

    @Test("years of events without replies allow no more lines than the largest batch")
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

    @Test("lines read beyond the allowance are paid first, while a new event can still be answered")
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

    @Test("ten seconds of lines of 96 KiB get the burst and a thousand KiB a second, in pieces of any size")
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
        // One read may exceed the limit.
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
