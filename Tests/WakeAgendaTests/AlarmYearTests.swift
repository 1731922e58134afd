// A year of many daily alarms under virtual time: what fires is what the oracle counts, and how long it took is printed.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeAgenda

@Suite("A year of alarms")
struct AlarmYearTests {
    private let zones = ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"]

    @Test(
        "a year of a hundred handlers with ten daily alarms each is what the oracle counts",
        .tags(.fullScale), .enabled(unless: Oracle.hindrance))
    func year() throws {
        var dice = Dice(365)
        let start = try #require(WallTime(rfc3339: "2026-01-01T00:00:00Z"))
        let machine = AlarmMachine(at: start)
        machine.keepsLog = false
        var alarms: [String] = []
        for handler in 1...100 {
            let rules = try (0..<10).map { index in
                let (hour, minute) = (dice.below(24), dice.below(60))
                let time = "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)"
                let zone = zones[dice.below(zones.count)]
                alarms.append("{\"id\":\"a\(index)\",\"zone\":\"\(zone)\",\"daily\":[\"\(time)\"]}")
                return try AlarmRule(alarms[alarms.count - 1])
            }
            machine.configure(rules, for: HandlerID(rawValue: UInt32(handler)))
        }
        let begun = SystemClock.monotonic()
        for part in 1...10 {
            machine.run(seconds: 365 * 8_640)
            // A test that says nothing for long passes for one that hangs.
            print("\(part) tenths of a year of 1,000 daily alarms are over")
        }
        let taken = SystemClock.monotonic() - begun
        let list = alarms.joined(separator: ",")
        let question = "{\"start\":\(start.wholeSeconds),\"alarms\":[\(list)],\"plays\":[[\"run\",\(365 * 86_400)]]}\n"
        let counts = try #require(try Oracle.ask([Array(question.utf8)]).first)
        var fired: [AgendaKey: Int64] = [:]
        for firing in machine.firings { fired[firing.key, default: 0] += 1 + firing.missed }
        let totals = (1...100).flatMap { handler in
            (0..<10).map { fired[AgendaKey(HandlerID(rawValue: UInt32(handler)), .alarm, "a\($0)")] ?? 0 }
        }
        #expect(totals == counts)
        #expect(machine.firings.allSatisfy { $0.missed == 0 && $0.due == $0.at })
        print("a year of 1,000 daily alarms: \(machine.firings.count) firings in \(taken.spoken)")
    }
}
