// Polls: when they are raised, what rides along, and what is kept.
import Testing
import WakeModel

@testable import WakeAgenda

private let handler = AgendaWorld.handler

@Suite("Polls")
struct PollsTests {
    private let quarter = "{poll: {min_interval: '15m', require: []}}"

    private func world(_ manifest: String) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(manifest)
        return world
    }

    private func poll(_ world: AgendaWorld) throws -> PendingEntry { try #require(world.entry("", .poll)) }

    @Test("a poll comes after its floor, on the grid of the machine, and is told its interval")
    func first() throws {
        var world = try world(quarter)
        world.pass(.seconds(899))
        #expect(world.raised.isEmpty && world.waits("", .poll) == ["time"])
        world.pass(.seconds(33))
        #expect(world.raised.count == 1 && world.payload(0) == #"{"interval_s":900,"last":null}"#)
        #expect(world.raised.first?.occasion.name == "poll.due" && world.raised.first?.occasion.budgetClass == .content)
        world.conclude(Sequence(1), .acknowledged(.nothing))
        world.pass(.seconds(1350 + 64))
        #expect(world.payload(1) == #"{"interval_s":1350,"last":"nothing"}"#)
    }

    @Test("polls of all handlers with one interval fall on one grid, so that they wake the machine together")
    func together() throws {
        var world = AgendaWorld()
        for number in 1...6 {
            try world.configure(quarter, of: HandlerID(rawValue: UInt32(number)))
            world.pass(.seconds(3))
        }
        world.pass(.seconds(1000))
        let instants = Set(world.raised.map(\.at))
        #expect(world.raised.count == 6 && instants.count <= 2)
        let seconds = TimeSpan.seconds(32).nanoseconds
        #expect(Set(instants.map { $0.nanoseconds % seconds }).count == 1)
    }

    @Test("never is a poll nearer to the one before than its floor, whatever the handler says and orders")
    func floor() throws {
        var world = try world(quarter)
        var delivered: [Instant] = []
        for turn in 0..<200 {
            world.pass(.seconds(Int64(60 + turn * 7 % 500)))
            world.send(.situated(handler, turn % 3 == 0 ? .awake : .asleep))
            if turn % 5 == 0 { try world.order("{\"poll\":{\"min_interval_s\":\(60 + turn * 10)}}") }
            guard let sequence = world.heldSequences.first else { continue }
            delivered.append(world.held[sequence]?.at ?? .zero)
            world.conclude(sequence, .acknowledged(turn % 2 == 0 ? .useful : .nothing), awake: .seconds(1))
        }
        #expect(delivered.count > 20)
        #expect(zip(delivered, delivered.dropFirst()).allSatisfy { $1 - $0 >= .seconds(900) })
    }

    @Test("a poll rides along with another wake once its floor and seven eighths of its interval have passed")
    func rides() throws {
        var world = try world("{poll: {min_interval: '10m', require: []}}")
        world.pass(.seconds(640))
        for _ in 0..<5 {
            world.conclude(try #require(world.heldSequences.first), .acknowledged(.nothing))
            world.pass(.seconds(9000))
        }
        world.conclude(try #require(world.heldSequences.first), .acknowledged(nil))
        let (base, count) = (world.moment.boottime, world.raised.count)
        let interval = try #require(try poll(world).interval)
        let ride = TimeSpan.milliseconds(interval.wholeMilliseconds * 7 / 8)
        world.pass(ride - .seconds(10))
        world.send(.situated(handler, .awake))
        #expect(world.raised.count == count)
        world.pass(.seconds(10))
        #expect(world.raised.count == count + 1 && world.raised.last?.at == base + ride)
    }

    @Test("a poll waits for the network, and goes without it only a ceiling after it was due")
    func network() throws {
        var world = try world("{poll: {min_interval: '15m', max_interval: '2h'}}")
        world.pass(.seconds(3600))
        #expect(world.raised.isEmpty && world.waits("", .poll) == ["network"])
        world.pass(.seconds(3600 + 1800))
        #expect(world.payload(0).contains(#""waived":["network"]"#))
        world.conclude(Sequence(1), .acknowledged(.failed))
        world.set(.network, true)
        world.pass(.seconds(940))
        #expect(world.raised.count == 2 && !world.payload(1).contains("waived"))
    }

    @Test("a poll that is handed back is the same poll again: it comes when the condition does, and its interval stays")
    func handedBack() throws {
        var world = try world(quarter)
        world.pass(.seconds(940))
        world.conclude(Sequence(1), .handedBack(until: ["network"]))
        world.pass(.seconds(100))
        #expect(world.waits("", .poll) == ["network"])
        world.set(.network, true)
        world.pass(.seconds(3))
        #expect(world.raised.count == 2 && world.payload(1) == #"{"interval_s":900,"last":null}"#)
    }

    @Test("without a floor nothing is polled until the handler orders it, and `never` ends that and is kept")
    func never() throws {
        var world = try world("{poll: {require: []}}")
        world.pass(.seconds(100_000))
        #expect(world.raised.isEmpty && world.pending.isEmpty)
        #expect(try world.order(#"{"poll":{"min_interval_s":900}}"#).word == "set")
        world.pass(.seconds(940))
        #expect(world.raised.count == 1)
        world.conclude(Sequence(1), .acknowledged(nil))
        #expect(try world.order(#"{"poll":"never"}"#).word == "never")
        world.restart()
        world.pass(.seconds(100_000))
        #expect(world.raised.count == 1 && world.pending.isEmpty)
    }

    @Test("an order below the manifest's floor gets the floor, as the answer shows")
    func floorStays() throws {
        var world = try world(quarter)
        let answer = try world.order(#"{"poll":{"min_interval_s":60}}"#)
        #expect(answer.word == "set" && answer.entries.map(\.interval) == [.seconds(900)])
        #expect(try world.order(#"{"poll":{"min_interval":"1h"}}"#).entries.map(\.interval) == [.seconds(3600)])
    }

    @Test("an overrun and a crash double the interval, and the poll stays with the core until it is given up")
    func fails() throws {
        var world = try world(quarter)
        world.pass(.seconds(940))
        world.conclude(Sequence(1), .crashed)
        world.conclude(Sequence(1), .overrun)
        #expect(try poll(world).state == .queued && poll(world).interval == .seconds(3600))
        world.conclude(Sequence(1), .deadLettered)
        #expect(try poll(world).state == .waiting)
        world.pass(.seconds(3599))
        #expect(world.raised.count == 1)
    }

    @Test("after a reboot a poll is overdue once at most, and what it learned is kept")
    func reboots() throws {
        var world = try world(quarter)
        world.pass(.seconds(940))
        world.conclude(Sequence(1), .acknowledged(.nothing))
        world.reboot(off: .seconds(86_400 * 3))
        world.pass(.seconds(30))
        #expect(world.raised.count == 2 && world.payload(1) == #"{"interval_s":1350,"last":"nothing"}"#)
        world.conclude(Sequence(2), .acknowledged(.useful))
        world.pass(.seconds(899))
        #expect(world.raised.count == 2)
    }

    /// A poll of half an hour that is raised as number 9, and has learned that the third hour of this Monday is quiet.
    private func learned(synchronized: Bool) throws -> AgendaWorld {
        var world = AgendaWorld(restored: false)
        world.isSynchronized = synchronized
        let hours = world.wall.microseconds / 3_600_000_000
        let row = """
            {"boot":"boot-1","at_ns":100000000000,"base_ns":100000000000,"due_ns":100000000000,
            "raised_ns":100000000000,"interval_ms":1800000,"awake_ms":0,"cpu_ms":0,
            "hours":[[\(hours % 168 + 2),2952,0,4,\(hours / 168)]],"seq":9,"relied":[],"since_us":0}
            """
        let key = AgendaKey(handler, .poll, "")
        world.send(.restored([AgendaRow(key: key, value: Array(row.utf8))], bootID: world.bootID))
        try world.configure("{poll: {min_interval: '30m', max_interval: '6h', require: []}}")
        world.pass(.seconds(2 * 3600))
        world.send(.concluded(handler, Sequence(9), .acknowledged(.failed), awake: .zero, cpu: .zero))
        return world
    }

    @Test("a poll moves out of an hour that never brought anything, and says so")
    func quietHour() throws {
        var world = try learned(synchronized: true)
        let start = world.wall
        world.pass(.seconds(3599))
        #expect(world.raised.isEmpty)
        #expect(try poll(world).history.last?.sentence.contains("out of the quiet hour Mon 02:00") == true)
        world.pass(.seconds(66))
        #expect(world.raised.count == 1 && world.wall > start + .seconds(3600))
    }

    @Test("a clock that is not to be trusted leaves out no hour, until it is right")
    func unknownHour() throws {
        var world = try learned(synchronized: false)
        #expect(try poll(world).due.map { $0 < world.wall + .seconds(1900) } == true)
        world.isSynchronized = true
        world.send(.clockChanged)
        #expect(try poll(world).due.map { $0 >= world.wall + .seconds(3600) } == true)
    }

    @Test("a person makes a poll due at once")
    func operated() throws {
        var world = try world("{poll: {min_interval: '15m'}}")
        world.send(.operated(AgendaKey(handler, .poll, ""), ref: nil))
        #expect(world.raised.count == 1 && world.payload(0).contains(#""waived":["network"]"#))
    }

    @Test("a manifest without poll forgets it")
    func forgets() throws {
        var world = try world(quarter)
        try world.configure("{}")
        #expect(world.pending.isEmpty && world.rows.isEmpty && world.open.isEmpty)
    }
}
