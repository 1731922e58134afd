// The stream of another bridge: what is raised of it, once and in order, whatever a broker makes of it.
import Testing
import WakeModel

@testable import WakeSources

@Suite("The stream of another bridge")
struct RemoteStreamTests {
    private var kitchen = KitchenBridge()

    @Test("a device comes with its name there, its value and its time, and is connected before it speaks")
    mutating func first() throws {
        var follower = Follower()
        follower.hear(.reached)
        follower.hear([kitchen.beat(61), kitchen.beat(62)])
        #expect(follower.story == ["+", "61", "62"])
        let device = try #require(follower.introduced.first)
        #expect(follower.introduced.count == 1)
        #expect(device.uri == "/remote/kitchen/bluetooth/C0:F1:F2:F3:F4:01" && device.alias == "kitchen/chest-strap")
        #expect(device.profile == "heart-rate-monitor" && device.kind == .remote && device.isBonded)
    }

    @Test("one that begins to follow amid a count misses nothing")
    mutating func joins() {
        kitchen.lose(400)
        var follower = Follower()
        follower.hear([kitchen.beat(61)])
        #expect(follower.story == ["+", "61"])
    }

    @Test("what comes twice is raised once, be it at once or much later")
    mutating func duplicates() {
        let lines = [kitchen.connect(), kitchen.beat(61), kitchen.beat(62), kitchen.disconnect()]
        var follower = Follower()
        follower.hear(lines)
        follower.hear([lines[3]])
        follower.hear(lines)
        #expect(follower.story == ["+", "61", "62", "-timeout"])
    }

    @Test("numbers that never come are one gap, from the last that came to the next")
    mutating func missing() {
        var follower = Follower()
        follower.hear([kitchen.beat(61)])
        kitchen.lose(5)
        follower.hear([kitchen.beat(62), kitchen.beat(63)])
        #expect(follower.story == ["+", "61", "gap link 1-7", "62", "63"])
    }

    @Test("what a broker delivers late was told as lost, and is not raised again")
    mutating func reordered() {
        let lines = (60...65).map { kitchen.beat($0) }
        var follower = Follower()
        follower.hear([lines[0], lines[3], lines[1], lines[2], lines[4]])
        #expect(follower.story == ["+", "60", "gap link 1-4", "63", "64"])
    }

    @Test("a loss that the other bridge tells is one gap of its cause, also with numbers missing before it")
    mutating func toldLoss() {
        var follower = Follower()
        follower.hear([kitchen.beat(61), kitchen.loss(10), kitchen.beat(62)])
        #expect(follower.removeStory() == ["+", "61", "gap overflow 2-11", "62"])
        kitchen.lose(3)
        follower.hear([kitchen.loss(4), kitchen.beat(63)])
        #expect(follower.story == ["gap overflow 12-19", "63"])
    }

    @Test("a loss that grew while it was told again is told from where the first one ended")
    mutating func grownLoss() {
        var follower = Follower()
        follower.hear([kitchen.beat(61), kitchen.loss(4)])
        kitchen.published -= 4
        follower.hear([kitchen.loss(6), kitchen.beat(62)])
        #expect(follower.story == ["+", "61", "gap overflow 2-5", "gap overflow 2-7", "62"])
    }

    @Test("a new count is one gap of cause bridge-restart, and what comes late of the old one is known")
    mutating func newLife() {
        var follower = Follower()
        let old = kitchen.beat(61)
        follower.hear([old])
        kitchen.life = "0000000000000002"
        kitchen.published = 0
        follower.hear([kitchen.beat(62), old, kitchen.beat(63)])
        #expect(follower.story == ["+", "61", "gap bridge-restart 1-1", "62", "63"])
    }

    @Test("counts that take turns make one gap each, and no more")
    mutating func alternatingLives() {
        var other = KitchenBridge(life: "0000000000000002")
        var follower = Follower()
        for _ in 0..<20 { follower.hear([kitchen.beat(61), other.beat(62)]) }
        #expect(follower.story.count { $0.hasPrefix("gap") } == 1, "\(follower.story)")
        #expect(follower.story.count { $0 == "62" } == 20)
    }

    @Test("after a restart it goes on behind the last that was committed, and what comes again is known")
    mutating func restarts() {
        let lines = (60...66).map { kitchen.beat($0) }
        var follower = Follower()
        follower.hear(Array(lines[...2]))
        var next = follower.restarted()
        next.hear(.reached)
        next.hear(lines)
        #expect(next.story == ["+", "63", "64", "65", "66"])
    }

    @Test("a restart that lost the newest cursor together with its events tells no second gap")
    mutating func uncertain() {
        var follower = Follower()
        follower.hear([kitchen.beat(61)])
        kitchen.lose(9)
        var next = follower.restarted(isCertain: false)
        next.hear([kitchen.beat(62)])
        kitchen.lose(1)
        next.hear([kitchen.beat(63)])
        #expect(next.story == ["+", "62", "gap link 11-13", "63"])
    }

    @Test("a gap is told of every device of the bridge, because any of them may have spoken")
    mutating func gapOfAll() {
        var follower = Follower()
        follower.hear([kitchen.beat(61), kitchen.beat(70, of: "/bluetooth/C0:F1:F2:F3:F4:02", alias: "second")])
        kitchen.lose(1)
        follower.hear([kitchen.beat(62)])
        #expect(follower.story.count { $0.hasPrefix("gap") } == 2)
    }

    @Test("gaps and attentions of a device come as they are, without numbers of the other journal")
    mutating func deviceGaps() {
        var follower = Follower()
        let numbers = #""cause":"storm","count":7,"first_seq":3,"last_seq":9"#
        let times = #""from":"2026-11-26T20:00:01Z","to":"2026-11-26T20:00:04Z""#
        follower.hear([
            kitchen.connect(), kitchen.event("gap", #""device":"chest-strap",\#(numbers),\#(times)"#),
            kitchen.event("attention", #""kind":"bond-invalid","detail":"pair it again""#),
        ])
        #expect(follower.story == ["+", "gap storm 1-4", "!bond-invalid"])
    }

    @Test("what is no device's, or comes from a third bridge, is counted and raises nothing")
    mutating func others() {
        var follower = Follower()
        follower.hear([kitchen.beat(61), kitchen.event("tasted", ""), kitchen.beat(9, of: "/remote/attic/bluetooth/1")])
        follower.hear([kitchen.beat(62)])
        #expect(follower.story == ["+", "61", "62"] && follower.refusals.isEmpty)
    }

    @Test("a name that the other bridge gives to another device is that device's here too")
    mutating func renamed() {
        var follower = Follower()
        follower.hear([kitchen.beat(61), kitchen.beat(70, of: "/bluetooth/C0:F1:F2:F3:F4:02")])
        let names = Dictionary(follower.introduced.map { ($0.uri, $0.alias) }) { $1 }
        #expect(names["/remote/kitchen/bluetooth/C0:F1:F2:F3:F4:02"] == "kitchen/chest-strap")
        #expect(names["/remote/kitchen/bluetooth/C0:F1:F2:F3:F4:01"] == "/remote/kitchen/bluetooth/C0:F1:F2:F3:F4:01")
    }

    @Test("a name of another bridge misleads nobody, and is the same wherever it comes from")
    mutating func plainNames() {
        var follower = Follower()
        follower.hear([kitchen.beat(61, alias: #"a\u202eb\u009bc"#)])
        #expect(follower.introduced.last?.alias == "kitchen/a\u{fffd}b\u{fffd}c")
        follower.hear(.forgotten(alias: "a\u{202e}b\u{9b}c"))
        #expect(follower.story.last == "-forgotten")
        let long = String(repeating: "x", count: 60_000)
        let description = RemoteDescription(source: "/bluetooth/1", profile: nil, isBonded: false)
        follower.hear(.described(alias: long, description))
        #expect(follower.introduced.last?.alias.utf8.count == "kitchen/".utf8.count + 512)
    }

    @Test("no more than a thousand devices are taken, and the rest is told and missing")
    mutating func tooMany() {
        var follower = Follower()
        for number in 0..<1_005 { follower.hear([kitchen.beat(61, of: "/bluetooth/\(number)", alias: "d\(number)")]) }
        #expect(Set(follower.introduced.map(\.uri)).count == 1_000 && follower.refusals.count == 5)
        follower.story = []
        follower.hear([kitchen.beat(62, of: "/bluetooth/1", alias: "d1")])
        #expect(follower.story.count { $0.hasPrefix("gap link") } == 1_000)
    }

    @Test("a cursor is what it was after it was written and read, with the lives that are over")
    func cursorText() {
        let cursor = StreamCursor(
            life: "b", number: 57, time: KitchenBridge.time(9), formerLives: ["a", "0"])
        #expect(StreamCursor(text: cursor.text) == cursor)
        for text in ["", "b", "b 57", "b x 9", "b 57 y", "b -1 9"] { #expect(StreamCursor(text: text) == nil) }
    }
}
