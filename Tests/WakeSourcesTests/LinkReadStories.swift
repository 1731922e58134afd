// Stories of what is read: the value that a read causes, and what the peripheral says by itself meanwhile.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Link reads")
struct LinkReadStories {
    @Test("the value that a read causes is told once, and what is notified meanwhile is told too, in order")
    func reads() {
        let story = LinkScenario(read: [heart])
        story.makeReady()
        #expect(story.asked().last == .read(heart))
        _ = story.news()
        story.say(1)
        story.say(2)
        story.say(3)
        story.step(.read(heart, [3]))
        #expect(story.news() == ["data 1", "data 2", "data 3"])
        story.say(3)
        #expect(story.news() == ["data 3"])
    }

    @Test(
        "of two reads at once neither one's value is taken for the peripheral's, be they answered together or in turn")
    func readsTwice() {
        let story = LinkScenario()
        story.makeReady()
        _ = story.news()
        for _ in 0..<2 { story.step(.handlerReads(heart)) }
        for value in [7, 8] as [UInt8] {
            story.say(value)
            story.step(.handlerRead(heart, [value]))
        }
        #expect(story.news() == [])
        for _ in 0..<2 { story.step(.handlerReads(heart)) }
        story.say(9)
        for _ in 0..<2 { story.step(.handlerRead(heart, [9])) }
        #expect(story.news() == [])
        story.say(9)
        #expect(story.news() == ["data 9"])
    }

    @Test("a handler's read beside the bridge's own: the value is told once, for the bridge's")
    func readsBeside() {
        let story = LinkScenario(read: [heart])
        story.makeReady()
        _ = story.news()
        story.step(.handlerReads(heart))
        story.say(7)
        story.step(.read(heart, [7]))
        story.say(7)
        story.step(.handlerRead(heart, [7]))
        #expect(story.news() == ["data 7"])
        story.say(7)
        #expect(story.news() == ["data 7"])
    }

    @Test("what was notified while a read was at work is told whatever becomes of the read")
    func readsInVain() {
        let story = LinkScenario(read: [heart])
        story.makeReady()
        _ = story.news()
        story.say(1)
        story.step(.answered(.read(heart), .other("Read not permitted")))
        #expect(story.news() == ["data 1"])
        story.drop()
        story.connect()
        story.resolve()
        _ = story.news()
        story.say(2)
        story.step(.read(heart, [9]))
        #expect(story.news() == ["data 2", "data 9"])
        story.drop()
        story.connect()
        story.resolve()
        _ = story.news()
        story.say(3)
        story.drop()
        #expect(story.news() == ["data 3", "disconnected link-lost"])
    }
}
