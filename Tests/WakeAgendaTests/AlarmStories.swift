// What alarms do when clocks are set, machines sleep and handlers are slow: one story for each rule.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

private func time(_ text: String) -> WallTime { WallTime(rfc3339: text) ?? WallTime(microseconds: 0) }

@Suite("Alarms", .enabled(unless: Oracle.hindrance))
struct AlarmStories {
    private let hour: Int64 = 3_600
    private let day: Int64 = 86_400

    /// At 07:30 in Berlin; in winter that is 06:30Z.
    private func pill(_ more: String = "") throws -> AlarmRule {
        try AlarmRule("{\"id\":\"pill\",\"daily\":[\"07:30\"],\"zone\":\"Europe/Berlin\"\(more)}")
    }

    @Test("a daily alarm fires at its time each day, and its event says when it was due")
    func fires() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try pill(",\"data\":{\"dose\":2}"))
        machine.run(seconds: 3 * day)
        #expect(machine.dues("pill") == ["2026-11-20T06:30", "2026-11-21T06:30", "2026-11-22T06:30"])
        #expect(machine.firings.allSatisfy { $0.at == $0.due && $0.late == 0 && $0.missed == 0 })
        let payload = machine.log.compactMap { effect -> String? in
            guard case .raise(_, let occasion) = effect else { return nil }
            #expect(occasion.name == "alarm.fired" && occasion.budgetClass == .data)
            return String(decoding: occasion.payload, as: UTF8.self)
        }
        #expect(
            payload.first
                == "{\"id\":\"pill\",\"due\":\"2026-11-20T06:30:00.000000Z\",\"late_s\":0,\"missed\":0,\"data\":{\"dose\":2}}"
        )
    }

    @Test("an alarm without a zone goes by the system's, and by UTC where the system names none")
    func systemZone() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try AlarmRule("{\"id\":\"a\",\"daily\":[\"07:30\"]}"))
        machine.run(seconds: day)
        #expect(machine.dues("a") == ["2026-11-20T06:30"])
        let bare = AlarmMachine("2026-11-20T05:00:00Z")
        bare.withheldZones = [AlarmRule.systemZone]
        bare.declare(try AlarmRule("{\"id\":\"a\",\"daily\":[\"07:30\"]}"))
        #expect(bare.pending("a")?.waitsFor.map(\.word) == ["zone"])
        bare.provide(nil, as: AlarmRule.systemZone)
        bare.run(seconds: day)
        #expect(bare.dues("a") == ["2026-11-20T07:30"])
        #expect(bare.log.count { if case .readZone = $0 { true } else { false } } == 1)
    }

    @Test("a new system zone moves what is ahead, and makes nothing overdue")
    func movesZone() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try AlarmRule("{\"id\":\"a\",\"daily\":[\"18:05\"]}"))
        machine.run(seconds: 600)
        // 18:05 of Apia was five minutes ago.
        machine.provide(AlarmMachine.zone("Pacific/Apia"), as: AlarmRule.systemZone)
        #expect(machine.firings.isEmpty)
        machine.run(seconds: day)
        #expect(machine.dues("a") == ["2026-11-21T05:05"])
    }

    @Test("a missing hour fires at its end, and a doubled one once")
    func daylightSaving() throws {
        let rule = try AlarmRule("{\"id\":\"a\",\"daily\":[\"02:30\"],\"zone\":\"Europe/Berlin\"}")
        let spring = AlarmMachine("2026-03-28T12:00:00Z")
        spring.declare(rule)
        spring.run(seconds: 2 * day)
        #expect(spring.dues("a") == ["2026-03-29T01:00", "2026-03-30T00:30"])
        let autumn = AlarmMachine("2026-10-24T12:00:00Z")
        autumn.declare(rule)
        autumn.run(seconds: 2 * day)
        #expect(autumn.dues("a") == ["2026-10-25T00:30", "2026-10-26T01:30"])
        let minutely = AlarmMachine("2026-03-29T00:30:00Z")
        minutely.declare(try AlarmRule("{\"id\":\"m\",\"every\":\"1m\"}"))
        minutely.run(seconds: 2 * hour)
        #expect(minutely.firings.count == 120, "an interval goes on in real time")
    }

    @Test("a clock set back by up to three hours runs nothing twice; set back by more, it runs again")
    func setBack() throws {
        let little = AlarmMachine("2026-11-20T05:00:00Z")
        little.declare(try pill())
        little.run(seconds: 2 * hour)
        little.set(by: -3 * hour + 60)
        little.run(seconds: 4 * hour)
        #expect(little.dues("pill") == ["2026-11-20T06:30"])
        let much = AlarmMachine("2026-11-20T05:00:00Z")
        much.declare(try pill())
        much.run(seconds: 2 * hour)
        much.set(by: -4 * hour)
        much.run(seconds: 4 * hour)
        #expect(much.dues("pill") == ["2026-11-20T06:30", "2026-11-20T06:30"])
        #expect(
            much.pending("pill")?.history.contains { $0.sentence.contains("set back by more than three hours") } == true
        )
    }

    @Test("a clock set years back does not put the next run years away, even in small steps")
    func farBack() throws {
        let machine = AlarmMachine("2026-11-20T07:00:00Z")
        machine.declare(try pill())
        machine.set(by: -10 * 365 * day)
        #expect(machine.pending("pill")?.due == time("2016-11-23T06:30:00Z"))
        for _ in 0..<10 { machine.set(by: -2 * hour) }
        #expect((machine.pending("pill")?.due ?? .init(microseconds: .max)) < time("2016-11-23T06:31:00Z"))
    }

    @Test("a clock set forward makes what it passed over due once, with the count of the others")
    func setForward() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try pill())
        machine.run(seconds: 60)
        machine.set(by: 3 * day + 2 * hour - 60)
        #expect(machine.firings.map(\.missed) == [3] && machine.dues("pill") == ["2026-11-23T06:30"])
        #expect(machine.firings.first?.late == 1_800)
    }

    @Test("a year of missed minutes is one event that counts them, reckoned at once")
    func countsArithmetically() throws {
        let machine = AlarmMachine("2026-01-01T00:00:00Z")
        machine.declare(try AlarmRule("{\"id\":\"m\",\"every\":\"1m\"}"), try pill())
        machine.sleep(seconds: 365 * day)
        machine.run(seconds: 31)
        let looks = machine.looks
        #expect(machine.firings.filter { $0.key.id == "m" }.map(\.missed) == [525_599])
        #expect(machine.firings.filter { $0.key.id == "pill" }.map(\.missed) == [364])
        #expect(looks < 20)
    }

    @Test("what was overdue when the machine came up is spread over half a minute, and nothing else is")
    func spreads() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        let rules = try (0..<60).map {
            try AlarmRule("{\"id\":\"a\($0)\",\"daily\":[\"07:30\"],\"zone\":\"Europe/Berlin\"}")
        }
        machine.configure(rules)
        machine.sleep(seconds: 2 * hour)
        machine.run(seconds: 40)
        let waits = machine.firings.map { ($0.boottime - machine.cameUpAt).wholeMilliseconds }
        #expect(waits.count == 60 && waits.allSatisfy { (0...30_000).contains($0) })
        #expect(Set(waits.map { $0 / 6_000 }).count == 5, "every part of it is used")
        machine.run(seconds: day)
        #expect(machine.firings.suffix(60).allSatisfy { $0.late == 0 }, "in time, nothing is spread")
    }

    @Test("what ends the machine's sleep is not spread, and its deadlines are known apart")
    func wakesMachine() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(
            try pill(",\"wakes_machine\":true"),
            try AlarmRule("{\"id\":\"b\",\"daily\":[\"07:00\"],\"zone\":\"Europe/Berlin\"}"),
            try AlarmRule("{\"id\":\"c\",\"every\":\"5h\",\"wakes_machine\":true}"))
        #expect(machine.book.machineWake.wall == time("2026-11-20T06:30:00Z"))
        #expect(machine.book.nextWall == time("2026-11-20T06:00:00Z"))
        #expect(machine.book.machineWake.boottime == machine.boottime + .seconds(5 * hour))
        // It comes up a moment later than it was to.
        machine.sleep(seconds: hour + 1_801)
        #expect(machine.dues("pill") == ["2026-11-20T06:30"])
        #expect(machine.book.machineWake.wall == time("2026-11-21T06:30:00Z"))
    }

    @Test("a catch-up nearer than a quarter of a period to the next is folded into that")
    func folds() throws {
        let weekly = try AlarmRule("{\"id\":\"w\",\"daily\":[\"00:00\"],\"days\":[\"mon\"],\"zone\":\"UTC\"}")
        let near = AlarmMachine("2026-11-15T12:00:00Z")
        near.declare(weekly)
        near.sleep(seconds: 7 * day)
        near.run(seconds: day)
        #expect(near.dues("w") == ["2026-11-23T00:00"] && near.firings.map(\.missed) == [1])
        let far = AlarmMachine("2026-11-15T12:00:00Z")
        far.declare(weekly)
        far.sleep(seconds: 5 * day)
        far.run(seconds: 4 * day)
        #expect(far.dues("w") == ["2026-11-16T00:00", "2026-11-23T00:00"] && far.firings.map(\.missed) == [0, 0])
    }

    @Test("an alarm that skips is not raised late, and the next one in time tells how many were missed")
    func skips() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try pill(",\"catch_up\":\"skip\""))
        machine.sleep(seconds: 3 * day)
        machine.run(seconds: day)
        #expect(machine.dues("pill") == ["2026-11-23T06:30"] && machine.firings.map(\.missed) == [3])
        let once = AlarmMachine("2026-11-20T05:00:00Z")
        once.configure([])
        try once.order("{\"id\":\"x\",\"at\":\"2026-11-20T06:00:00Z\",\"catch_up\":\"skip\"}")
        once.sleep(seconds: day)
        #expect(once.firings.isEmpty && once.rows.isEmpty, "nothing of it is left")
    }

    @Test(
        "an alarm with leeway goes along with another wake of its handler, and fires at the end of its leeway without one"
    )
    func rides() throws {
        let leeway = try AlarmRule("{\"id\":\"a\",\"every\":\"1h\",\"leeway\":\"20m\"}")
        let alone = AlarmMachine("2026-11-20T05:00:00Z")
        alone.declare(leeway)
        alone.run(seconds: 2 * hour + 1_300)
        #expect(alone.firings.map(\.late) == [1_200, 1_200])
        let together = AlarmMachine("2026-11-20T05:00:00Z")
        together.declare(leeway, try AlarmRule("{\"id\":\"b\",\"every\":\"65m\"}"))
        together.run(seconds: 70 * 60)
        #expect(together.firings.map(\.key.id) == ["b", "a"] && together.firings.map(\.late) == [0, 300])
        let awake = AlarmMachine("2026-11-20T05:00:00Z")
        awake.declare(leeway)
        awake.run(seconds: hour + 120)
        #expect(awake.firings.isEmpty)
        awake.situate(.awake)
        #expect(awake.firings.map(\.late) == [120])
    }

    @Test("one is outstanding at a time: what falls due meanwhile is told by the next one")
    func oneAtATime() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try AlarmRule("{\"id\":\"m\",\"every\":\"1m\"}"))
        machine.acknowledges = false
        machine.run(seconds: 610)
        #expect(machine.firings.count == 1)
        #expect(machine.pending("m")?.waitsFor.map(\.word) == ["earlier-run"] && machine.pending("m")?.state == .queued)
        machine.conclude(.crashed)
        #expect(machine.firings.count == 1, "the core brings it again")
        machine.conclude()
        #expect(machine.firings.map(\.missed) == [0, 8] && machine.firings.map(\.late) == [0, 10])
    }

    @Test(
        "after a loss or a dead letter an alarm goes on with its next occurrence",
        arguments: [Conclusion.dropped, .deadLettered, .withdrawn])
    func goesOn(conclusion: Conclusion) throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try AlarmRule("{\"id\":\"m\",\"every\":\"1h\"}"))
        machine.acknowledges = false
        machine.run(seconds: hour)
        machine.conclude(conclusion)
        machine.run(seconds: hour)
        #expect(machine.firings.map(\.late) == [0, 0])
    }

    @Test("what a handler hands back until a condition is true is raised again as the same, and only then")
    func handsBack() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.configure([])
        try machine.order("{\"id\":\"x\",\"in\":\"1h\"}")
        machine.acknowledges = false
        machine.run(seconds: hour)
        machine.conclude(.handedBack(until: ["network"]))
        machine.run(seconds: hour)
        #expect(machine.firings.count == 1)
        #expect(machine.pending("x")?.waitsFor.map(\.word) == ["network"])
        machine.restart()
        machine.raiseOwed("x")
        #expect(machine.firings.map(\.late) == [0, 3_600] && Set(machine.firings.map(\.due)).count == 1)
        machine.conclude()
        #expect(machine.rows.isEmpty)
    }

    @Test("a stopped or gated handler is raised nothing; its alarms stay, and are caught up when it may run")
    func obstacles() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try pill())
        machine.situate(.stopped)
        machine.run(seconds: day + 5 * hour)
        #expect(machine.firings.isEmpty)
        let waits = machine.pending("pill")?.waitsFor
        #expect(waits?.map(\.word) == ["stopped"] && waits?.first?.since == time("2026-11-20T05:00:00Z"))
        machine.situate(.asleep)
        #expect(machine.firings.map(\.missed) == [1])
        machine.gate(isOpen: false)
        machine.run(seconds: day)
        #expect(machine.firings.count == 1 && machine.pending("pill")?.waitsFor.map(\.word) == ["gate"])
        machine.gate(isOpen: true)
        #expect(machine.firings.map(\.missed) == [1, 0])
    }

    @Test("an alert goes to people, beside the event, unless the handler is attached")
    func alerts() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try AlarmRule("{\"id\":\"m\",\"every\":\"1h\",\"alert\":\"Tea is ready\"}"))
        machine.run(seconds: hour)
        let alerts = machine.log.compactMap { $0.action(AlarmAlert.self) }
        #expect(alerts.map(\.key) == [AgendaKey(.first, .alarm, "m")])
        #expect(alerts.map(\.action.text) == ["Tea is ready"])
        #expect(machine.firings.first?.payload["alert"] == .string("Tea is ready"))
        machine.situate(.attached)
        machine.run(seconds: hour)
        #expect(machine.firings.count == 2 && machine.log.compactMap { $0.action(AlarmAlert.self) }.count == 1)
    }

    @Test("a person makes an alarm fire beside its schedule, and not while its handler is stopped")
    func operated() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.declare(try pill())
        #expect(machine.raiseNow("pill") && !machine.raiseNow("other"))
        machine.run(seconds: day)
        #expect(machine.firings.map(\.missed) == [0, 0] && machine.firings.count == 2)
        machine.situate(.stopped)
        #expect(machine.raiseNow("pill") && machine.firings.count == 2)
    }

    @Test("every alarm that waits names at least one reason, and when it has its next chance")
    func reasons() throws {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.withheldZones = ["Pacific/Apia"]
        machine.declare(
            try pill(), try AlarmRule("{\"id\":\"m\",\"every\":\"1h\"}"),
            try AlarmRule("{\"id\":\"z\",\"daily\":[\"07:30\"],\"zone\":\"Pacific/Apia\"}"))
        let waiting = try #require(machine.pending("pill"))
        #expect(waiting.waitsFor == [.init(word: "time", since: time("2026-11-20T05:00:00Z"))])
        #expect(waiting.due == time("2026-11-20T06:30:00Z") && waiting.nextChance == waiting.due)
        #expect(waiting.history.map(\.sentence) == ["set"])
        #expect(machine.pending("m")?.interval == .seconds(hour))
        #expect(machine.pending("z")?.waitsFor.map(\.word) == ["zone"] && machine.pending("z")?.due == nil)
        machine.run(seconds: 40 * day)
        #expect(machine.pending("m")?.history.count == 32)
    }
}

// Clocks that are false after boot, and time that goes on while the machine is off.
@Suite("Alarms over restarts and reboots", .enabled(unless: Oracle.hindrance))
struct AlarmRebootStories {
    private let hour: Int64 = 3_600
    private let day: Int64 = 86_400
    private let lost = time("2000-01-01T00:00:00Z")

    private func machine(_ rules: String...) throws -> AlarmMachine {
        let machine = AlarmMachine("2026-11-20T05:00:00Z")
        machine.configure(try rules.map { try AlarmRule($0) })
        return machine
    }

    private let pill = "{\"id\":\"pill\",\"daily\":[\"06:30\"],\"zone\":\"UTC\"}"
    private let tick = "{\"id\":\"tick\",\"every\":\"1h\"}"

    @Test("a restart of the bridge loses nothing and repeats nothing, even one that ended over an occasion")
    func restarts() throws {
        let machine = try machine(pill, tick)
        try machine.order("{\"id\":\"tea\",\"in_s\":5400}")
        for _ in 0..<8 {
            machine.run(seconds: 1_000)
            machine.restart(after: 200)
        }
        #expect(machine.dues("pill") == ["2026-11-20T06:30"] && machine.dues("tea") == ["2026-11-20T06:30"])
        #expect(machine.dues("tick") == ["2026-11-20T06:00", "2026-11-20T07:00"])
        #expect(machine.rows.keys.filter { !$0.id.isEmpty }.map(\.id).sorted() == ["pill", "tick"])
        machine.acknowledges = false
        machine.run(seconds: 2_000)
        machine.restart()
        #expect(machine.firings.filter { $0.key.id == "tick" }.count == 3, "it is outstanding, and not raised again")
        machine.conclude()
        machine.run(seconds: hour)
        #expect(machine.dues("tick").count == 4)
    }

    @Test("over a reboot, intervals go on by the wall clock where it is true before and after")
    func rebootsInSync() throws {
        let machine = try machine(tick)
        try machine.order("{\"id\":\"tea\",\"in\":\"3h\"}")
        machine.run(seconds: 1_800)
        machine.reboot(after: 600)
        machine.run(seconds: 5 * hour)
        #expect(machine.dues("tick") == (6...10).map { "2026-11-20T\($0 < 10 ? "0" : "")\($0):00" })
        #expect(machine.dues("tea") == ["2026-11-20T08:00"])
        machine.reboot(after: 10 * day)
        machine.run(seconds: hour)
        #expect(machine.firings.contains { $0.missed == 239 }, "one event for ten days")
    }

    @Test("over a reboot with a false clock what remained runs from boot, and is mended when the clock is true")
    func mends() throws {
        let early = try machine("{\"id\":\"t\",\"every\":\"10h\"}")
        early.run(seconds: hour)
        early.restart()
        early.reboot(after: 2 * hour, falseClock: lost)
        early.run(seconds: 300)
        #expect(early.firings.isEmpty)
        early.synchronize(to: time("2026-11-20T08:05:00Z"))
        early.run(seconds: 10 * hour)
        #expect(early.dues("t") == ["2026-11-20T15:00"], "as if the machine had never been off")
        let late = try machine("{\"id\":\"t\",\"every\":\"10h\"}")
        late.reboot(after: 20 * hour, falseClock: lost)
        late.run(seconds: 6 * hour)
        late.synchronize(to: time("2026-11-21T07:00:00Z"))
        late.run(seconds: 31)
        #expect(late.dues("t") == ["2026-11-21T01:00"] && late.firings.map(\.missed) == [1])
        let never = try machine("{\"id\":\"t\",\"every\":\"10h\"}")
        never.reboot(after: 20 * hour, falseClock: lost)
        never.run(seconds: 10 * hour)
        #expect(never.firings.count == 1, "ten hours after boot at the latest")
    }

    @Test("after a boot with a false clock, alarms of the calendar wait for the true time, and miss nothing by it")
    func waitsForClock() throws {
        let machine = try machine(pill, tick)
        machine.run(seconds: 2 * hour)
        machine.reboot(after: 2 * day, falseClock: time("2026-11-20T06:00:00Z"))
        machine.run(seconds: 500)
        #expect(machine.dues("pill") == ["2026-11-20T06:30"])
        let waiting = try #require(machine.pending("pill"))
        #expect(waiting.waitsFor.first?.word == "clock" && waiting.nextChance == time("2026-11-20T06:09:40Z"))
        machine.synchronize(to: time("2026-11-22T07:08:20Z"))
        machine.run(seconds: 31)
        #expect(machine.dues("pill") == ["2026-11-20T06:30", "2026-11-22T06:30"])
        #expect(machine.firings.last { $0.key.id == "pill" }?.missed == 1)
    }

    @Test("ten minutes after boot they run by a false clock; the true time goes on from where it was")
    func runsUnsynced() throws {
        let machine = try machine(pill)
        machine.run(seconds: 2 * hour)
        machine.reboot(after: 2 * day, falseClock: lost)
        machine.run(seconds: 2 * day)
        #expect(machine.dues("pill") == ["2026-11-20T06:30", "2000-01-01T06:30", "2000-01-02T06:30"])
        machine.restart()
        machine.synchronize(to: time("2026-11-24T07:00:20Z"))
        machine.run(seconds: 31)
        #expect(machine.dues("pill").last == "2026-11-24T06:30" && machine.firings.last?.missed == 3)
    }

    @Test("what was set by a false clock is due from the true time on, and was not missed before")
    func rebases() throws {
        let machine = AlarmMachine(at: lost, isSynced: false)
        machine.configure([try AlarmRule(pill)])
        machine.run(seconds: 1_000)
        #expect(machine.firings.isEmpty)
        machine.synchronize(to: time("2026-11-20T12:00:00Z"))
        machine.run(seconds: day)
        #expect(machine.dues("pill") == ["2026-11-21T06:30"] && machine.firings.map(\.missed) == [0])
    }

    @Test("a clock that was set while the bridge was down is judged as if it had run")
    func setWhileDown() throws {
        let machine = try machine(pill)
        machine.run(seconds: 2 * hour)
        machine.restart(after: 60, setBy: -2 * hour)
        machine.run(seconds: 3 * hour)
        #expect(machine.dues("pill") == ["2026-11-20T06:30"])
        machine.restart(after: 60, setBy: -4 * hour)
        machine.run(seconds: 4 * hour)
        #expect(machine.dues("pill") == ["2026-11-20T06:30", "2026-11-20T06:30"])
    }

    @Test("numbers that a broken card made of a row end nothing, however large they are")
    func survivesNumbers() throws {
        let machine = try machine(pill, tick)
        machine.run(seconds: 2 * hour)
        var dice = Dice(5)
        for _ in 0..<400 {
            let (key, row) = try #require(machine.rows.sorted { $0.key < $1.key }.randomElement(using: &dice))
            let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
            let starts = row.indices.dropFirst().filter { isDigit(row[$0]) && row[$0 - 1] == UInt8(ascii: ":") }
            let start = try #require(starts.randomElement(using: &dice))
            let end = row[start...].firstIndex { !isDigit($0) } ?? row.endIndex
            let extreme = ["9223372036854775807", "-9223372036854775808", "2305843009213693951", "-1", "0"]
            var changed = row
            changed.replaceSubrange(start..<end, with: Array(extreme[dice.below(extreme.count)].utf8))
            let other = AlarmMachine("2026-11-20T05:00:00Z")
            other.configure(try [pill, tick].map { try AlarmRule($0) })
            other.put(changed, as: key)
            other.reboot(after: 60)
            other.run(seconds: 90)
        }
    }

    private func reads(_ row: [UInt8], _ machine: AlarmMachine) -> Bool {
        var book = AlarmBook()
        var step = machine.step
        return book.restore(AgendaRow(key: AgendaKey(.first, .alarm, "pill"), value: row), &step)
    }

    @Test("a row that cannot be read is refused, and the others go on")
    func damaged() throws {
        let machine = try machine(pill, tick)
        machine.run(seconds: hour)
        let row = try #require(machine.rows[AgendaKey(.first, .alarm, "pill")])
        for length in 0..<row.count { #expect(!reads(Array(row[..<length]), machine)) }
        machine.put(Array("{\"rule\":".utf8), as: AgendaKey(.first, .alarm, "pill"))
        machine.restart()
        #expect(machine.unreadable.map(\.id) == ["pill"])
        machine.run(seconds: day)
        #expect(machine.dues("pill") == ["2026-11-20T06:30"], "the manifest declares it anew")
        #expect(machine.dues("tick").count == 25)
    }
}

@Suite("Orders of alarms", .enabled(unless: Oracle.hindrance))
struct AlarmOrderStories {
    private let machine = AlarmMachine("2026-11-20T05:00:00Z")

    private func code(_ act: () throws -> Void) -> ProtocolFault.Code? {
        do {
            try act()
            return nil
        } catch { return (error as? ProtocolFault)?.code }
    }

    private func word(_ answer: AgendaAnswer?) -> String? {
        guard case .done(_, let word, _) = answer else { return nil }
        return word
    }

    @Test("an order sets an alarm, the same id again replaces it, and its answer lists it")
    func sets() throws {
        machine.configure([])
        let answer = try machine.order("{\"id\":\"tea\",\"in_s\":240}")
        guard case .done(.alarm, "set", let entries) = answer else {
            return #expect(Bool(false), "\(String(describing: answer))")
        }
        #expect(entries.map(\.key.id) == ["tea"] && entries.first?.due == time("2026-11-20T05:04:00Z"))
        #expect(word(try machine.order("{\"id\":\"tea\",\"in_s\":600}")) == "replaced")
        machine.run(seconds: 3_600)
        #expect(machine.dues("tea") == ["2026-11-20T05:10"])
        #expect(machine.rows.isEmpty, "what comes once leaves nothing behind")
        #expect(word(try machine.order("{\"id\":\"tea\",\"in_s\":600}")) == "set")
    }

    @Test("firing, and the row that says so, are asked for in one step")
    func isAtomic() throws {
        machine.configure([])
        try machine.order("{\"id\":\"tea\",\"in_s\":240}")
        machine.run(seconds: 240)
        let raise = try #require(machine.log.firstIndex { if case .raise = $0 { true } else { false } })
        guard case .store(let row) = machine.log[raise - 1] else { return #expect(Bool(false)) }
        #expect(row.key.id == "tea" && String(decoding: row.value, as: UTF8.self).contains("\"spent\":true"))
    }

    @Test("the 129th is refused, and replacing one of 128 is not")
    func limits() throws {
        machine.configure([try AlarmRule("{\"id\":\"declared\",\"every\":\"1h\"}")])
        for index in 1...127 { try machine.order("{\"id\":\"a\(index)\",\"in\":\"1d\"}") }
        #expect(code { try machine.order("{\"id\":\"one-more\",\"in\":\"1d\"}") } == .tooMany)
        #expect(word(try machine.order("{\"id\":\"a7\",\"in\":\"2d\"}")) == "replaced")
        try machine.cancel("{\"alarm\":\"a7\"}")
        #expect(word(try machine.order("{\"id\":\"one-more\",\"in\":\"1d\"}")) == "set")
    }

    @Test("a handler whose manifest has no alarms may order none")
    func permits() throws {
        machine.configure(nil)
        #expect(code { try machine.order("{\"id\":\"tea\",\"in_s\":240}") } == .notPermitted)
        #expect(code { try machine.cancel("{\"alarm\":\"tea\"}") } == .notPermitted)
    }

    @Test("an instant that is over is too late, unless the clock cannot tell")
    func tooLate() throws {
        machine.configure([])
        #expect(code { try machine.order("{\"id\":\"x\",\"at\":\"2026-11-20T06:00:00+01:00\"}") } == .tooLate)
        let dark = AlarmMachine("2026-11-20T05:00:00Z", isSynced: false)
        dark.configure([])
        #expect(word(try dark.order("{\"id\":\"x\",\"at\":\"2026-11-20T04:00:00Z\"}")) == "set")
        dark.synchronize()
        dark.run(seconds: 31)
        #expect(dark.firings.allSatisfy { (3_600...3_631).contains($0.late) } && dark.firings.count == 1)
    }

    @Test("what the manifest declares is neither ordered nor cancelled by the handler")
    func declared() throws {
        machine.configure([try AlarmRule("{\"id\":\"pill\",\"every\":\"1h\"}")])
        #expect(code { try machine.order("{\"id\":\"pill\",\"in_s\":240}") } == .conflict)
        #expect(code { try machine.cancel("{\"alarm\":\"pill\"}") } == .notPermitted)
        try machine.order("{\"id\":\"tea\",\"in_s\":240}")
        #expect(word(try machine.cancel("{\"alarms\":true}")) == "cancelled")
        #expect(machine.rows.keys.map(\.id).sorted() == ["", "pill"])
    }

    @Test("a cancelled alarm never fires, and one that is not there is named with its nearest")
    func cancels() throws {
        machine.configure([])
        try machine.order("{\"id\":\"pill\",\"in_s\":240}")
        let fault = thrown(ProtocolFault.self) { try machine.cancel("{\"alarm\":\"pil\"}") }
        #expect(fault?.code == .notRegistered && fault?.sentence.contains("the nearest is \"pill\"") == true)
        try machine.cancel("{\"alarm\":\"pill\"}")
        machine.run(seconds: 3_600)
        #expect(machine.firings.isEmpty && machine.rows.isEmpty)
        for text in ["7", "{}", "{\"alarms\":false}", "{\"alarm\":\"a\",\"alarms\":true}", "{\"alarm\":7}"] {
            #expect(code { try machine.cancel(text) } == .malformed, "\(text)")
        }
        #expect(code { try machine.cancel("{\"alarmz\":true}") } == .unknownKey)
    }

    @Test("an order in a zone that does not exist is answered as unavailable, once that is known, and sets nothing")
    func zones() throws {
        machine.configure([])
        #expect(try machine.order("{\"id\":\"x\",\"daily\":[\"07:30\"],\"zone\":\"Europe/Atlantis\"}") == nil)
        guard case .fault(let fault) = machine.answers.first else { return #expect(Bool(false)) }
        #expect(fault.code == .unavailable && fault.sentence.contains("Europe/Atlantis"))
        #expect(machine.rows.isEmpty)
        #expect(try machine.order("{\"id\":\"x\",\"daily\":[\"07:30\"],\"zone\":\"Europe/Atlantis\"}") == nil)
        guard case .fault(let again) = machine.answers.last else { return #expect(Bool(false)) }
        #expect(again.code == .unavailable && machine.answers.count == 2)
        #expect(try machine.order("{\"id\":\"y\",\"daily\":[\"07:30\"],\"zone\":\"Pacific/Apia\"}") == nil)
        #expect(word(machine.answers.last) == "set")
        #expect(word(try machine.order("{\"id\":\"y\",\"daily\":[\"07:30\"],\"zone\":\"Pacific/Apia\"}")) == "replaced")
    }

    @Test("a changed manifest keeps what an alarm has come to where its time stays, and drops what it declares no more")
    func reconfigures() throws {
        func pill(_ time: String, _ more: String = "") throws -> AlarmRule {
            try AlarmRule("{\"id\":\"pill\",\"daily\":[\"\(time)\"],\"zone\":\"UTC\"\(more)}")
        }
        machine.configure([try pill("06:00"), try AlarmRule("{\"id\":\"gone\",\"every\":\"1h\"}")])
        machine.situate(.stopped)
        machine.run(seconds: 43_200)
        machine.configure([try pill("06:00", ",\"data\":1")])
        machine.situate(.asleep)
        #expect(machine.firings.map(\.missed) == [0] && machine.firings.first?.payload["data"] == .integer(1))
        machine.configure([try pill("04:00")])
        machine.run(seconds: 86_400)
        #expect(machine.dues("pill") == ["2026-11-20T06:00", "2026-11-21T04:00"], "04:00 of today was never its time")
        try machine.order("{\"id\":\"tea\",\"in\":\"1d\"}")
        machine.configure(nil)
        #expect(machine.rows.isEmpty && machine.book.nextWall == nil && machine.book.nextBoottime == nil)
    }

    @Test("a removed handler leaves nothing")
    func removes() throws {
        machine.configure([try AlarmRule("{\"id\":\"a\",\"every\":\"1h\"}")])
        machine.configure([try AlarmRule("{\"id\":\"a\",\"every\":\"1h\"}")], for: .second)
        machine.remove(.first)
        #expect(machine.rows.keys.map(\.handler) == [.second, .second])
        machine.run(seconds: 3_600)
        #expect(machine.firings.map(\.key.handler) == [.second])
    }
}
