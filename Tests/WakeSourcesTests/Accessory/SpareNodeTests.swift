// Interfaces with several nodes that profiles know: one of them is opened, and it is the same whoever comes first.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

private let source = "/accessory/2341:0043:A1:00"

/// One interface with two nodes; `first` is the one to be opened.
private struct Pair {
    let bench: AccessoryBench
    let first = "input9-"
    let second = "input10-"
    let gadgets: [String: Gadget]

    init() throws {
        bench = try AccessoryBench()
        gadgets = [first: try Gadget(), second: try Gadget()]
    }

    func record(_ action: UdevRecord.Action, _ name: String, kind: String = "sensor") -> UdevRecord {
        bench.record(action, serial: "A1", node: gadgets[name]?.node, name: name, kind: kind)
    }

    func plug(_ names: [String]) { for name in names { bench.source.apply(.record(record(.add, name))) } }
    func unplug(_ names: [String]) { for name in names { bench.source.apply(.record(record(.remove, name))) } }

    var opened: String? { bench.source.node(of: source) }
    var spares: [String?] { bench.source.spareNodes.map(\.record.node) }
    func node(_ name: String) -> String? { gadgets[name]?.node }
}

@Suite("Several nodes of one interface")
struct SpareNodeTests {
    @Test("the same one is opened in whatever order they come, and the other is left alone, for all to see")
    func order() throws {
        for isForward in [true, false] {
            let pair = try Pair()
            pair.plug(isForward ? [pair.first, pair.second] : [pair.second, pair.first])
            #expect(pair.opened == pair.node(pair.first))
            #expect(pair.spares == [pair.node(pair.second)] && pair.bench.source.spareNodes[0].uri == source)
            #expect(try pair.bench.turn { pair.bench.story().last == "+" })
            pair.gadgets[pair.first]?.say("one\n")
            #expect(try pair.bench.turn { pair.bench.story() == ["+", ":one"] })
            #expect(pair.bench.registries.last?.uris == [source])
        }
    }

    @Test("a profile that is read later takes no node from one that is open, though its own goes before that")
    func readLater() throws {
        let pair = try Pair()
        pair.bench.unknown = ["later"]
        pair.bench.source.apply(.record(pair.record(.add, pair.first, kind: "later")))
        pair.plug([pair.second])
        #expect(try pair.bench.turn { pair.bench.story() == ["+"] })
        pair.bench.unknown = []
        try pair.bench.source.reconsider()
        #expect(pair.opened == pair.node(pair.second) && pair.spares == [pair.node(pair.first)])
        #expect(pair.bench.story() == ["+"])
    }

    @Test("where the one that is open goes alone, the other takes its place")
    func takesPlace() throws {
        let pair = try Pair()
        pair.plug([pair.first, pair.second])
        #expect(try pair.bench.turn { pair.bench.story() == ["+"] })
        pair.unplug([pair.first])
        #expect(pair.opened == nil)
        #expect(try pair.bench.turn { pair.opened == pair.node(pair.second) && pair.bench.story().last == "+" })
        #expect(pair.spares == [])
        pair.gadgets[pair.second]?.say("two\n")
        #expect(try pair.bench.turn { pair.bench.story() == ["+", "-unplugged", "+", ":two"] })
    }

    @Test("a device that goes with all its nodes is not opened by another one on its way")
    func allGo() throws {
        let pair = try Pair()
        pair.plug([pair.first, pair.second])
        #expect(try pair.bench.turn { pair.bench.story() == ["+"] })
        pair.unplug([pair.first])
        try pair.bench.pause(.milliseconds(100))
        pair.unplug([pair.second])
        try pair.bench.pause(.milliseconds(700))
        #expect(pair.bench.story() == ["+", "-unplugged"] && pair.spares == [])
    }

    @Test("where the profile of the one that is open knows it no more, the other takes its place")
    func loses() throws {
        let pair = try Pair()
        pair.plug([pair.first, pair.second])
        #expect(try pair.bench.turn { pair.bench.story() == ["+"] })
        pair.bench.source.apply(.record(pair.record(.change, pair.first, kind: "none")))
        #expect(try pair.bench.turn { pair.opened == pair.node(pair.second) })
        #expect(try pair.bench.turn { pair.bench.story().last == "+" })
        pair.bench.source.apply(.record(pair.record(.change, pair.first)))
        #expect(pair.opened == pair.node(pair.first) && pair.spares == [pair.node(pair.second)])
    }

    @Test("one that another profile knows from now on is that device, and gone as what it was")
    func changesProfile() throws {
        let pair = try Pair()
        pair.plug([pair.first])
        #expect(try pair.bench.turn { pair.bench.story() == ["+"] })
        pair.bench.source.apply(.record(pair.record(.change, pair.first, kind: "scale")))
        #expect(pair.bench.story() == ["+", "-unplugged"])
        #expect(pair.bench.known[source]?.profile == "scale")
        #expect(try pair.bench.turn { pair.bench.story().last == "+" })
    }

    @Test("what is left alone and known by no profile any more is no question any more")
    func forgotten() throws {
        let pair = try Pair()
        pair.plug([pair.first, pair.second])
        #expect(pair.spares.count == 1)
        pair.bench.source.apply(.record(pair.record(.change, pair.second, kind: "none")))
        #expect(pair.spares == [])
    }

    @Test(
        "numbers in places are compared by value",
        arguments: [
            ("input9/event2", "input10/event1"), ("a", "b"), ("a", "aa"), ("a1", "a1b"), ("x07", "x8"),
            ("1-2:1.0", "1-2:1.1"),
        ])
    func natural(one: String, two: String) {
        #expect(one.comesNaturally(before: two) && !two.comesNaturally(before: one))
        #expect(!one.comesNaturally(before: one))
    }

    @Test("a hundred devices at once are looked up once each, however many of them are undecided")
    func crowd() throws {
        let bench = try AccessoryBench()
        let records = (1...100).map {
            bench.record(.found, port: "\($0)", serial: "\($0)", node: "/dev/wakebridge-none")
        }
        bench.source.apply(.snapshot(records, afterLoss: false))
        #expect(bench.plansAsked == 100)
        #expect(bench.registries.count == 1 && bench.registries[0].uris.count == 100)
    }
}
