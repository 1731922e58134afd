// Several characteristics of one UUID, such as two batteries: each is armed, and each value has the name of its own.
import Testing
import WakeModel

@testable import WakeSources

@Suite("Characteristics of one UUID")
struct LinkTwinStories {
    private let second = CharacteristicName(BluetoothUUID(short: 0x2a19), number: 2)

    private func story(read: [CharacteristicName] = []) -> LinkScenario {
        let story = LinkScenario(notify: [heart, battery], read: read)
        for request in [LinkRequest.startNotify(second), .stopNotify(second)] { story.answers[request] = .some(nil) }
        return story
    }

    private func values(_ story: LinkScenario) -> [Channel: [UInt8]] {
        Dictionary(
            story.all.compactMap { kind in
                if case .data(let channel, let bytes) = kind { (channel, bytes) } else { nil }
            }, uniquingKeysWith: +)
    }

    @Test("both are switched on, and what they send is told apart")
    func both() {
        let story = story()
        story.appear()
        story.offer(heart, battery, second)
        story.connect()
        story.resolve()
        let asked = story.asked()
        for name in [heart, battery, second] { #expect(asked.contains(.startNotify(name)), "\(name)") }
        #expect(story.machine.isReady && story.news() == ["gap 0.0-0.0", "connected"])
        story.say(0x31, on: battery)
        story.say(0x59, on: second)
        story.say(0x30, on: battery)
        story.say(0x58, on: second)
        #expect(values(story) == [.characteristic(battery): [0x31, 0x30], .characteristic(second): [0x59, 0x58]])
        #expect(Channel.characteristic(second).wireName.text == "2a19#2")
    }

    @Test("the second is no reason not to hear the first: refused, it is named in the attention and asked again")
    func refused() {
        let story = story()
        story.answers[.startNotify(second)] = .some(.other("no"))
        story.appear()
        story.offer(heart, battery, second)
        story.connect()
        story.resolve()
        #expect(story.machine.isReady && story.news() == ["gap 0.0-0.0", "connected", "attention access-denied"])
        #expect(story.sentences().contains { $0.contains("2a19#2") })
        story.answers[.startNotify(second)] = .some(nil)
        _ = story.asked()
        story.advance(.seconds(5))
        #expect(story.asked().contains(.startNotify(second)))
    }

    @Test("one that is offered late is armed when it comes, and no link ends for it")
    func late() {
        let story = story()
        story.appear()
        story.offer(heart, battery)
        story.connect()
        story.resolve()
        _ = (story.asked(), story.news())
        story.tell { $0.channels[second] = .init(path: "/char9", hasConfiguration: true) }
        #expect(story.asked() == [.startNotify(second), .readConfiguration(second)])
        #expect(!story.news().contains { $0.hasPrefix("disconnected") })
    }

    @Test("what is read at each connect is read of all of them")
    func reads() {
        let story = story(read: [battery])
        story.appear()
        story.offer(heart, battery, second)
        story.connect()
        story.resolve()
        let asked = story.asked()
        #expect(asked.contains(.read(battery)) && asked.contains(.read(second)))
    }
}
