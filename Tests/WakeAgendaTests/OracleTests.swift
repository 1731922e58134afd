// What alarms fire and what they miss is, over random stories of clocks and machines, what a second reckoning counts.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

/// One story: where it begins, which alarms it has, and what happens to the machine.
struct Story {
    var start: Int64
    var alarms: [Alarm]
    var plays: [Play] = []

    /// As a handler orders it, and as the oracle reads it, for which an instant and a period are numbers.
    struct Alarm {
        var order: String
        var question: String
    }

    enum Play {
        case run(Int64)
        case sleep(Int64)
        case hold(Int64)
        case stop(Int64)
        case set(Int64)
        case restart(Int64, setBy: Int64)
        case reboot(Int64)
        /// With a false clock, which becomes true after a while.
        case dark(Int64, untilTrue: Int64)

        var text: String {
            switch self {
            case .run(let seconds): "[\"run\",\(seconds)]"
            case .sleep(let seconds): "[\"sleep\",\(seconds)]"
            case .hold(let seconds): "[\"hold\",\(seconds)]"
            case .stop(let seconds): "[\"stop\",\(seconds)]"
            case .set(let seconds): "[\"set\",\(seconds)]"
            case .restart(let seconds, let change): "[\"restart\",\(seconds),\(change)]"
            case .reboot(let seconds): "[\"reboot\",\(seconds)]"
            case .dark(let seconds, let wait): "[\"dark\",\(seconds),\(wait)]"
            }
        }
    }

    var question: String {
        let alarms = alarms.map(\.question).joined(separator: ",")
        let plays = plays.map(\.text).joined(separator: ",")
        return "{\"start\":\(start),\"alarms\":[\(alarms)],\"plays\":[\(plays)]}\n"
    }
}

// Making one up.
extension Story {
    /// Days around which clocks are set by a zone, in each of the zones.
    private static let scenes: [(zone: String, days: [String])] = [
        ("Europe/Berlin", ["2026-03-27", "2026-10-23", "2027-02-03"]),
        ("Australia/Lord_Howe", ["2026-04-03", "2026-10-02", "2025-12-30"]),
        ("Pacific/Apia", ["2011-12-28", "2011-12-29", "2011-09-22", "2012-03-30"]),
    ]
    static let ids = ["a0", "a1", "a2"]

    var setsClock: Bool {
        plays.contains {
            switch $0 {
            case .set, .restart: true
            case .run, .sleep, .hold, .stop, .reboot, .dark: false
            }
        }
    }

    init(_ dice: inout Dice) {
        let scene = Self.scenes[dice.below(Self.scenes.count)]
        let day = scene.days[dice.below(scene.days.count)]
        start = (WallTime(rfc3339: "\(day)T00:00:00Z")?.wholeSeconds ?? 0) + Int64(dice.below(2 * 86_400))
        alarms = []
        for index in 0...dice.below(3) { alarms.append(alarm(Self.ids[index], scene.zone, &dice)) }
        for _ in 0..<(3 + dice.below(7)) { add(&dice) }
        // All that was put off is told.
        plays.append(.run(7_200))
    }

    private func alarm(_ id: String, _ zone: String, _ dice: inout Dice) -> Alarm {
        switch dice.below(6) {
        case 0:
            let period = 3_600 + dice.below(200_000)
            return Alarm(order: "{\"id\":\"\(id)\",\"every_s\":\(period)}", question: "{\"every\":\(period)}")
        case 1:
            let at = start + 1 + Int64(dice.below(10 * 86_400))
            let text = WallTime(seconds: at).rfc3339
            return Alarm(order: "{\"id\":\"\(id)\",\"at\":\"\(text)\"}", question: "{\"at\":\(at)}")
        default:
            let near = ["00:00", "01:30", "01:45", "02:00", "02:15", "02:30", "03:00", "23:59"]
            let times = Set(
                (0...dice.below(4)).map { _ in
                    dice.isOne(in: 2) ? near[dice.below(near.count)] : "\(10 + dice.below(13)):\(10 + dice.below(49))"
                }
            ).sorted()
            let days = Weekday.allCases.filter { _ in dice.isOne(in: 2) }.map { "\"\($0.word)\"" }
            let only = days.isEmpty ? "" : ",\"days\":[\(days.joined(separator: ","))]"
            let catchUp = dice.isOne(in: 3) ? ",\"catch_up\":\"skip\"" : ""
            let text =
                "{\"id\":\"\(id)\",\"zone\":\"\(zone)\",\"daily\":[\(times.map { "\"\($0)\"" }.joined(separator: ","))]\(only)\(catchUp)}"
            return Alarm(order: text, question: text)
        }
    }

    private mutating func add(_ dice: inout Dice) {
        func seconds(_ most: Int) -> Int64 { 61 + Int64(dice.below(most)) }
        switch dice.below(12) {
        case 0, 1: plays.append(.run(seconds(2 * 86_400)))
        case 2: plays.append(.sleep(seconds(2 * 86_400)))
        case 3: plays.append(.hold(seconds(2 * 86_400)))
        case 4: plays.append(.stop(seconds(2 * 86_400)))
        case 5: plays.append(.restart(Int64(dice.below(40_000)), setBy: dice.isOne(in: 2) ? change(&dice) : 0))
        case 6: plays.append(.reboot(seconds(3 * 86_400)))
        case 7: plays.append(.dark(seconds(2 * 86_400), untilTrue: 1 + Int64(dice.below(500))))
        default: plays.append(.set(change(&dice)))
        }
        // What was overdue when the machine came up is spread over 30 s; the clock is left alone until then.
        plays.append(.run(seconds(5_000)))
    }

    /// Both ways, by minutes, hours and days.
    private func change(_ dice: inout Dice) -> Int64 {
        let most = [90, 3_600, 10_800, 14_000, 90_000, 700_000][dice.below(6)]
        return Int64(dice.below(2 * most + 1) - most)
    }
}

// Playing it.
extension Story {
    /// Throws away what does not keep the rules of every story.
    func play(_ machine: AlarmMachine) {
        machine.configure([])
        for alarm in alarms { _ = try? machine.order(alarm.order) }
        for play in plays {
            switch play {
            case .run(let seconds): machine.run(seconds: seconds)
            case .sleep(let seconds): machine.sleep(seconds: seconds)
            case .hold(let seconds):
                machine.acknowledges = false
                machine.run(seconds: seconds)
                machine.acknowledges = true
                machine.conclude()
            case .stop(let seconds):
                machine.situate(.stopped)
                machine.run(seconds: seconds)
                machine.situate(.asleep)
            case .set(let seconds): machine.set(by: seconds)
            case .restart(let seconds, let change): machine.restart(after: seconds, setBy: change)
            case .reboot(let seconds): machine.reboot(after: seconds)
            case .dark(let seconds, let wait):
                let off = machine.wall + .seconds(seconds)
                machine.reboot(after: seconds, falseClock: WallTime(seconds: 1_000_000))
                machine.run(seconds: wait)
                machine.synchronize(to: off + .seconds(wait))
            }
        }
    }
}

@Suite("Alarms against a second reckoning")
struct OracleTests {
    @Test(
        "over ten thousand random stories of clocks set both ways, sleeps, restarts, reboots and zones, what fired and what was missed is what the oracle counts",
        .enabled(unless: Oracle.hindrance), arguments: 1...4)
    func randomStories(seed: UInt64) throws {
        var dice = Dice(seed)
        let stories = (0..<2_500).map { _ in Story(&dice) }
        let answers = try Oracle.ask(stories.map { Array($0.question.utf8) })
        try #require(answers.count == stories.count)
        var (firings, longest) = (0, 0)
        for (index, story) in stories.enumerated() {
            let machine = AlarmMachine(at: WallTime(seconds: story.start))
            story.play(machine)
            let totals = zip(Story.ids, story.alarms).map { id, _ in machine.total(id) }
            try #require(totals == answers[index], "story \(index): \(story.question)")
            try #require(machine.firings.allSatisfy { $0.due <= $0.at }, "story \(index) raises before its time")
            if !story.setsClock { try #require(machine.duesGrow, "story \(index): \(story.question)") }
            firings += machine.firings.count
            longest = max(longest, machine.firings.count)
        }
        print("2,500 stories: \(firings) firings, \(answers.joined().reduce(0, +)) occurrences")
        #expect(firings > 5_000 && longest > 30)
    }

    @Test(
        "the same story played twice asks for the same things, byte for byte",
        .enabled(unless: Oracle.hindrance))
    func repeats() throws {
        var dice = Dice(11)
        for _ in 0..<40 {
            let story = Story(&dice)
            let machines = [
                AlarmMachine(at: WallTime(seconds: story.start)), AlarmMachine(at: WallTime(seconds: story.start)),
            ]
            for machine in machines { story.play(machine) }
            try #require(machines[0].log == machines[1].log && "\(machines[0].log)" == "\(machines[1].log)")
            #expect(!machines[0].log.isEmpty)
        }
    }
}
