// Conditions of paths: the user who decides, the length of a path, and the number of paths in orders.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Conditions of paths")
struct PathConditionTests {
    private static let (first, second) = (HandlerID(rawValue: 1), HandlerID(rawValue: 2))
    private static let jobs = "jobs: [{id: 'backup', kind: 'processing'}, {id: 'sync', kind: 'processing'}]"

    private func submit(_ job: String, _ paths: [String]) -> String {
        let words = paths.map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"submit\":{\"job\":\"\(job)\",\"require\":[\(words)]}}"
    }

    @Test("a path that one handler's user cannot read keeps no other handler waiting for it, over a restart too")
    func ofEachReader() throws {
        var world = AgendaWorld()
        for handler in [Self.first, Self.second] {
            try world.configure("{\(Self.jobs)}", of: handler)
            try world.order(submit("backup", ["unlocked:/key"]), of: handler)
        }
        #expect(Set(world.open.keys) == [.unlocked("/key", by: Self.first), .unlocked("/key", by: Self.second)])
        world.restart()
        #expect(Set(world.open.keys) == [.unlocked("/key", by: Self.first), .unlocked("/key", by: Self.second)])
        world.set(.unlocked("/key", by: Self.second), true)
        world.pass(.seconds(1))
        #expect(world.raised.map(\.key.handler) == [Self.second])
        #expect(world.pending.first { $0.key.handler == Self.first }?.waitsFor.map(\.word) == ["unlocked:/key"])
    }

    @Test("a manifest's path is its own handler's too: a gate opens while another's stays closed")
    func gates() throws {
        var world = AgendaWorld()
        for handler in [Self.first, Self.second] { try world.configure("{after: ['unlocked:/key']}", of: handler) }
        world.set(.unlocked("/key", by: Self.first), true)
        world.pass(.seconds(1))
        #expect(world.gates == [Self.first: true, Self.second: false])
    }

    @Test("a person sees a path under one word, true where it is for all that wait, and plays it for all of them")
    func forPeople() throws {
        var world = AgendaWorld()
        for handler in [Self.first, Self.second] {
            try world.configure("{\(Self.jobs)}", of: handler)
            try world.order(submit("backup", ["unlocked:/key", "network"]), of: handler)
        }
        func standings() -> [ConditionStanding] {
            world.agenda.conditions(at: world.stamp).filter { $0.condition.word == "unlocked:/key" }
        }
        world.set(.unlocked("/key", by: Self.second), true)
        world.pass(.seconds(1))
        let standing = try #require(standings().first)
        #expect(standings().count == 1 && standing.condition == .unlocked("/key"))
        #expect(standing.isOpen && standing.raw == false && !standing.isTrue)
        #expect(standing.waiting == [AgendaKey(Self.first, .job, "backup")])
        world.send(.overridden(.unlocked("/key"), isTrue: true))
        #expect(standings().map(\.isTrue) == [true] && standings().first?.waiting == [])
        world.set(.network, true)
        world.pass(.seconds(3))
        #expect(Set(world.raised.map(\.key.handler)) == [Self.first, Self.second])
    }

    @Test("a path of more than 512 bytes or 32 names is refused with both numbers, in a manifest as in an order")
    func long() throws {
        let deep = String(repeating: "/d", count: 33)
        let long = "/" + String(repeating: "d", count: 512)
        for (path, numbers) in [(deep, "66 bytes through 33 names"), (long, "513 bytes through 1 name")] {
            for word in ["mount:\(path)", "unlocked:\(path)"] {
                let refused = thrown(ProtocolFault.self) { try Condition(word: word) }
                #expect(refused?.code == .tooLong && refused?.sentence.contains(numbers) == true)
                #expect(refused?.sentence.contains("the limits are 512 and 32") == true)
            }
        }
        #expect(try Condition(word: "mount:\(String(repeating: "/d", count: 32))").path?.utf8.count == 64)
        #expect(try Condition(word: "unlocked:/\(String(repeating: "d", count: 511))").path?.utf8.count == 512)
    }

    @Test(
        "the orders of a handler wait for four paths at most, beside those of its manifest and those that wait already")
    func four() throws {
        var world = AgendaWorld()
        try world.configure(
            "{after: ['mount:/own'], jobs: [{id: 'backup', kind: 'processing'}, {id: 'sync', kind: 'processing'}]}")
        let four = ["unlocked:/a", "unlocked:/b", "mount:/c", "mount:/d"]
        #expect(try world.order(submit("backup", four + ["mount:/own", "power"])).word == "submitted")
        let refused = try world.order(submit("sync", ["unlocked:/e"])).fault
        #expect(refused?.code == .tooMany)
        #expect(
            refused?.sentence
                == "submit \"sync\": orders of this handler may wait for 4 paths, and \"unlocked:/e\" would be one more."
        )
        #expect(world.entry("sync") == nil)
        #expect(try world.order(submit("sync", ["unlocked:/a", "mount:/own"])).word == "submitted")
        // The paths of a replaced order do not count.
        #expect(try world.order(submit("sync", [])).word == "replaced")
        #expect(try world.order(submit("backup", ["unlocked:/e", "unlocked:/f"])).word == "replaced")
        #expect(try world.order(submit("sync", ["unlocked:/g", "unlocked:/h"])).word == "replaced")
        #expect(try world.order(submit("sync", ["unlocked:/g", "unlocked:/h", "unlocked:/i"])).fault?.code == .tooMany)
        try world.configure("{\(Self.jobs)}", of: Self.second)
        #expect(try world.order(submit("backup", four), of: Self.second).word == "submitted")
    }

    @Test(
        "what is handed back for more paths than that waits for those it may, and its handler gets a fault for each other"
    )
    func handedBack() throws {
        var world = AgendaWorld()
        try world.configure("{\(Self.jobs)}")
        try world.order(submit("sync", ["unlocked:/a"]))
        try world.order(#"{"submit":{"job":"backup"}}"#)
        let sequence = try #require(world.heldSequences.first)
        let words = ["a", "b", "c", "d", "e", "f"].map { "unlocked:/\($0)" } + ["network"]
        world.conclude(sequence, .handedBack(until: words))
        let faults = world.effects.compactMap { effect -> ProtocolFault? in
            if case .notify(_, .error(let fault)) = effect { fault } else { nil }
        }
        #expect(faults.map(\.code) == [.tooMany, .tooMany])
        #expect(faults.first?.sentence.contains("\"unlocked:/e\"") == true)
        world.pass(.seconds(31))
        let waits = words.prefix(4) + ["network"]
        #expect(Set(world.waits("backup")) == Set(waits))
        #expect(Set(world.open.keys).count == 5)
    }
}
