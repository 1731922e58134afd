// Counting the times of an alarm without looking at each gives what looking at each gives.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Times of day")
struct DailyTimesTests {
    private func step(_ times: DailyTimes, _ start: WallTime, _ end: WallTime, in zone: Zone) -> [WallTime] {
        var found: [WallTime] = []
        var next = times.next(after: start, in: zone)
        while next <= end {
            found.append(next)
            next = times.next(after: next, in: zone)
        }
        return found
    }

    @Test(
        "the count over any stretch is that of a walk from one to the next, and the last one is the same",
        .enabled(unless: Oracle.hindrance),
        arguments: ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Casablanca"])
    func countsAsAWalk(name: String) throws {
        let zone = try #require(AlarmMachine.zone(name))
        var dice = Dice(3)
        for _ in 0..<300 {
            let days = Set(Weekday.allCases.filter { _ in dice.isOne(in: 2) } + [.friday])
            let times = try #require(
                DailyTimes(times: (0...dice.below(6)).map { _ in Int64(dice.below(96)) * 900 }, days: days))
            let start = WallTime(microseconds: (1_300_000_000 + Int64(dice.below(200_000_000))) * 1_000_000 + 5)
            let end = start + .seconds(Int64(dice.below(200 * 86_400)))
            let walked = step(times, start, end, in: zone)
            let passed = times.passed(after: start, upTo: end, in: zone)
            #expect(passed?.count ?? 0 == walked.count && passed?.last == walked.last)
            for (one, next) in zip(walked, walked.dropFirst()) { try #require(one < next) }
        }
    }

    @Test("times that fall into one gap are one occurrence at its end, and a day that is left out is one as well")
    func joins() throws {
        let lordHowe = try #require(AlarmMachine.zone("Australia/Lord_Howe"))
        let times = try #require(DailyTimes(times: [7_200, 7_800, 9_000]))
        let (eve, day) = (WallTime(rfc3339: "2026-10-03T12:00:00Z"), WallTime(rfc3339: "2026-10-04T12:00:00Z"))
        #expect(
            times.passed(after: try #require(eve), upTo: try #require(day), in: lordHowe)?.count == 1,
            "2:00, 2:10 and 2:30 are 2:30")
        let apia = try #require(AlarmMachine.zone("Pacific/Apia"))
        let daily = try #require(DailyTimes(times: [0, 27_000]))
        let (before, after) = (WallTime(rfc3339: "2011-12-29T20:00:00Z"), WallTime(rfc3339: "2011-12-31T00:00:00Z"))
        let passed = daily.passed(after: try #require(before), upTo: try #require(after), in: apia)
        #expect(passed?.count == 2, "the 30th, and 31st at 0:00, are one; then 7:30")
    }

    @Test("a quarter of an hour is counted over three centuries at once")
    func isArithmetic() throws {
        let times = try #require(DailyTimes(times: (0..<96).map { $0 * 900 }))
        let start = try #require(WallTime(rfc3339: "1970-01-01T00:00:00Z"))
        let end = try #require(WallTime(rfc3339: "2262-01-01T00:00:00Z"))
        #expect(times.passed(after: start, upTo: end, in: .utc)?.count == Int64(96 * 106_651))
    }
}
