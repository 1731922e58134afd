// The broadcasters that the watch follows, how often it reports them, and when they come and go.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

@Suite("Broadcasters")
struct BroadcastWatchTests {
    @Test("one that was named is introduced, comes, and is told with each new value")
    func allowed() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        room.hear(1, Room.data(7))
        room.pass(.seconds(1))
        room.hear(1, Room.data(8))
        #expect(room.story(of: 1) == ["+", "7", "8"])
        guard case .introduce(let device, _)? = room.all.first else {
            Issue.record("it was not introduced first")
            return
        }
        #expect(device.uri == "/bluetooth/C0:DE:00:00:00:01" && device.profile == "tag")
    }

    @Test("one that was not named is told of by nothing, whatever it says and however often")
    func strangers() {
        var room = Room()
        for value in 0..<200 { room.hear(2, Room.data(UInt8(value))) }
        room.pass(.seconds(3_600))
        #expect(room.all.isEmpty)
    }

    @Test("where all are to be learnt, each that a profile knows is told of, and no other")
    func learning() {
        var room = Room(BroadcastRules(learns: true))
        room.hear(1, Room.data(1))
        room.hear(2, [2, 0x01, 0x06])
        #expect(room.story(of: 1) == ["+", "1"] && room.story(of: 2).isEmpty)
    }

    @Test("a value that three channels or two adapters bring at once is told once; the same value later is told again")
    func echoes() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        for _ in 0..<3 {
            room.hear(1, Room.data(5))
            room.pass(.milliseconds(100))
        }
        room.pass(.milliseconds(400))
        room.hear(1, Room.data(5))
        #expect(room.story(of: 1) == ["+", "5", "5"])
    }

    @Test("an advertisement of which the profile reads nothing keeps it present, and is no value")
    func unread() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        for _ in 0..<100 {
            room.hear(1, Room.data())
            room.pass(.seconds(20))
        }
        #expect(room.story(of: 1) == ["+"])
    }

    @Test("it goes after 30 s of silence, and comes back with its next word")
    func presence() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        room.hear(1, Room.data(1))
        room.pass(.seconds(29))
        #expect(room.story(of: 1) == ["+", "1"])
        room.pass(.seconds(2))
        #expect(room.story(of: 1) == ["+", "1", "-silent"])
        room.hear(1, Room.data(2))
        #expect(room.story(of: 1) == ["+", "1", "-silent", "+", "2"])
    }

    @Test("one that speaks every two minutes is not gone between its words, once that is known")
    func slowSpeaker() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        for value in 0..<20 {
            room.hear(1, Room.data(UInt8(value)))
            room.pass(.seconds(120))
        }
        #expect(room.story(of: 1).filter { $0 == "-silent" }.count == 1)
        room.pass(.seconds(3_600))
        #expect(room.story(of: 1).last == "-silent")
    }

    @Test("silence while no radio listens is no going; what remains of it is counted when one listens again")
    func deaf() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        room.hear(1, Room.data(1))
        room.pass(.seconds(20))
        room.listen(false)
        room.pass(.seconds(100_000))
        #expect(room.story(of: 1) == ["+", "1"])
        room.listen(true)
        room.pass(.seconds(9))
        #expect(room.story(of: 1) == ["+", "1"])
        room.pass(.seconds(2))
        #expect(room.story(of: 1) == ["+", "1", "-silent"])
    }

    @Test("with presence switched off neither coming nor going is told")
    func withoutPresence() {
        var room = Room(BroadcastRules(presence: .zero))
        room.judge.meant = [Room.address(1)]
        room.hear(1, Room.data(1))
        room.pass(.seconds(1_000))
        room.hear(1, Room.data(2))
        #expect(room.story(of: 1) == ["1", "2"])
    }

    @Test("named later, it is told of from its next word; no longer named, it goes at once")
    func reconsidered() {
        var room = Room()
        room.hear(1, Room.data(1))
        room.judge.meant = [Room.address(1)]
        room.reconsider()
        room.hear(1, Room.data(2))
        #expect(room.story(of: 1) == ["+", "2"])
        room.judge.meant = []
        room.reconsider()
        room.hear(1, Room.data(3))
        #expect(room.story(of: 1) == ["+", "2", "-not-allowed"])
    }

    @Test("one that says in turn what two profiles read becomes that which a handler watches, whichever it said first")
    func severalFrames() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        room.judge.watched = ["probe"]
        room.hear(1, Room.data(1))
        for value in [UInt8(2), 3] {
            room.pass(.seconds(1))
            room.hear(1, [4, 0xff, 0x34, 0x12, value])
            room.hear(1, Room.data(1))
        }
        let introduced = room.all.compactMap { effect in
            if case .introduce(let device, _) = effect { device.profile } else { nil }
        }
        #expect(introduced == ["tag", "probe"])
        #expect(room.story(of: 1).contains("3"))
    }

    @Test("when other profiles are read, those that are there stay, and those that left meanwhile go")
    func otherProfiles() {
        var room = Room()
        room.judge.meant = [Room.address(1), Room.address(2)]
        for number in [UInt64(1), 2] { room.hear(number, Room.data(1)) }
        room.changeProfiles()
        room.pass(.seconds(1))
        room.hear(1, Room.data(2))
        room.pass(.seconds(29))
        room.hear(1, Room.data(3))
        #expect(room.story(of: 1) == ["+", "1", "2", "3"] && room.story(of: 2) == ["+", "1", "-silent"])
    }

    @Test("where all are to be learnt, an address that changes by itself is not, nor more than 4,096 of them")
    func learnsBounded() {
        var room = Room(BroadcastRules(learns: true))
        let passing = RadioAddress(number: 0x40de_0000_0001)
        _ = room.watch.hear(Sighting(passing, Room.data(1)), room.judge, at: room.now, listened: .zero)
        for number in 0..<5_000 { room.hear(UInt64(number), Room.data(1)) }
        #expect(room.watch.addresses.count == 4_096 && !room.watch.addresses.contains(passing))
        room.judge.meant = [Room.address(4_999), passing]
        room.reconsider()
        room.hear(4_999, Room.data(2))
        #expect(room.story(of: 4_999) == ["+", "2"])
    }

    @Test("given another name, it is introduced again under that")
    func renamed() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        room.hear(1, Room.data(1))
        room.judge.names[Room.address(1)] = "cellar"
        room.reconsider()
        guard case .introduce(let device, _)? = room.all.last else {
            Issue.record("it was not introduced again")
            return
        }
        #expect(device.alias == "cellar")
    }

    /// 200 broadcasters, 20 of them named, speak in any order, to a radio that is deaf at times.
    @Test(
        "in a crowd nothing wakes but those that were named, and each of their values is told once", arguments: 1...40)
    func crowd(seed: UInt64) {
        var dice = Dice(seed)
        var room = Room()
        room.judge.meant = Set((0..<20).map { Room.address($0) })
        var said: [UInt64: [String]] = [:]
        for step in 0..<4_000 {
            let number = UInt64(dice.below(200))
            if dice.isOne(in: 50) { room.listen(!room.listening.isRunning) }
            room.pass(.milliseconds(Int64(dice.below(40))))
            guard room.listening.isRunning else { continue }
            for _ in 0...dice.below(3) { room.hear(number, Room.data(UInt8(step >> 8), UInt8(step & 255))) }
            if number < 20 { said[number, default: []].append("\(step)") }
        }
        #expect(Set(room.told.keys).isSubset(of: room.judge.meant))
        for number in UInt64(0)..<20 {
            let story = room.story(of: number)
            let turns: [String] = story.filter { $0 == "+" || $0 == "-silent" }
            let values: [String] = story.filter { !turns.contains($0) }
            let words: [String] = said[number] ?? []
            #expect(values == words, "\(number)")
            let expected: [String] = turns.indices.map { $0.isMultiple(of: 2) ? "+" : "-silent" }
            #expect(turns == expected)
        }
    }

    @Test("one that was named is known whenever it says what a profile knows, however long it said something else")
    func lateWord() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        for _ in 0..<100 { room.hear(1, [2, 1, 6]) }
        room.hear(1, Room.data(1))
        #expect(room.story(of: 1) == ["+", "1"])
    }

    @Test(
        "where all are to be learnt, one that says its values in few of its advertisements is known from the first of them",
        arguments: [10, 100])
    func rareWord(repetitions: Int) {
        var room = Room(BroadcastRules(learns: true))
        for _ in 0..<2 {
            for _ in 0..<repetitions { room.hear(1, [2, 1, 6]) }
            room.hear(1, Room.data(7))
            room.pass(.seconds(1))
        }
        #expect(room.story(of: 1) == ["+", "7", "7"])
    }

    @Test("a stranger that always says something else is looked at eight times, and what it says again is no look")
    func manyWords() {
        var room = Room(BroadcastRules(learns: true))
        for word in 0..<7 { for _ in 0..<20 { room.hear(1, [2, 1, UInt8(word)]) } }
        room.hear(1, Room.data(7))
        for word in 0..<8 { room.hear(2, [2, 1, UInt8(word)]) }
        room.hear(2, Room.data(7))
        #expect(room.story(of: 1) == ["+", "7"] && room.story(of: 2).isEmpty)
    }

    @Test("of services that are said in the name of a meant one 64 are remembered, however many come")
    func manyServices() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        room.judge.mostServices = 64
        for number in 0..<1_000 { room.hear(1, [3, 0x03, UInt8(number & 255), UInt8(number >> 8)]) }
        #expect(room.all.isEmpty)
        room.judge.mostServices = 63
        room.hear(1, [3, 0x03, 0xff, 0xff])
        #expect(room.story(of: 1).first == "+")
    }

    @Test("addresses that change without end use no more memory than 4,096 of them")
    func bounded() {
        var room = Room()
        room.judge.meant = [Room.address(1)]
        room.hear(1, Room.data(1))
        for number in 0..<20_000 { room.hear(1_000 + UInt64(number), [2, 1, 6]) }
        #expect(room.watch.addresses == [Room.address(1)])
        room.pass(.seconds(1))
        room.hear(1, Room.data(2))
        #expect(room.story(of: 1) == ["+", "1", "2"])
    }
}

@Suite("Names and services in advertisements")
struct SightingTests {
    @Test("a name and services are read from any of their structures, and what is cut short ends them")
    func parts() throws {
        let text = "02010605095275623003030f1803020d180a16"
        let bytes = try #require([UInt8](hexadecimal: text))
        let sighting = Sighting(RadioAddress(number: 1), bytes)
        #expect(sighting.name == "Rub0")
        #expect(sighting.services == [BluetoothUUID(short: 0x180f), BluetoothUUID(short: 0x180d)])
    }

    @Test("a name that was cut within a character keeps what is valid of it", arguments: ["0809", "0808"])
    func cutName(head: String) throws {
        let bytes = try #require([UInt8](hexadecimal: head + "54c3bc72656ec3"))
        #expect(Sighting(RadioAddress(number: 1), bytes).name == "Türen")
    }

    @Test("an address is written as bluetoothd writes it, and read back")
    func address() throws {
        let address = try #require(RadioAddress("c0:f1:f2:f3:f4:01"))
        #expect(address.description == "C0:F1:F2:F3:F4:01")
        #expect(RadioAddress(sent: [0x01, 0xf4, 0xf3, 0xf2, 0xf1, 0xc0]) == address)
        #expect(RadioAddress("c0:f1:f2:f3:f4") == nil && RadioAddress("c0:f1:f2:f3:f4:0g") == nil)
    }
}
