// Random days of inboxes: each accepted message ends in exactly one way, and one script decides alike each time.
import TestBench
import Testing
import WakeModel

@testable import WakeAgenda

@Suite("Random days of inboxes")
struct InboxScriptTests {
    @Test(
        "O7: each accepted message is delivered, collapsed, expired, in a gap, or still there",
        arguments: 0..<20 as Range<UInt64>)
    func accounts(_ seed: UInt64) throws {
        var day = InboxDay(seed: seed)
        try day.run(steps: 400)
        #expect(day.accountsFor == Set(1..<day.sent + 1))
        #expect(day.endings.count == Set(day.endings).count, "one ended twice")
        #expect(day.world.gaps.reduce(0) { $0 + ($1.count ?? 0) } + day.unreported == day.overflowed)
    }

    @Test("O11: the same script decides the same, byte for byte", arguments: [3, 17] as [UInt64])
    func repeats(_ seed: UInt64) throws {
        var (one, other) = (InboxDay(seed: seed), InboxDay(seed: seed))
        try one.run(steps: 600)
        try other.run(steps: 600)
        #expect(one.world.decisions == other.world.decisions)
        #expect(one.world.storedRows == other.world.storedRows)
    }

    @Test("O4: whatever waits names what it waits for", arguments: 20..<30 as Range<UInt64>)
    func reasons(_ seed: UInt64) throws {
        var day = InboxDay(seed: seed)
        try day.run(steps: 200) { world in
            for entry in world.pending where entry.state == .waiting { #expect(!entry.waitsFor.isEmpty) }
        }
    }
}

private struct InboxDay {
    var world = AgendaWorld()
    private var dice: Dice
    private(set) var sent = 0
    private(set) var delivered: [Int] = []

    init(seed: UInt64) { dice = Dice(seed) }

    mutating func run(steps: Int, _ look: (AgendaWorld) -> Void = { _ in }) throws {
        try world.configure("{inbox: {rate: '60/h', burst: 2, keep: 5, ttl: '1h', max_latency: '10s'}}")
        world.send(.situated(AgendaWorld.handler, .asleep))
        for _ in 0..<steps {
            step()
            look(world)
        }
    }

    private mutating func pick<Element>(_ list: [Element]) -> Element { list[dice.below(list.count)] }

    private mutating func step() {
        switch dice.below(12) {
        case 0...4: post()
        case 5, 6: conclude()
        case 7: world.send(.situated(AgendaWorld.handler, pick([.asleep, .awake, .stopped, .attached])))
        case 8, 9: world.pass(.seconds(Int64(pick([1, 30, 700]))))
        case 10: world.restart()
        default: dice.below(4) == 0 ? world.reboot(off: .seconds(60)) : world.sleep(.seconds(90))
        }
    }

    private mutating func post() {
        sent += 1
        let topic = pick(["", #""topic":"a","#, #""topic":"b","#])
        let urgency = pick(["low", "normal", "normal", "high"])
        world.post(#"{\#(topic)"urgency":"\#(urgency)","ttl_s":\#(pick([0, 20, 600, 9_000]))}"#)
    }

    private mutating func conclude() {
        guard let sequence = world.heldSequences.first else { return }
        let conclusion = pick([Conclusion.acknowledged(nil), .acknowledged(nil), .crashed, .handedBack(until: [])])
        if case .acknowledged = conclusion, let id = world.held[sequence].flatMap({ Int($0.key.id) }) {
            delivered.append(id)
        }
        world.conclude(sequence, conclusion)
    }

    private func ids(of word: String) -> [Int] {
        world.decisions.compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 1 && words[1] == word ? Int(words[0]) : nil
        }
    }

    var endings: [Int] { delivered + ids(of: "collapse") + ids(of: "expire") + ids(of: "overflow") }
    var overflowed: UInt64 { UInt64(ids(of: "overflow").count) }

    /// Of those that were lost, and that no gap has told of yet.
    var unreported: UInt64 {
        let row = world.rows[AgendaKey(AgendaWorld.handler, .inbox, "")] ?? []
        return UInt64((try? JSONValue(parsing: row))?["lost"]?.integer ?? 0)
    }

    var accountsFor: Set<Int> { Set(endings).union(world.rows.keys.compactMap { Int($0.id) }) }
}
