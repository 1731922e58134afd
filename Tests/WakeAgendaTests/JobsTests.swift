// Jobs: when they are raised, with what, and what becomes of them afterwards.
import Testing
import WakeModel

@testable import WakeAgenda

private let handler = AgendaWorld.handler

private func world(_ manifest: String) throws -> AgendaWorld {
    var world = AgendaWorld()
    try world.configure(manifest)
    return world
}

private let backup = "{jobs: [{id: 'backup', kind: 'processing', require: ['power', 'network'], deadline: '1d'}]}"
private let plain = "{jobs: [{id: 'backup', kind: 'processing'}, {id: 'look', kind: 'refresh'}]}"
private let hourly = "{jobs: [{id: 'tidy', kind: 'processing', every: '1h', require: ['power'], deadline: '30m'}]}"

@Suite("Jobs, when they are due")
struct JobsDueTests {
    @Test("a submitted job is raised at its earliest begin and not before")
    func earliest() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","not_before_s":3600}}"#)
        world.pass(.seconds(3599))
        #expect(world.raised.isEmpty && world.waits("backup") == ["time"])
        world.pass(.seconds(1))
        #expect(world.raised.map(\.at) == [Instant.seconds(3700)])
    }

    @Test("at its deadline a job runs without its soft conditions, and is told which")
    func waives() throws {
        var world = try world(backup)
        world.set(.network, true)
        try world.order(#"{"submit":{"job":"backup","not_before_s":60,"deadline_s":7200}}"#)
        world.pass(.seconds(7199))
        #expect(world.raised.isEmpty && world.waits("backup") == ["power"])
        world.pass(.seconds(1))
        #expect(world.payload(0).contains(#""waived":["power"]"#))
        #expect(world.raised.first?.occasion.name == "job.due")
    }

    @Test("a hard condition holds a job beyond its deadline, and is named")
    func hard() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","deadline_s":60,"require":["mount:/data","power"]}}"#)
        world.pass(.seconds(7200))
        #expect(world.raised.isEmpty && world.waits("backup") == ["mount:/data"])
        world.set(.mount("/data"), true)
        world.pass(.seconds(1))
        #expect(world.payload(0).contains(#""waived":["power"]"#))
    }

    @Test("the run after skipped ones counts them all as missed, and the run after that counts none")
    func countsSkips() throws {
        var world = AgendaWorld()
        try world.configure(
            "{jobs: [{id: 'tidy', kind: 'processing', every: '1h', require: ['power'], deadline: '10m', on_deadline: 'skip'}]}"
        )
        world.pass(.seconds(5 * 3600 + 1800))
        world.set(.power, true)
        world.pass(.seconds(3600))
        #expect(world.raised.count == 1 && world.payload(0).contains("\"missed\":5"))
        world.conclude(Sequence(1), .acknowledged(.useful))
        world.pass(.seconds(3600))
        #expect(world.raised.count == 2 && !world.payload(1).contains("missed"))
    }

    @Test("a job that skips at its deadline does not run, says so, and goes on with its next period")
    func skips() throws {
        var world = try world(
            "{jobs: [{id: 'tidy', kind: 'processing', every: '1h', require: ['power'], deadline: '30m', on_deadline: 'skip'}]}"
        )
        world.pass(.seconds(3600 + 1800))
        #expect(world.raised.isEmpty)
        #expect(world.entry("tidy")?.due == world.wall + .seconds(1800))
        #expect(
            world.entry("tidy")?.history.map(\.sentence).contains { $0.hasPrefix("skipped") && $0.contains("power") }
                == true)
        world.set(.power, true)
        world.pass(.seconds(1800))
        #expect(world.raised.map(\.at) == [Instant.seconds(100 + 7200)])
        #expect(world.payload(0).contains(#""missed":1"#))
    }

    @Test("a manifest's schedule runs though the program never ran, in a phase that no run moves")
    func schedule() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'processing', every: '1h'}]}")
        for _ in 0..<5 {
            world.pass(.seconds(3000))
            if let sequence = world.heldSequences.first { world.conclude(sequence, .acknowledged(nil)) }
        }
        #expect(world.raised.map(\.at) == [3700, 7300, 10900, 14500].map { Instant.seconds($0) })
    }

    @Test("occurrences that pass meanwhile are folded into one run, which tells how many were missed")
    func folds() throws {
        var world = try world(
            "{jobs: [{id: 'tidy', kind: 'processing', every: '1h', deadline: '30d', require: ['power']}]}")
        world.pass(.seconds(3600 * 4 + 60))
        #expect(world.raised.isEmpty)
        world.set(.power, true)
        world.pass(.seconds(120))
        #expect(world.raised.count == 1 && world.payload(0).contains(#""missed":3"#))
        world.pass(.seconds(3600 * 2))
        world.conclude(Sequence(1), .acknowledged(nil))
        world.pass(.seconds(3600))
        #expect(world.raised.count == 2 && world.payload(1).contains(#""missed":2"#))
        #expect(world.raised.last?.at == Instant.seconds(100 + 3600 * 7))
    }

    @Test("over sixty days each hour's occurrence is run or counted as missed, to the last one")
    func counts() throws {
        var world = try world(
            "{jobs: [{id: 'tidy', kind: 'processing', every: '1h', deadline: '300d', require: ['power']}]}")
        var (told, last) = (Int64(0), Instant.seconds(100))
        for hour in 1...(60 * 24) {
            if hour % 24 == 0 { world.set(.power, hour / 24 % 3 == 0) }
            world.pass(.seconds(3600))
            guard let sequence = world.heldSequences.first, let item = world.held[sequence], hour % 5 == 0 else {
                continue
            }
            told += 1 + (try JSONValue(parsing: item.occasion.payload)["missed"]?.integer ?? 0)
            last = item.at
            world.conclude(sequence, .acknowledged(.useful))
        }
        #expect(told == (last - Instant.seconds(100)).nanoseconds / TimeSpan.seconds(3600).nanoseconds)
    }

    @Test("two jobs that may take long run at a time on the whole bridge, and the nearest deadline is next")
    func slots() throws {
        var world = try world(plain)
        for number in 2...5 { try world.configure(plain, of: HandlerID(rawValue: UInt32(number))) }
        for (number, deadline) in [(1, 9000), (2, 8000), (3, 7000), (4, 5000), (5, 6000)] {
            let text = "{\"submit\":{\"job\":\"backup\",\"not_before_s\":10,\"deadline_s\":\(deadline)}}"
            try world.order(text, of: HandlerID(rawValue: UInt32(number)))
        }
        world.pass(.seconds(10))
        #expect(world.raised.map(\.key.handler.rawValue) == [4, 5])
        #expect(world.pending.first { $0.key.handler.rawValue == 1 }?.waitsFor.map(\.word) == ["slot"])
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(world.raised.map(\.key.handler.rawValue) == [4, 5, 3])
        try world.order(#"{"submit":{"job":"look"}}"#)
        #expect(world.raised.map(\.key.id) == ["backup", "backup", "backup", "look"])
    }

    @Test("a refresh has a content's time, and work its own longest run")
    func classes() throws {
        var world = try world(
            "{jobs: [{id: 'look', kind: 'refresh'}, {id: 'backup', kind: 'processing', max_run: '2h'}]}")
        try world.order(#"{"submit":{"job":"look"}}"#)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        #expect(world.raised.map(\.occasion.budgetClass) == [.content, .work(longest: .seconds(7200))])
    }

    @Test("a continued job starts only while its handler is attached, or when a person runs it")
    func continued() throws {
        var world = try world("{jobs: [{id: 'export', kind: 'continued'}]}")
        try world.order(#"{"submit":{"job":"export","deadline_s":60}}"#)
        world.pass(.seconds(600))
        #expect(world.raised.isEmpty && world.waits("export") == ["attached"])
        world.send(.situated(handler, .attached))
        #expect(world.raised.count == 1)
        world.conclude(Sequence(1), .acknowledged(nil))
        world.send(.situated(handler, .asleep))
        world.send(.operated(AgendaKey(handler, .job, "export"), ref: nil))
        #expect(world.raised.count == 2)
    }

    @Test("a person runs a job now, without its time and its soft conditions, yet never while its handler is stopped")
    func operated() throws {
        var world = try world(hourly)
        world.send(.situated(handler, .stopped))
        world.send(.operated(AgendaKey(handler, .job, "tidy"), ref: nil))
        #expect(world.raised.isEmpty && world.waits("tidy") == ["stopped"])
        world.send(.situated(handler, .asleep))
        #expect(world.raised.count == 1 && world.payload(0).contains(#""waived":["power"]"#))
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(world.entry("tidy")?.due == world.wall + .seconds(3600))
    }
}

@Suite("Jobs, when they are over or come back")
struct JobsConclusionTests {
    private func running(_ manifest: String = backup) throws -> AgendaWorld {
        var world = try world(manifest)
        world.set(.power, true)
        world.set(.network, true)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.pass(.seconds(120))
        try #require(world.held.count == 1)
        return world
    }

    @Test("a submitted job that is acknowledged is gone with its row")
    func acknowledged() throws {
        var world = try running()
        world.conclude(Sequence(1), .acknowledged(.useful))
        #expect(world.pending.isEmpty && world.rows.isEmpty && world.open.isEmpty)
    }

    @Test("work that fails is acknowledged all the same, and its history counts the failures in a row")
    func failed() throws {
        var world = try world("{jobs: [{id: 'tidy', kind: 'processing', every: '1h'}]}")
        for _ in 0..<3 {
            world.pass(.seconds(3600))
            world.conclude(try #require(world.heldSequences.first), .acknowledged(.failed))
        }
        #expect(world.entry("tidy")?.history.map(\.sentence).contains("3 failures in a row") == true)
        world.restart()
        #expect(world.entry("tidy")?.history.map(\.sentence).contains("3 failures in a row") == true)
    }

    @Test("a queued job whose condition is gone for ten seconds leaves the queue, and comes back with the condition")
    func withdrawn() throws {
        var world = try running()
        world.set(.network, false)
        world.pass(.seconds(10))
        #expect(world.effects.contains(.withdraw(handler, Sequence(1))))
        #expect(world.held.isEmpty && world.waits("backup") == ["network"])
        world.set(.network, true)
        world.pass(.seconds(3))
        #expect(world.payload(1).contains(#""returned":"condition""#))
    }

    @Test("a running job whose condition is gone is pressed once, and comes back when it was taken from the handler")
    func pressed() throws {
        var world = try running()
        world.send(.situated(handler, .awake))
        world.set(.power, false)
        world.pass(.seconds(60))
        #expect(world.effects.filter { $0 == .press(handler, Sequence(1), .condition) }.count == 1)
        world.conclude(Sequence(1), .withdrawn)
        #expect(world.waits("backup") == ["power"])
        world.set(.power, true)
        world.pass(.seconds(120))
        #expect(world.payload(1).contains(#""returned":"condition""#))
        world.conclude(Sequence(2), .acknowledged(nil))
        #expect(world.pending.isEmpty)
    }

    @Test("what a job did without at its deadline does not end it when it stays away")
    func reliesOnNoWaived() throws {
        var world = try world(backup)
        world.set(.network, true)
        try world.order(#"{"submit":{"job":"backup","deadline_s":600}}"#)
        world.pass(.seconds(700))
        #expect(world.held.count == 1)
        world.set(.network, false)
        world.pass(.seconds(60))
        #expect(world.held.count == 1)
    }

    @Test("a job that is handed back waits for the named conditions too, and keeps its deadline")
    func handedBack() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","deadline_s":7200}}"#)
        let deadline = world.entry("backup")?.deadline
        world.conclude(Sequence(1), .handedBack(until: ["unmetered"]))
        world.pass(.seconds(3000))
        #expect(world.waits("backup") == ["unmetered"] && world.entry("backup")?.deadline == deadline)
        world.set(.unmetered, true)
        world.pass(.seconds(3))
        #expect(world.raised.count == 2)
    }

    @Test("a job that is handed back for nothing rests, longer each time, and not beyond its deadline")
    func rests() throws {
        let world = try restingWorld()
        #expect(world.raised.map(\.at) == [100, 130, 190, 300].map { Instant.seconds($0) })
    }

    /// Handed back as soon as it is raised.
    private func restingWorld() throws -> AgendaWorld {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","deadline_s":200}}"#)
        for second in 0..<210 {
            if second < 205, let sequence = world.heldSequences.first {
                world.conclude(sequence, .handedBack(until: []))
            }
            world.pass(.seconds(1))
        }
        return world
    }

    @Test("a handler that hands back for a word that is no condition is told so")
    func unknownUntil() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup"}}"#)
        world.conclude(Sequence(1), .handedBack(until: ["netwrok"]))
        let told = world.effects.contains { effect in
            guard case .notify(handler, .error(let fault)) = effect else { return false }
            return fault.sentence.contains("network")
        }
        #expect(told && world.waits("backup") == ["time"])
    }

    @Test("a crash or an overrun leaves the job with the core, which delivers it again")
    func crashed() throws {
        var world = try running()
        world.conclude(Sequence(1), .crashed)
        world.conclude(Sequence(1), .overrun)
        #expect(world.entry("backup")?.state == .queued && world.entry("backup")?.sequence == Sequence(1))
        world.conclude(Sequence(1), .deadLettered)
        #expect(world.pending.isEmpty)
    }

    @Test("a job is running once its handler is awake or tells of progress, which `pending` shows")
    func progress() throws {
        var world = try running()
        #expect(world.entry("backup")?.state == .queued)
        world.send(.progressed(handler, Sequence(1), done: 3, total: 10))
        let entry = try #require(world.entry("backup"))
        #expect(entry.state == .running && entry.progressDone == 3 && entry.progressTotal == 10)
    }

    @Test("a job that is submitted while it runs waits for the earlier run, and follows it")
    func earlierRun() throws {
        var world = try running()
        #expect(try world.order(#"{"submit":{"job":"backup","not_before_s":600}}"#).word == "submitted")
        #expect(try world.order(#"{"submit":{"job":"backup","not_before_s":300}}"#).word == "replaced")
        #expect(world.pending.map(\.state) == [.queued, .waiting])
        #expect(world.pending.last?.waitsFor.map(\.word) == ["earlier-run", "time"])
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(world.waits("backup") == ["time"])
        world.pass(.seconds(300))
        #expect(world.raised.count == 2)
    }

    @Test("a job that a manifest drops is cancelled, taken back, and its handler told")
    func undeclared() throws {
        var world = try running()
        try world.configure(plain.replacing("'backup'", with: "'other'"))
        #expect(world.held.isEmpty && world.pending.isEmpty && world.rows.isEmpty)
        let told = world.effects.contains { effect in
            guard case .notify(handler, .error(let fault)) = effect else { return false }
            return fault.code == .notRegistered
        }
        #expect(told)
    }

    @Test("what a handler that is no more was to get is dropped")
    func refused() throws {
        var world = try running()
        world.send(.removed(handler))
        #expect(world.pending.isEmpty && world.rows.isEmpty && world.open.isEmpty)
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(world.pending.isEmpty)
    }
}

@Suite("Jobs, over restarts and reboots")
struct JobsRestartTests {
    @Test("a restart of the bridge keeps what is queued as queued, and its slot")
    func keeps() throws {
        var world = try world(plain)
        for number in 2...3 { try world.configure(plain, of: HandlerID(rawValue: UInt32(number))) }
        for number in 1...3 {
            try world.order(#"{"submit":{"job":"backup"}}"#, of: HandlerID(rawValue: UInt32(number)))
        }
        world.restart()
        #expect(world.pending.map(\.state) == [.queued, .queued, .waiting])
        #expect(world.pending.last?.waitsFor.map(\.word) == ["slot"])
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(world.raised.count == 3)
    }

    @Test("with a clock that is right at both ends, a reboot counts the time that the machine was off")
    func reboots() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","not_before_s":3600}}"#)
        let due = world.entry("backup")?.due
        world.pass(.seconds(600))
        world.reboot(off: .seconds(1000))
        #expect(world.entry("backup")?.due == due)
        world.pass(.seconds(1979))
        #expect(world.raised.isEmpty)
        world.pass(.seconds(1))
        #expect(world.raised.count == 1)
    }

    @Test("without a right clock the rest of the time runs from boot, and is mended when the clock is right")
    func mends() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","not_before_s":3600}}"#)
        let due = world.entry("backup")?.due
        let before = world.wall
        world.reboot(off: .seconds(1000), synchronized: false)
        let trueWall = world.wall
        world.wall = before - .seconds(86_400)
        world.send(.clockChanged)
        world.pass(.seconds(100))
        #expect(world.entry("backup")?.due == world.wall + .seconds(3600 - 120))
        world.restart()
        (world.wall, world.isSynchronized) = (trueWall + .seconds(100), true)
        world.send(.clockChanged)
        #expect(world.entry("backup")?.due == due)
    }

    @Test("setting the clock moves no job within one boot")
    func clockSteps() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","not_before_s":3600}}"#)
        world.wall = world.wall + .seconds(7 * 86_400)
        world.send(.clockChanged)
        #expect(world.raised.isEmpty)
        world.pass(.seconds(3599))
        #expect(world.raised.isEmpty)
        world.pass(.seconds(1))
        #expect(world.raised.count == 1)
    }

    @Test("after the clock was set, a reboot still counts real time alone")
    func rebootsAfterStep() throws {
        var world = try world(plain)
        try world.order(#"{"submit":{"job":"backup","not_before_s":3600}}"#)
        world.pass(.seconds(10))
        world.wall = world.wall + .seconds(86_400)
        world.send(.clockChanged)
        world.pass(.seconds(590))
        world.reboot(off: .seconds(980))
        #expect(world.entry("backup")?.due == world.wall + .seconds(3600 - 600 - 1000))
    }

    @Test("what was overdue when the machine came up is spread over half a minute, and not all at once")
    func spreads() throws {
        var world = AgendaWorld()
        let manifest = "{jobs: [{id: 'look', kind: 'refresh', every: '1h'}], poll: {min_interval: '15m', require: []}}"
        for number in 1...40 { try world.configure(manifest, of: HandlerID(rawValue: UInt32(number))) }
        world.sleep(.seconds(40_000))
        let cameUp = world.moment.boottime
        #expect(world.raised.count < 10)
        world.pass(.seconds(30))
        #expect(world.raised.count == 80)
        #expect(Set(world.raised.map(\.at)).count > 20)
        #expect(world.raised.allSatisfy { $0.at >= cameUp && $0.at - cameUp <= .seconds(30) })
    }

    @Test("a changed period begins a new schedule, and a reload of the same manifest changes nothing")
    func reloads() throws {
        var world = try world(hourly)
        world.pass(.seconds(1800))
        let entry = world.entry("tidy")
        try world.configure(hourly)
        #expect(world.entry("tidy") == entry)
        try world.configure(hourly.replacing("1h", with: "2h"))
        #expect(world.entry("tidy")?.due == world.wall + .seconds(7200))
        try world.configure(hourly.replacing(", every: '1h'", with: ""))
        #expect(world.pending.isEmpty && world.rows.isEmpty)
    }
}
