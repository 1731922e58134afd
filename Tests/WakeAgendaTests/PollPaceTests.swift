// The algorithm of the poll's interval, step by step, and the hours that it learns.
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("The pace of polls")
struct PollPaceTests {
    private let limits = PollLimits(floor: .seconds(900), ceiling: .seconds(86_400), adapts: true)

    @Test("useful halves the interval, nothing takes half of it more, overrun and crash double it, the rest leave it")
    func steps() {
        var pace = PollPace(limits)
        #expect(pace.interval == .seconds(900))
        let script: [(PollOutcome, Int64)] = [
            (.nothing, 1_350_000), (.nothing, 2_025_000), (.nothing, 3_037_500), (.unsaid, 3_037_500),
            (.failed, 3_037_500), (.useful, 1_518_750), (.overrun, 3_037_500), (.crashed, 6_075_000),
            (.useful, 3_037_500), (.useful, 1_518_750), (.useful, 900_000), (.useful, 900_000),
        ]
        for (outcome, milliseconds) in script {
            pace.learn(outcome, limits)
            #expect(pace.interval == .milliseconds(milliseconds) && pace.last == outcome)
        }
        for _ in 0..<40 { pace.learn(.nothing, limits) }
        #expect(pace.interval == .seconds(86_400))
    }

    @Test("an interval that does not adapt stays at its floor")
    func fixed() {
        let limits = PollLimits(floor: .seconds(600), ceiling: .seconds(86_400), adapts: false)
        var pace = PollPace(limits)
        for outcome in PollOutcome.allCases {
            pace.learn(outcome, limits)
            #expect(pace.interval == .seconds(600))
        }
    }

    @Test("a poll that takes more than 15 s awake, or 5 s of processor, as a mean, has twice the floor")
    func costly() {
        var pace = PollPace(limits)
        for _ in 0..<30 { pace.measure(awake: .seconds(15), cpu: .seconds(5)) }
        #expect(pace.floor(limits) == .seconds(900))
        var slow = PollPace(limits)
        for _ in 0..<30 { slow.measure(awake: .seconds(20), cpu: .zero) }
        #expect(slow.floor(limits) == .seconds(1800))
        slow.learn(.useful, limits)
        #expect(slow.interval == .seconds(1800))
        for _ in 0..<30 { pace.measure(awake: .seconds(6), cpu: .seconds(6)) }
        #expect(pace.floor(limits) == .seconds(1800))
    }

    @Test("the grid is the power of two seconds within a sixteenth of the interval, from 16 s to 17 min")
    func grids() {
        let expected: [(Int64, Int64)] = [
            (60, 16), (256, 16), (511, 16), (512, 32), (900, 32), (1024, 64), (3600, 128), (16_384, 1024),
            (86_400, 1024), (604_800, 1024),
        ]
        for (interval, grid) in expected {
            let limits = PollLimits(floor: .seconds(interval), ceiling: .seconds(604_800), adapts: true)
            #expect(PollPace(limits).grid == .seconds(grid))
        }
    }

    @Test("an instant is rounded up to the grid, and one that lies on it stays")
    func rounds() {
        let (grid, offset) = (TimeSpan.seconds(16), TimeSpan.seconds(5))
        #expect(Instant.seconds(5).roundedUp(to: grid, offset: offset) == .seconds(5))
        #expect(Instant.seconds(6).roundedUp(to: grid, offset: offset) == .seconds(21))
        #expect(Instant.seconds(21).roundedUp(to: grid, offset: offset) == .seconds(21))
        #expect(Instant.seconds(-20).roundedUp(to: grid, offset: offset) == .seconds(-11))
    }

    private static let week = TimeSpan.seconds(7 * 86_400)
    private let night = WallTime(microseconds: 1_780_000_000_000_000)

    @Test("an hour of the week is quiet after four weeks with hardly anything useful, and not before")
    func quiet() {
        var hours = PollHours()
        for week in 0..<4 {
            #expect(!hours.isQuiet(night + Self.week * Int64(week)))
            hours.learn(isUseful: false, at: night + Self.week * Int64(week))
        }
        #expect(hours.isQuiet(night + Self.week * 4))
        #expect(!hours.isQuiet(night + Self.week * 4 + .seconds(3600)))
        hours.learn(isUseful: true, at: night + Self.week * 4)
        #expect(!hours.isQuiet(night + Self.week * 5))
    }

    @Test("many samples of one week are one week's")
    func oneWeek() {
        var hours = PollHours()
        for _ in 0..<100 { hours.learn(isUseful: false, at: night) }
        #expect(!hours.isQuiet(night + Self.week))
    }

    @Test("what an hour has shown fades by a fifth a week, and a quiet hour is tried again when it has faded")
    func fades() {
        var hours = PollHours()
        for week in 0..<4 { hours.learn(isUseful: false, at: night + Self.week * Int64(week)) }
        let bin = hours.bins.values.first
        #expect(bin?.polls == 2952)
        #expect(hours.isQuiet(night + Self.week * 7))
        #expect(!hours.isQuiet(night + Self.week * 12))
    }

    @Test("the end of quiet hours is the next hour that is not quiet")
    func ends() {
        var hours = PollHours()
        for week in 0..<4 {
            for hour in 0..<3 {
                hours.learn(isUseful: false, at: night + Self.week * Int64(week) + .seconds(Int64(hour) * 3600))
            }
        }
        let time = night + Self.week * 4
        let end = hours.quietEnd(of: time)
        #expect(end.map { $0.microseconds % 3_600_000_000 } == 0)
        #expect(
            end.map { $0.elapsed(since: time) > .seconds(7200) && $0.elapsed(since: time) <= .seconds(10_800) } == true)
        #expect(hours.quietEnd(of: time - .seconds(3600)) == nil)
    }
}
