// Stories of messages that come in several notifications, and of characteristics that a peripheral may lack.
import TestBench
import Testing
import WakeModel

@testable import WakeSources

private let line = Framing.line

extension LinkScenario {
    /// Each notification is a piece of a line.
    fileprivate func say(_ text: String) { step(.value(heart, Array(text.utf8))) }

    /// What was raised since the last look, with lines as text.
    fileprivate func lines() -> [String] {
        news().map { word in
            let parts = word.split(separator: " ")
            guard ["data", "cut-short", "too-long", "no-start"].contains(parts[0]) else { return word }
            let bytes = (parts.last ?? "").split(separator: ",").compactMap { UInt8($0) }
            return "\(parts[0]) \(String(decoding: bytes, as: UTF8.self))"
        }
    }
}

@Suite("Link framing")
struct LinkFramingStories {
    private func ready(_ framing: Framing = line, read: [CharacteristicName] = []) -> LinkScenario {
        let story = LinkScenario(read: read, framing: framing)
        story.makeReady()
        _ = story.news()
        return story
    }

    @Test("notifications are pieces: a whole message is one event, told when its last piece came")
    func assembles() {
        let story = ready()
        story.say("12")
        story.advance(.seconds(1))
        story.say("3\n4")
        story.say("\n5\n6\n7")
        #expect(story.lines() == ["data 123", "data 4", "data 5", "data 6"])
        let again = ready()
        again.say("1")
        again.advance(.seconds(2))
        again.say("2\n")
        #expect(again.times() == ["data 49,50 at 2.2"])
    }

    @Test("half a message at a link's end is told as cut short, before the end is")
    func cutsShort() {
        let story = ready()
        story.say("1\n2")
        story.advance(.seconds(1))
        story.drop()
        #expect(story.lines() == ["data 1", "attention undecodable", "cut-short 2", "disconnected link-lost"])
        story.connect()
        story.resolve()
        _ = story.news()
        story.say("3\n")
        #expect(story.lines() == ["data 3"], "nothing of the last link is in it")
    }

    @Test("pieces that come before the link is proven are put together when it is, also where it ends before that")
    func early() {
        let story = LinkScenario(framing: line)
        story.answers[.startNotify(heart)] = .none
        story.appear()
        // Its words may be another program's reads, so they prove nothing.
        story.offer(heart, canRead: true)
        story.connect()
        story.resolve()
        story.say("1")
        story.say("2\n3")
        story.drop()
        let told = story.lines().filter { !$0.hasPrefix("gap") }
        #expect(
            told == ["connected", "data 12", "attention undecodable", "cut-short 3", "disconnected link-lost"])
    }

    @Test("a read's value is a message of its own and no piece, and what was notified around it stays in order")
    func reads() {
        let story = ready(read: [heart])
        story.say("1")
        story.say("2")
        story.step(.read(heart, Array("7".utf8)))
        story.say("3\n")
        #expect(story.lines() == ["data 7", "data 123"])
        story.step(.handlerReads(heart))
        story.say("4")
        story.say("9")
        story.step(.handlerRead(heart, Array("9".utf8)))
        story.say("5\n")
        #expect(story.lines() == ["data 45"], "what a handler's read brought is no piece either")
    }

    @Test("bytes that are no message are fragments, reported at most every ten seconds")
    func fragments() {
        let story = ready(.marked([.init(start: [0x24], rest: .line)]))
        story.say("x$1\n")
        story.say("y$2\n")
        #expect(
            story.lines() == ["attention undecodable", "no-start x", "data $1", "no-start y", "data $2"])
        story.advance(.seconds(10))
        story.say("z$3\n")
        #expect(story.lines() == ["attention undecodable", "no-start z", "data $3"])
        story.say("abcdefghijklmnopq")
        #expect(story.lines() == ["no-start abcdefghijklmnop"])
        story.say("$")
        #expect(story.lines() == ["no-start q"])
    }

    @Test("after the machine has slept, or was deaf, the half that was heard before does not go on")
    func sleeps() {
        let story = ready()
        story.say("12")
        story.sleep(.seconds(60))
        story.say("3\n")
        #expect(story.lines() == ["attention undecodable", "cut-short 12", "data 3"])
    }

    @Test("half a message is not taken for heard: what the bridge records reaches back to its first piece")
    func listening() {
        let story = ready()
        story.advance(.seconds(60))
        let before = story.stamp.wall
        story.say("1")
        story.advance(.seconds(40))
        story.say("2")
        #expect(story.machine.listening == .since(before))
        #expect(story.machine.surelyHeard(at: story.stamp.wall) == before)
        story.say("3\n")
        #expect(story.machine.listening == .since(story.stamp.wall))
    }

    @Test("200 links that end anywhere: every byte that was said stands in one event, in order")
    func walk() {
        var dice = Dice(26)
        for _ in 0..<200 {
            let story = ready(read: dice.isOne(in: 2) ? [heart] : [])
            var said: [UInt8] = []
            var heard: [UInt8] = []
            for number in 0..<dice.below(60) {
                let piece = (0..<dice.below(6)).map { _ in UInt8(ascii: dice.isOne(in: 3) ? "\n" : "x") }
                said += piece.filter { $0 != UInt8(ascii: "\n") }
                story.step(.value(heart, piece))
                if dice.isOne(in: 10) { story.step(.read(heart, [UInt8(number)])) }
                guard dice.isOne(in: 8) else { continue }
                story.drop()
                story.connect()
                story.resolve()
            }
            story.drop()
            let kinds = ["data 120", "cut-short ", "too-long "]
            for word in story.news() where kinds.contains(where: word.hasPrefix) {
                heard += word.split(separator: " ")[1].split(separator: ",").compactMap { UInt8($0) }
            }
            #expect(heard.count == said.count)
        }
    }
}

@Suite("Link included services")
struct LinkIncludedStories {
    @Test("what a peripheral lacks of an included service is passed over: at once, and without a word")
    func lacks() {
        let story = LinkScenario(notify: [heart, battery], read: [battery], optional: [battery])
        story.makeReady()
        #expect(story.news().filter { !$0.hasPrefix("gap") } == ["connected"])
        #expect(story.sentences() == [])
        // Its read tells whether it is there.
        #expect(story.asked().contains(.read(battery)))
        story.step(.answered(.read(battery), .unknownObject))
        story.advance(.seconds(600))
        #expect(story.news() == [] && story.sentences() == [] && story.machine.deadline == nil)
    }

    @Test("what the profile lists itself is waited for and missed as ever, beside an included one that is there")
    func misses() {
        let story = LinkScenario(notify: [heart, battery], optional: [battery])
        story.appear()
        story.offer(battery)
        story.connect()
        story.resolve()
        story.advance(.seconds(3))
        #expect(!story.machine.isReady)
        #expect(story.news() == [] && story.sentences().first?.contains("is not there") == true)
        let listed = LinkScenario(notify: [heart, battery])
        listed.settle()
        listed.connect()
        listed.resolve()
        listed.advance(.seconds(3))
        #expect(listed.news().contains("attention access-denied"))
    }

    @Test("an included one that is offered late is listened to, and the link goes on")
    func comesLate() {
        let story = LinkScenario(notify: [heart, battery], optional: [battery])
        story.makeReady()
        _ = story.asked()
        story.offer(heart, battery)
        #expect(story.asked().contains(.startNotify(battery)))
        #expect(!story.news().contains { $0.hasPrefix("disconnected") })
        story.say(50, on: battery)
        #expect(story.news() == ["data 50"])
    }

    @Test("with nothing but included ones a link is ready without them, and no gap says that they were not heard")
    func onlyIncluded() {
        let story = LinkScenario(notify: [battery], read: [heart], optional: [battery])
        story.appear()
        story.connect()
        story.resolve()
        #expect(story.machine.isReady && story.news() == ["connected"])
    }
}

@Suite("Link asking")
struct LinkAskingStories {
    private static let pack = BluetoothUUID(short: 0xfff2)
    private static func question(_ byte: UInt8) -> AskPlan.Question { .init(to: .characteristic(pack), bytes: [byte]) }
    private static let plan = AskPlan(
        start: [question(1), question(2)], poll: [.init(question(3), every: .seconds(10))])

    @Test("the start is asked on each link after arming; answers are ordinary values; polls while it is wanted")
    func asks() {
        let story = LinkScenario(ask: Self.plan)
        story.settle()
        story.connect()
        story.advance(.milliseconds(200))
        #expect(story.questions() == [])
        story.resolve()
        #expect(story.questions() == [1])
        story.say(7)
        #expect(story.questions() == [2])
        story.say(8)
        #expect(story.questions() == [] && story.news().suffix(2) == ["data 7", "data 8"])
        story.step(.wanted(true))
        #expect(story.questions() == [3])
        story.say(9)
        story.advance(.seconds(20))
        #expect(story.questions() == [3, 3])
        story.drop()
        story.advance(.seconds(60))
        #expect(story.questions() == [])
        story.connect()
        story.resolve()
        #expect(story.questions() == [1])
    }

    @Test("nothing is asked while it is paused or closed; open again, it is asked from the start")
    func sessions() {
        for session in [LinkSession.paused, .closed] {
            let story = LinkScenario(ask: Self.plan)
            story.makeReady()
            story.step(.wanted(true))
            story.advance(.seconds(30))
            _ = story.questions()
            story.step(.session(session))
            story.advance(.seconds(3))
            #expect(story.questions() == [])
        }
    }

    @Test("a piece of an answer is none, and neither is what a read brings: the whole message is")
    func pieces() {
        let story = LinkScenario(read: [battery], framing: line, ask: Self.plan)
        story.makeReady()
        #expect(story.questions() == [1])
        story.say(7)
        story.step(.read(battery, [5]))
        #expect(story.questions() == [])
        story.say(10)
        #expect(story.questions() == [2])
    }

    @Test("that it does not answer, or cannot be asked, is logged once; and asking goes on")
    func complains() {
        let story = LinkScenario(ask: Self.plan)
        story.makeReady()
        _ = story.sentences()
        story.advance(.seconds(60))
        #expect(story.questions() == [1, 2])
        #expect(story.sentences() == ["it does not answer what its profile asks"])
        #expect(story.machine.asking.trouble == .silent)
        let other = LinkScenario(ask: Self.plan)
        other.refusalToAsk = .other("it has no characteristic fff2")
        other.makeReady()
        other.advance(.seconds(60))
        #expect(other.questions() == [1, 1, 1, 2, 2, 2])
        #expect(
            other.sentences() == ["what its profile asks cannot be written: it has no characteristic fff2"])
    }
}
