// The values of a field over a week: half hours with their mean, least and most, and what remains of them.
import TestBench
import Testing
import WakeModel

@testable import WakeAPI

@Suite("A week of a field's values") struct ValueRingTests {
    private static let begin: Int64 = 1_800_000_000

    private func at(_ second: Int64) -> WallTime { WallTime(microseconds: (Self.begin + second) * 1_000_000) }

    private func week(of ring: ValueRing) -> [StepRing.Step] { Array(ring.steps(.week, until: ring.latest)) }

    @Test("a week at a value a minute is 336 half hours, each with the mean, the least and the most of its values")
    func week() {
        var ring = ValueRing(0, at: at(0))
        for minute in 1..<(9 * 1440) as Range<Int64> { ring.record(Double(minute % 30), at: at(minute * 60)) }
        let steps = week(of: ring)
        #expect(steps.count == 336 && steps.allSatisfy { $0.count == 30 && $0.mean == 14.5 })
        #expect(steps.allSatisfy { $0.least == 0 && $0.most == 29 })
        #expect(steps.first.map { Int64($0.index) * 1800 } == Self.begin + 2 * 86_400)
    }

    @Test("hours without a value are no half hours, and a week without one leaves nothing")
    func gaps() {
        var ring = ValueRing(60, at: at(0))
        ring.record(70, at: at(5 * 3600))
        #expect(week(of: ring).map(\.mean) == [60, 70])
        ring.record(80, at: at(8 * 86_400))
        #expect(week(of: ring).map(\.mean) == [80])
    }

    @Test(
        "the last second of a day, of a month and of a year ends its half hour",
        arguments: [
            ("2026-11-21T23:59:59.999999Z", "2026-11-22T00:00:00Z"),
            ("2026-11-30T23:59:59.999999Z", "2026-12-01T00:00:00Z"),
            ("2028-02-29T23:59:59.999999Z", "2028-03-01T00:00:00Z"),
            ("2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00Z"),
        ])
    func midnight(_ before: String, _ after: String) throws {
        let (last, first) = (try #require(WallTime(rfc3339: before)), try #require(WallTime(rfc3339: after)))
        var ring = ValueRing(1, at: last)
        ring.record(2, at: first)
        #expect(week(of: ring).map(\.mean) == [1, 2])
        #expect(week(of: ring).last.map { Int64($0.index) * 1_800_000_000 } == first.microseconds)
    }

    @Test("a clock that is set back by days takes the half hours after it away, and new values are kept from there")
    func clockSetBack() {
        var ring = ValueRing(0, at: at(0))
        for day in 1..<5 as Range<Int64> { ring.record(Double(day), at: at(day * 86_400)) }
        ring.remove(after: at(2 * 86_400))
        #expect(week(of: ring).map(\.mean) == [0, 1, 2])
        ring.record(9, at: at(3 * 86_400))
        #expect(week(of: ring).map(\.mean) == [0, 1, 2, 9])
    }

    @Test("10,000 random values, late ones and clocks that are set back give what a plain sum of each half hour gives")
    func oracle() {
        var (dice, second) = (Dice(7), Int64(0))
        var ring = ValueRing(0, at: at(0))
        var plain: [Int64: [Double]] = [Self.begin / 1800: [0]]
        for _ in 0..<10_000 {
            second += Int64(dice.below(dice.isOne(in: 50) ? 20_000 : 120))
            if dice.isOne(in: 1000) {
                second -= Int64(dice.below(200_000))
                ring.remove(after: at(second))
                plain = plain.filter { $0.key <= (Self.begin + second) / 1800 }
            }
            let moment = second - Int64(dice.isOne(in: 10) ? dice.below(100_000) : 0)
            let value = Double(dice.below(1_000_000)) / 100 - 3000
            ring.record(value, at: at(moment))
            plain[(Self.begin + moment) / 1800, default: []].append(value)
            if plain.count > 336, let oldest = plain.keys.min() { plain[oldest] = nil }
        }
        let first = (ring.latest.microseconds / 1_000_000 - 604_800) / 1800
        let wanted = plain.filter { $0.key >= first }.sorted { $0.key < $1.key }
        let steps = week(of: ring)
        #expect(steps.map { Int64($0.index) } == wanted.map(\.key) && steps.count > 200)
        for (step, values) in zip(steps, wanted.map(\.value)) {
            #expect(Int(step.count) == values.count && step.least == values.min() && step.most == values.max())
            #expect(abs(step.mean - values.reduce(0, +) / Double(values.count)) < 1e-6)
        }
    }
}
