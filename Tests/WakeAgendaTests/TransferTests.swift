// Transfers of handlers: when each may move, what is told of it and when, and what slows a chain of them.
import TestBench
import Testing
import WakeModel
import WakeTransfer

@testable import WakeAgenda

@Suite("Transfers of handlers")
struct TransferTests {
    private let photos = "{transfers: [{session: 'photos', discretionary: false, require: []}]}"
    private let handler = AgendaWorld.handler

    private func configured(_ manifest: String? = nil) throws -> AgendaWorld {
        var world = AgendaWorld()
        try world.configure(manifest ?? photos)
        world.send(.situated(handler, .awake))
        return world
    }

    private func text(_ id: String, _ more: String = "") -> String {
        #"{"transfer":{"session":"photos","id":"\#(id)","url":"http://h/\#(id)","to":"\#(id)"\#(more)}}"#
    }

    private func commands(_ world: AgendaWorld) -> [String] {
        world.effects.compactMap { effect in
            guard let command = effect.action(TransferAction.self)?.action.command else { return nil }
            switch command {
            case .start(let order): return "start \(order.path)"
            case .pause: return "pause"
            case .cancel: return "cancel"
            case .confirm: return "confirm"
            case .answer: return "answer"
            }
        }
    }

    private func numbers(_ world: AgendaWorld) -> [Int64] {
        world.effects.compactMap { effect in
            guard let action = effect.action(TransferAction.self)?.action, case .start = action.command else {
                return nil
            }
            return action.number
        }
    }

    private func end(_ world: inout AgendaWorld, _ failure: TransferFailure? = nil) {
        guard let number = numbers(world).last else { return }
        world.send(.transfer(handler, number, .ended(TransferResult(failure: failure, status: 200))))
    }

    private func names(_ world: AgendaWorld) -> [String] { world.raised.map(\.occasion.name) }

    private func acknowledge(_ world: inout AgendaWorld) {
        for sequence in world.heldSequences { world.conclude(sequence, .acknowledged(nil)) }
    }

    @Test("the end of each is told to a handler that is awake, and then once that its session has settled")
    func told() throws {
        var world = try configured()
        for id in ["1", "2"] { try world.order(text(id)) }
        for number in numbers(world) { world.send(.transfer(handler, number, .ended(TransferResult(status: 200)))) }
        #expect(names(world) == ["transfer.finished", "transfer.finished", "transfer.settled"])
        #expect(world.payload(2) == #"{"session":"photos","finished":2,"failed":0}"#)
        acknowledge(&world)
        #expect(world.rows.isEmpty || world.rows.keys.allSatisfy { $0.id.isEmpty || $0.source == .seen })
    }

    @Test("a handler that sleeps is woken once, when nothing of the session is open any more")
    func settledOnce() throws {
        var world = try configured()
        for id in ["1", "2", "3"] { try world.order(text(id)) }
        world.send(.situated(handler, .asleep))
        let all = numbers(world)
        for number in all.prefix(2) { world.send(.transfer(handler, number, .ended(TransferResult(status: 200)))) }
        #expect(world.raised.isEmpty)
        world.send(.transfer(handler, all[2], .ended(TransferResult(failure: .checksum))))
        #expect(names(world).filter { $0 == "transfer.settled" }.count == 1)
        #expect(names(world).last == "transfer.settled")
        #expect(world.payload(2).contains(#""ok":false,"why":"checksum""#), "\(world.payload(2))")
    }

    @Test("what was told and not acknowledged when the daemon died is not raised twice, and its end is confirmed again")
    func restart() throws {
        var world = try configured()
        try world.order(text("1"))
        end(&world)
        let number = try #require(numbers(world).first)
        let raised = world.raised.count
        world.restart()
        world.send(.transfer(handler, number, .ended(TransferResult(status: 200))))
        #expect(world.raised.count == raised)
        #expect(commands(world).last == "confirm")
        acknowledge(&world)
        world.send(.transfer(handler, number, .held))
        #expect(commands(world).last == "cancel", "what is not known any more is let go of")
    }

    @Test("what moved when the daemon died is asked for again, and only where its manifest still declares the session")
    func startedAgain() throws {
        var world = try configured()
        try world.order(text("1"))
        world.restart()
        #expect(commands(world) == ["start 1", "start 1"])
        try world.configure("{transfers: [{session: 'other'}]}")
        #expect(commands(world).last == "cancel" && world.pending.isEmpty)
    }

    @Test("four of a session move at a time, the oldest first, and one that ends makes room for the next")
    func parallel() throws {
        var world = try configured()
        for id in 1...6 { try world.order(text("\(id)")) }
        #expect(commands(world) == (1...4).map { "start \($0)" })
        #expect(
            world.pending.filter { $0.waitsFor.map(\.word) == ["place"] }.map(\.key.id) == ["photos/5", "photos/6"])
        world.send(.transfer(handler, numbers(world)[1], .ended(TransferResult(status: 200))))
        #expect(commands(world).contains("start 5") && !commands(world).contains("start 6"))
    }

    @Test("one that waits for a minute or more to be tried again leaves its place to others, over a restart too")
    func longRetry() throws {
        var world = try configured()
        for id in 1...5 { try world.order(text("\(id)")) }
        let all = numbers(world)
        world.send(.transfer(handler, all[0], .retries(in: .seconds(32), because: "cut")))
        #expect(commands(world) == (1...4).map { "start \($0)" })
        world.send(.transfer(handler, all[0], .retries(in: .seconds(64), because: "cut")))
        #expect(commands(world).suffix(2) == ["pause", "start 5"])
        world.restart()
        #expect(commands(world).suffix(4) == (2...5).map { "start \($0)" })
        #expect(world.waits("photos/1", .transfer) == ["retry"])
        world.send(.transfer(handler, all[1], .ended(TransferResult(status: 200))))
        #expect(commands(world).last == "confirm")
        world.pass(.seconds(65))
        #expect(commands(world).last == "start 1")
    }

    @Test("the same order again changes nothing; another one of that name, or for that file, is a conflict")
    func conflicts() throws {
        var world = try configured()
        #expect(try world.order(text("1")).word == "ordered")
        #expect(try world.order(text("1")).word == "known")
        for other in [
            text("1", #","sha256":"\#(String(repeating: "0", count: 64))""#),
            text("2").replacing(#""to":"2""#, with: #""to":"1""#),
        ] {
            guard case .fault(let fault) = try world.order(other) else {
                Issue.record("\(other) was taken")
                continue
            }
            #expect(fault.code == .conflict)
        }
    }

    @Test("one that is paused waits for its resume, and one with an earliest begin for that")
    func pausedAndLater() throws {
        var world = try configured()
        try world.order(text("1", #","paused":true"#))
        try world.order(text("2", #","not_before_s":3600"#))
        #expect(world.pending.map { $0.waitsFor.map(\.word) } == [["paused"], ["time"]])
        #expect(try world.order(#"{"resume":"photos/1"}"#).word == "resumed")
        #expect(commands(world) == ["start 1"])
        world.pass(.seconds(3_601))
        #expect(commands(world) == ["start 1", "start 2"])
    }

    @Test("what is ordered while no person has the handler waits for power, an unmetered link and a cool machine")
    func discretionary() throws {
        var world = try configured("{transfers: [{session: 'photos', require: []}]}")
        try world.order(text("1"))
        #expect(world.pending.first?.waitsFor.map(\.word) == ["power", "unmetered", "cool"])
        world.send(.situated(handler, .attached))
        try world.order(text("2"))
        #expect(commands(world) == ["start 2"])
        for condition in [Condition.power, .unmetered, .cool] { world.set(condition, true) }
        world.pass(.seconds(130))
        #expect(commands(world) == ["start 2", "start 1"])
        world.set(.power, false)
        world.pass(.seconds(11))
        #expect(commands(world).last == "pause")
    }

    @Test("a deadline waives what can be waived, and give_up ends it with that word")
    func deadlines() throws {
        var world = try configured("{transfers: [{session: 'photos', discretionary: false, give_up: '2h'}]}")
        try world.order(text("1", #","deadline_s":60"#))
        try world.order(text("2"))
        world.pass(.seconds(61))
        #expect(commands(world) == ["start 1"])
        world.pass(.seconds(7_200))
        #expect(world.raised.map(\.occasion.name).filter { $0 == "transfer.finished" }.count == 2)
        #expect(world.payload(0).contains(#""why":"gave-up""#))
    }

    @Test("https waits for a clock that is right, whatever its deadline")
    func secure() throws {
        var world = try configured()
        try world.order(text("1", #","deadline_s":60"#).replacing("http://", with: "https://"))
        world.pass(.seconds(61))
        #expect(world.pending.first?.waitsFor.map(\.word) == ["time-synced"])
    }

    @Test("a challenge wakes at once and takes no place; unanswered it fails after an hour")
    func challenge() throws {
        var world = try configured()
        try world.order(text("1"))
        world.send(.situated(handler, .asleep))
        let number = try #require(numbers(world).first)
        world.send(.transfer(handler, number, .challenged(realm: "r")))
        #expect(names(world) == ["transfer.challenge"])
        acknowledge(&world)
        world.pass(.seconds(3_601))
        #expect(names(world).suffix(2) == ["transfer.finished", "transfer.settled"])
        #expect(world.payload(1).contains(#""why":"unauthorized""#))
    }

    @Test("a credential goes to transferd and into no row")
    func credential() throws {
        var world = try configured()
        try world.order(text("1"))
        let credential = #"{"credential":{"transfer":"photos/1","user":"u","password":"hidden"}}"#
        guard case .fault(let fault) = try world.order(credential) else {
            Issue.record("A credential was taken that no server had asked for.")
            return
        }
        #expect(fault.code == .notPermitted)
        world.send(.transfer(handler, try #require(numbers(world).first), .challenged(realm: "r")))
        #expect(try world.order(credential).word == "given")
        #expect(commands(world).last == "answer")
        #expect(!world.rows.values.contains { String(decoding: $0, as: UTF8.self).contains("hidden") })
    }

    @Test("stopping a handler cancels its transfers, and when it is started it is told so")
    func stopped() throws {
        var world = try configured()
        try world.order(text("1"))
        try world.order(text("2", #","paused":true"#))
        world.send(.situated(handler, .stopped))
        #expect(commands(world).suffix(2) == ["cancel", "cancel"] && world.raised.isEmpty)
        #expect(world.pending.map { $0.waitsFor.map(\.word) } == [["session", "stopped"], ["session", "stopped"]])
        world.restart()
        #expect(world.raised.isEmpty)
        world.send(.situated(handler, .asleep))
        #expect(names(world) == ["transfer.finished", "transfer.finished", "transfer.settled"])
        #expect(world.payload(0).contains(#""why":"stopped""#))
    }

    @Test("what was dropped before it was delivered is told again after a minute")
    func dropped() throws {
        var world = try configured()
        try world.order(text("1"))
        world.send(.situated(handler, .asleep))
        end(&world)
        for sequence in world.heldSequences { world.conclude(sequence, .dropped) }
        world.pass(.seconds(61))
        #expect(names(world).filter { $0 == "transfer.settled" }.count == 2)
        #expect(
            world.raised.last.map { String(decoding: $0.occasion.payload, as: UTF8.self) }
                == #"{"session":"photos","finished":1,"failed":0}"#)
    }

    /// Both ends are told to a handler that was asleep, and one of them is given back until there is power.
    private func handedBack(_ isHandedBack: (Occasion) -> Bool) throws -> AgendaWorld {
        var world = try configured()
        try world.order(text("1"))
        world.send(.situated(handler, .asleep))
        end(&world)
        #expect(names(world) == ["transfer.finished", "transfer.settled"])
        for sequence in world.heldSequences {
            guard let occasion = world.held[sequence]?.occasion else { continue }
            world.conclude(sequence, isHandedBack(occasion) ? .handedBack(until: ["power"]) : .acknowledged(nil))
        }
        world.pass(.seconds(600))
        world.restart()
        world.pass(.seconds(600))
        return world
    }

    @Test("an end that was given back wakes by itself once that is true, over a restart and after its session was told")
    func endHandedBack() throws {
        var world = try handedBack { $0.name == "transfer.finished" }
        #expect(world.raised.count == 2 && world.waits("photos/1", .transfer) == ["power"])
        world.set(.power, true)
        world.pass(.seconds(130))
        #expect(names(world) == ["transfer.finished", "transfer.settled", "transfer.finished"])
        acknowledge(&world)
        #expect(world.pending.isEmpty)
    }

    @Test("the end of a session that was given back comes again once that is true, over a restart")
    func sessionHandedBack() throws {
        var world = try handedBack { $0.name == "transfer.settled" }
        #expect(world.raised.count == 2 && world.pending.isEmpty)
        world.set(.power, true)
        world.pass(.seconds(130))
        #expect(names(world) == ["transfer.finished", "transfer.settled", "transfer.settled"])
        #expect(world.payload(2) == world.payload(1))
        acknowledge(&world)
        #expect(world.open.isEmpty)
    }

    @Test("the answer to one that is cancelled lists none of the others")
    func cancelAnswer() throws {
        var world = try configured()
        for id in ["1", "2"] { try world.order(text(id)) }
        let cancel = #"{"cancel":{"transfer":"photos/1"}}"#
        let answer = try world.order(cancel)
        #expect(answer.word == "cancelled" && answer.entries.isEmpty)
        #expect(try world.order(cancel).word == "not-pending")
        #expect(world.pending.map(\.key.id) == ["photos/2"])
    }

    @Test("of a wake in which nothing more is ordered, nothing is kept")
    func chainOver() throws {
        var world = try configured()
        let limiter = AgendaKey(handler, .transfer, "")
        try world.order(text("1"))
        world.send(.situated(handler, .asleep))
        end(&world)
        #expect(world.rows[limiter] != nil)
        world.send(.situated(handler, .awake))
        acknowledge(&world)
        world.send(.situated(handler, .asleep))
        #expect(world.rows[limiter] == nil)
    }

    @Test("a chain of one-file transfers waits 0, 60, 120 and 240 s, and an attach begins it again")
    func chain() throws {
        var world = try configured()
        var delays: [Int64] = []
        for id in 1...5 {
            if id == 5 { world.send(.situated(handler, .attached)) }
            guard case .transfer(_, _, let wait?, _) = try world.order(text("\(id)")) else {
                Issue.record("transfer \(id) was refused")
                return
            }
            delays.append(wait.wholeMilliseconds / 1_000)
            world.send(.situated(handler, .asleep))
            world.pass(wait + .seconds(1))
            end(&world)
            world.send(.situated(handler, .awake))
            acknowledge(&world)
        }
        #expect(delays == [0, 60, 120, 240, 0])
    }

    @Test("ten that are ordered at once wait for nothing, and ten in one wake of a chain wait equally long")
    func tenAtOnce() throws {
        var world = try configured()
        for id in 1...10 { try world.order(text("\(id)")) }
        #expect(world.pending.allSatisfy { !$0.waitsFor.contains { $0.word == "time" } })
        world.send(.situated(handler, .asleep))
        while let number = numbers(world).last, world.raised.isEmpty {
            for number in numbers(world) { world.send(.transfer(handler, number, .ended(TransferResult(status: 200)))) }
            if numbers(world).last == number { break }
        }
        world.send(.situated(handler, .awake))
        let dues = try (11...20).map { id -> WallTime? in
            try world.order(text("\(id)"))
            return world.pending.last?.due
        }
        #expect(Set(dues).count == 1 && dues[0] == world.wall + .seconds(60))
    }

    @Test("a chain that is left alone for twice its wait begins again")
    func leftAlone() throws {
        var limiter = TransferLimiter(delay: .seconds(120), wokenAt: .seconds(1_000))
        limiter.wake(at: .seconds(1_239))
        #expect(limiter.delayOfOrder() == .seconds(240))
        var rested = TransferLimiter(delay: .seconds(120), wokenAt: .seconds(1_000))
        rested.wake(at: .seconds(1_240))
        #expect(rested.delayOfOrder() == .seconds(60))
        var long = TransferLimiter(delay: .seconds(3_600), wokenAt: .seconds(1_000))
        long.wake(at: .seconds(5_000))
        #expect(long.delayOfOrder() == .seconds(3_600))
    }
}

@Suite("Orders of transfers that are refused")
struct TransferFaultTests {
    static let orders: [(String, ProtocolFault.Code)] = [
        (#"{"transfer":true}"#, .malformed), (#"{"transfer":{}}"#, .malformed),
        (#"{"transfer":{"session":"photos"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"x","surprise":1}}"#, .unknownKey),
        (#"{"transfer":{"session":"photos","id":"1","to":"x"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"ftp://h/","to":"x"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://u:p@h/","to":"x"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"x","from":"y"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"x","method":"PUT"}}"#, .conflict),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","from":"x","method":"DELETE"}}"#, .unknownToken),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"/x"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"../x"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":".transfers/x"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"x","sha256":"abc"}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"x","expect_received":-1}}"#, .malformed),
        (#"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"x","paused":"yes"}}"#, .malformed),
        (
            #"{"transfer":{"session":"photos","id":"1","url":"http://h/","to":"x","not_before_s":60,"deadline_s":60}}"#,
            .conflict
        ),
        (#"{"transfer":{"session":"phots","id":"1","url":"http://h/","to":"x"}}"#, .notRegistered),
        (#"{"resume":17}"#, .malformed), (#"{"resume":"photos"}"#, .malformed),
        (#"{"resume":"photos/9"}"#, .notRegistered),
        (#"{"cancel":{"transfer":"photos"}}"#, .malformed), (#"{"cancel":{"transfers":false}}"#, .malformed),
        (#"{"credential":{"transfer":"photos/9","user":"u","password":"p"}}"#, .notRegistered),
        (#"{"credential":{"transfer":"photos/9","user":"u:v","password":"p"}}"#, .malformed),
        (#"{"credential":{"transfer":"photos/9","user":"u"}}"#, .malformed),
    ]

    @Test("each is told by its code, and nothing is open afterwards", arguments: orders)
    func refused(order: String, code: ProtocolFault.Code) throws {
        var world = AgendaWorld()
        try world.configure("{transfers: [{session: 'photos'}]}")
        guard case .fault(let fault) = try world.order(order) else {
            Issue.record("it was taken")
            return
        }
        #expect(fault.code == code, "\(fault)")
        #expect(world.pending.isEmpty)
    }

    @Test(
        "a manifest's sessions are refused for what does not fit",
        arguments: [
            "{transfers: {}}", "{transfers: [{}]}", "{transfers: [{session: 'a/b'}]}",
            "{transfers: [{session: 'a'}, {session: 'a'}]}", "{transfers: [{session: 'a', parallel: 0}]}",
            "{transfers: [{session: 'a', parallel: 17}]}", "{transfers: [{session: 'a', give_up: '5s'}]}",
            "{transfers: [{session: 'a', require: ['powr']}]}", "{transfers: [{session: 'a', wake: 1}]}",
        ])
    func badManifests(text: String) throws {
        var world = AgendaWorld()
        #expect(throws: (any Error).self) { try world.configure(text) }
    }

    @Test("a handler whose manifest has no transfers may order none")
    func notPermitted() throws {
        var world = AgendaWorld()
        try world.configure("{}")
        guard case .fault(let fault) = try world.order(TransferRequest.example) else {
            Issue.record("it was taken")
            return
        }
        #expect(fault.code == .notPermitted)
    }
}
