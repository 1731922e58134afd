// The agenda as a whole: rows, deadlines, and what belongs into one commit.
import Testing
import WakeModel

@testable import WakeAgenda

private let handler = AgendaWorld.handler

@Suite("The agenda")
struct AgendaTests {
    private let manifest =
        "{jobs: [{id: 'backup', kind: 'processing', require: ['power']}], poll: {min_interval: '15m', require: []}}"

    private func world(_ manifest: String? = nil) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(manifest ?? self.manifest)
        return world
    }

    /// Rows that no version wrote, or that were damaged.
    private static let unreadable = [
        "", "7", "{}", "not JSON", #"{"boot":"boot-1"}"#, #"{"boot":"boot-1","at_ns":"soon"}"#,
        #"{"boot":"boot-1","at_ns":-9223372036854775808,"current":{},"since_us":0}"#,
        #"{"boot":"boot-1","at_ns":1,"since_us":0,"current":{"earliest_ns":9223372036854775807,"deadline_ns":0,"ordered":true}}"#,
        #"{"boot":"boot-1","at_ns":1,"since_us":0,"current":{"earliest_ns":1,"deadline_ns":2,"ordered":true,"require":["powr"]}}"#,
        #"{"boot":"boot-1","at_ns":1,"since_us":0,"current":{"earliest_ns":1,"deadline_ns":2,"ordered":true},"schedule":{"period_ns":0,"nominal_ns":1}}"#,
        #"{"boot":"boot-1","at_ns":1,"base_ns":1,"due_ns":1,"raised_ns":1,"interval_ms":0,"awake_ms":0,"cpu_ms":0,"since_us":0}"#,
        #"{"boot":"boot-1","at_ns":1,"base_ns":1,"due_ns":1,"raised_ns":1,"interval_ms":9,"awake_ms":0,"cpu_ms":0,"since_us":0,"hours":[[168,1,1,1,1]]}"#,
    ]

    @Test("a row that cannot be read is told, erased, and takes no other with it", arguments: unreadable)
    func unreadableRow(text: String) throws {
        for source in [AgendaSource.job, .poll, .gate, .alarm] {
            var world = AgendaWorld(restored: false)
            let key = AgendaKey(handler, source, source == .job ? "backup" : "")
            let effects = world.send(.restored([AgendaRow(key: key, value: Array(text.utf8))], bootID: world.bootID))
            #expect(effects.contains(.erase(key)))
            #expect(effects.contains(.decision(handler, AgendaDecision(key, "drop unreadable"))))
            try world.configure(manifest)
            #expect(world.pending.map(\.key.source) == [.poll])
        }
    }

    @Test("a sleeping machine is woken for the next alarm that asks for it, and for none after that was cancelled")
    func wakesMachine() throws {
        var world = try world("{alarms: [{id: 'plain', every: '1h'}]}")
        var wakes: [MachineWake] {
            world.effects.compactMap { if case .wakeMachine(let wake) = $0 { wake } else { nil } }
        }
        let start = world.moment.boottime
        try world.order(#"{"alarm":{"id":"late","in_s":7200,"wakes_machine":true}}"#)
        try world.order(#"{"alarm":{"id":"soon","in_s":1200,"wakes_machine":true}}"#)
        #expect(wakes.map(\.boottime) == [start + .seconds(7200), start + .seconds(1200)])
        world.pass(.seconds(1200))
        #expect(world.raised.map(\.key.id) == ["soon"] && wakes.last?.boottime == start + .seconds(7200))
        try world.order(#"{"cancel":{"alarm":"late"}}"#)
        #expect(wakes.last == MachineWake() && wakes.count == 4)
    }

    @Test("what is pending names its event by a key of its own: a line with \"seq\" is an event, and wants an answer")
    func namesEvent() throws {
        var world = try world("{jobs: [{id: 'look', kind: 'refresh'}]}")
        try world.order(#"{"submit":{"job":"look"}}"#)
        let text = String(decoding: world.pending.text, as: UTF8.self)
        #expect(text.contains(#""event":1"#) && !text.contains(#""seq""#), "\(text)")
    }

    @Test("what is not to wake waits for another wake of its handler, with what it missed, and a person need not wait")
    func ridesAlong() throws {
        var world = try world(
            """
            {alarms: [{id: 'pill', every: '1h', wake: false}], poll: {min_interval: '1h', require: [], wake: false},
             jobs: [{id: 'look', kind: 'refresh', every: '1h', wake: false}, {id: 'tidy', kind: 'refresh', wake: false}]}
            """)
        // Also in the last quarter before the next time of the alarm.
        world.pass(.seconds(3 * 3600 + 3400))
        #expect(world.raised.isEmpty)
        #expect(world.waits("pill", .alarm) == ["wake"] && world.waits("", .poll) == ["wake"])
        #expect(world.waits("look") == ["wake"] && world.pending.allSatisfy { $0.nextChance == nil })
        world.restart()
        world.send(.operated(AgendaKey(handler, .job, "tidy"), ref: nil))
        #expect(world.raised.map(\.key.id) == ["tidy"])
        world.send(.situated(handler, .awake))
        #expect(world.raised.dropFirst().map(\.key.id) == ["pill", "", "look"])
        #expect(world.payload(1).contains(#""missed":2"#))
    }

    @Test("an alarm that wakes the machine uses no leeway, which would have the machine wake twice")
    func wakesMachineOnce() throws {
        var world = try world("{alarms: [{id: 'd', every: '1h', leeway: '15m', wakes_machine: true}]}")
        let start = world.moment.boottime
        world.pass(.seconds(3_600))
        #expect(world.raised.count == 1)
        let wakes = world.effects.compactMap { if case .wakeMachine(let wake) = $0 { wake.boottime } else { nil } }
        #expect(wakes.first == start + .seconds(3_600) && !wakes.contains(start + .seconds(4_500)))
    }

    @Test("while its handler is stopped or gated, an alarm wakes no machine; when it may run again, it does")
    func wakesForNoObstacle() throws {
        var world = try world("{alarms: [{id: 'd', every: '1h', wakes_machine: true}]}")
        var wake: MachineWake? {
            world.effects.compactMap { if case .wakeMachine(let wake) = $0 { wake } else { nil } }.last
        }
        let due = MachineWake(boottime: world.moment.boottime + .seconds(3_600))
        #expect(wake == due)
        world.send(.situated(handler, .stopped))
        #expect(wake == MachineWake())
        world.send(.situated(handler, .asleep))
        #expect(wake == due)
        try world.configure("{alarms: [{id: 'd', every: '1h', wakes_machine: true}], after: ['mount:/data']}")
        #expect(wake == MachineWake())
        world.set(.mount("/data"), true)
        world.pass(.seconds(1))
        #expect(wake == due)
    }

    @Test("the name of a zone that does not exist is kept no longer than its order, and asked for again each time")
    func forgetsZones() throws {
        var world = try world("{alarms: []}")
        let line = try JSONValue(parsing: Array(#"{"id":"x","daily":["07:00"],"zone":"No/Where"}"#.utf8))
        for _ in 0..<3 {
            let effects = world.send(.ordered(handler, Epoch(rawValue: 1), HandlerOrder(.alarm, line), ref: nil))
            #expect(effects.contains(.readZone("No/Where")))
            let answered = world.send(.zone("No/Where", nil))
            #expect(answered.contains(.leaveZone("No/Where")))
            #expect(answered.contains { if case .answer(_, _, .fault, _) = $0 { true } else { false } })
        }
    }

    @Test("a declared alarm that finds no room says so, and is set as soon as an ordered one has gone")
    func declaredWithoutRoom() throws {
        var world = try world("{alarms: []}")
        for number in 0..<128 { try world.order(#"{"alarm":{"id":"o\#(number)","every_s":86400}}"#) }
        let plan = try AgendaPlan.parsed("{alarms: [{id: 'm', every: '1h'}]}")
        let effects = world.send(.configured(handler, plan))
        let faults = effects.compactMap { effect -> ProtocolFault? in
            guard case .notify(_, .error(let fault)) = effect else { return nil }
            return fault
        }
        #expect(faults.map(\.code) == [.tooMany] && faults.first?.sentence.contains("\"m\"") == true)
        #expect(world.entry("m", .alarm) == nil)
        try world.order(#"{"cancel":{"alarm":"o7"}}"#)
        #expect(world.entry("m", .alarm)?.due == world.wall + .seconds(3_600))
        world.pass(.seconds(3_600))
        #expect(world.raised.map(\.key.id) == ["m"])
    }

    @Test("an ordered alarm of a handler that may order none any more is not said to have been declared")
    func undeclares() throws {
        var world = try world("{alarms: [{id: 'm', every: '1h'}]}")
        try world.order(#"{"alarm":{"id":"o","in_s":60}}"#)
        let words = world.send(.configured(handler, AgendaPlan())).compactMap { effect -> String? in
            if case .decision(_, let decision) = effect { decision.wireName } else { nil }
        }
        #expect(words == ["undeclared alarm m", "unpermitted alarm o"])
    }

    @Test("what was stored waits for its manifest, and says so")
    func waitsForManifest() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"backup","not_before_s":60}}"#)
        var later = AgendaWorld(restored: false)
        later.send(.restored(world.storedRows, bootID: world.bootID))
        later.pass(.seconds(7200))
        #expect(later.raised.isEmpty && later.waits("backup") == ["manifest"] && later.open.isEmpty)
        try later.configure(manifest)
        #expect(later.waits("backup") == ["power"])
    }

    @Test("the next deadlines are those of the entry that is due first, and of the condition that settles")
    func deadlines() throws {
        var world = AgendaWorld()
        #expect(world.agenda.nextBoottimeDeadline == nil && world.agenda.nextMonotonicDeadline == nil)
        try world.configure("{jobs: [{id: 'backup', kind: 'processing', require: ['power']}]}")
        #expect(world.agenda.nextBoottimeDeadline == nil)
        try world.order(#"{"submit":{"job":"backup","not_before_s":600,"deadline_s":9000}}"#)
        #expect(world.agenda.nextBoottimeDeadline == .seconds(100 + 480))
        world.pass(.seconds(480))
        #expect(world.agenda.nextBoottimeDeadline == .seconds(100 + 600))
        world.pass(.seconds(200))
        #expect(world.agenda.nextBoottimeDeadline == .seconds(100 + 9000))
        world.set(.power, true)
        #expect(world.agenda.nextMonotonicDeadline == .seconds(780 + 120))
        world.pass(.seconds(120))
        #expect(world.agenda.nextBoottimeDeadline == nil && world.agenda.nextMonotonicDeadline == nil)
    }

    @Test("a step in which nothing falls due asks for nothing")
    func quiet() throws {
        var world = try world()
        try world.order(#"{"submit":{"job":"backup","not_before_s":600}}"#)
        let count = world.effects.count
        for _ in 0..<100 { world.send(.tick) }
        world.send(.situated(handler, .asleep))
        try world.configure(manifest)
        #expect(world.effects.count == count)
    }

    @Test("what is raised is stored in the same step, and what ends is erased in the step that says so")
    func commits() throws {
        var world = try world("{jobs: [{id: 'backup', kind: 'processing'}]}")
        let key = AgendaKey(handler, .job, "backup")
        let order = HandlerOrder(.submit, try JSONValue(parsing: Array(#"{"job":"backup"}"#.utf8)))
        var agenda = world.agenda
        let effects = agenda.step(.ordered(handler, Epoch(rawValue: 1), order, ref: nil), at: world.stamp)
        let raises = effects.contains { if case .raise(key, _) = $0 { true } else { false } }
        let stores = effects.contains { if case .store(let row) = $0 { row.key == key } else { false } }
        #expect(raises && stores)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        agenda = world.agenda
        let end = AgendaInput.concluded(handler, Sequence(1), .acknowledged(nil), awake: .zero, cpu: .zero)
        #expect(agenda.step(end, at: world.stamp).contains(.erase(key)))
    }

    @Test("a death of the bridge between the raise and its number raises the entry again")
    func diesUnnumbered() throws {
        let world = try world("{jobs: [{id: 'backup', kind: 'processing'}]}")
        let order = HandlerOrder(.submit, try JSONValue(parsing: Array(#"{"job":"backup"}"#.utf8)))
        var agenda = world.agenda
        var rows: [AgendaRow] = []
        for case .store(let row) in agenda.step(
            .ordered(handler, Epoch(rawValue: 1), order, ref: nil), at: world.stamp)
        { rows.append(row) }
        var later = AgendaWorld(restored: false)
        later.send(.restored(rows, bootID: later.bootID))
        try later.configure("{jobs: [{id: 'backup', kind: 'processing'}]}")
        #expect(later.raised.map(\.key.id) == ["backup"])
    }

    @Test("an answer repeats the reference of its order, a fault inside as well")
    func references() throws {
        var world = try world()
        for text in [#"{"job":"backup"}"#, #"{"job":"other"}"#] {
            let order = HandlerOrder(.submit, try JSONValue(parsing: Array(text.utf8)))
            let effects = world.send(.ordered(handler, Epoch(rawValue: 4), order, ref: Reference(9)))
            let answers = effects.compactMap { effect -> AgendaAnswer? in
                guard case .answer(handler, Epoch(rawValue: 4), let answer, ref: Reference(9)) = effect else {
                    return nil
                }
                return answer
            }
            #expect(answers.count == 1)
            if let fault = answers.first?.fault { #expect(fault.reference == Reference(9)) }
        }
    }

    @Test("a stopped handler gets nothing, keeps what is pending, and gets it when it is started")
    func stopped() throws {
        var world = try world()
        world.send(.situated(handler, .stopped))
        world.send(.overridden(.power, isTrue: true))
        try world.order(#"{"submit":{"job":"backup","deadline_s":60}}"#)
        world.pass(.seconds(20_000))
        #expect(world.raised.isEmpty && world.waits("backup") == ["stopped"] && world.waits("", .poll) == ["stopped"])
        world.send(.situated(handler, .asleep))
        #expect(world.raised.count == 2)
    }

    @Test("a moment after a deadline that was not told yet, `pending` still names the reason that held until then")
    func pendingBetweenSteps() throws {
        var world = try world("{jobs: [{id: 'backup', kind: 'processing'}]}")
        try world.order(#"{"submit":{"job":"backup","not_before_s":60}}"#)
        let due = world.entry("backup")?.due
        var stamp = world.stamp
        stamp.moment = stamp.moment + .seconds(90)
        stamp.wall = stamp.wall + .seconds(90)
        let entry = world.agenda.pending(of: handler, at: stamp).first
        #expect(entry?.waitsFor.map(\.word) == ["time"] && entry?.due == due)
    }

    @Test("what the core refuses, because it knows no such handler, does not come again in the same turn")
    func refused() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'refresh', every: '1h'}]}")
        world.pass(.seconds(3599))
        var agenda = world.agenda
        let later = Stamp(moment: world.moment + .seconds(2), wall: world.wall + .seconds(2))
        let key = AgendaKey(handler, .job, "tidy")
        #expect(agenda.step(.tick, at: later).contains { if case .raise(key, _) = $0 { true } else { false } })
        let effects = agenda.step(.refused(key), at: later)
        #expect(!effects.contains { if case .raise = $0 { true } else { false } })
        #expect(agenda.pending(of: handler, at: later).map(\.state) == [.waiting])
    }

    @Test("two agendas with different seeds spread the same entries differently, and one seed spreads them alike")
    func seeds() throws {
        func instants(_ seed: UInt64) -> [TimeSpan] {
            let step = AgendaStep(
                stamp: AgendaWorld().stamp, bootID: "b", zones: [:], handlers: [:], seed: seed,
                comeUps: ComeUps(at: .zero))
            return (0..<20).map { step.spread(of: AgendaKey(handler, .job, "job\($0)"), upTo: .seconds(30)) }
        }
        #expect(instants(1) == instants(1) && instants(1) != instants(2))
        #expect(Set(instants(1)).count == 20 && instants(1).allSatisfy { $0 >= .zero && $0 < .seconds(30) })
    }
}
