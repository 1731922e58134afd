// Input events in batches: recordings, made losses, and a walk beside a device whose buffer overflows again and again.
import TestBench
import Testing
import WakeModel
import WakeSources
import WakeSystem

private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }
private func event(_ type: UInt16, _ code: UInt16, _ value: Int32, _ milliseconds: Int64 = 0) -> InputEvent {
    InputEvent(type: type, code: code, value: value, time: at(milliseconds))
}
private func report(_ milliseconds: Int64 = 0) -> InputEvent { event(0, 0, 0, milliseconds) }
private func dropped(_ milliseconds: Int64 = 0) -> InputEvent { event(0, 3, 0, milliseconds) }

@Suite("Input events in batches") struct EvdevBatchTests {
    @Test("a batch is what one report ends, with its time and without it; an empty one is none")
    func batches() {
        var batches = EvdevBatches(known: InputState(), at: .zero)
        #expect(batches.apply([event(4, 4, 9, 1), event(1, 30, 1, 1)]) == [])
        let told = batches.apply([
            report(2), report(3), event(2, 0, -1, 4), event(0, 2, 0, 4), report(4), event(1, 30, 0, 5),
        ])
        #expect(
            told == [
                InputBatch(events: [event(4, 4, 9, 1), event(1, 30, 1, 1)], time: at(2)),
                InputBatch(events: [event(2, 0, -1, 4), event(0, 2, 0, 4)], time: at(4)),
            ])
        #expect(batches.stateDue == nil)
        #expect(EvdevBatches.bytes(of: told[0].events) == [4, 0, 4, 0, 9, 0, 0, 0, 1, 0, 30, 0, 1, 0, 0, 0])
    }

    @Test("a report over the limit comes in pieces, and one of just the limit whole")
    func cuts() {
        var batches = EvdevBatches(known: InputState(), at: .zero, eventLimit: 3)
        let axes = (0..<7).map { event(3, UInt16($0), 1) }
        let told = batches.apply(axes + [report(), axes[0], axes[1], axes[2], report()])
        #expect(told.map(\.events.count) == [3, 3, 1, 3])
        #expect(told.flatMap(\.events) == axes + axes.prefix(3))
    }

    @Test("a device that never ends its report is cut into pieces for ever, and held in no memory")
    func endless() {
        var batches = EvdevBatches(known: InputState(), at: .zero, eventLimit: 64)
        var count = 0
        for value in 0..<10_000 {
            for batch in batches.apply([event(2, 0, Int32(value))]) {
                #expect(batch.events.count == 64)
                count += batch.events.count
            }
        }
        #expect(count == 9_984)
    }

    @Test(
        "after a drop nothing is told up to the next report and until the node has answered, then what changed unheard")
    func resynchronizes() {
        var standing = InputState()
        standing.keys = [29]
        standing.axes = [0: 5, 1: 6]
        var batches = EvdevBatches(known: standing, at: at(0))
        #expect(batches.apply([event(1, 30, 1, 10), report(10)]).count == 1)
        // Half a batch was read before the loss.
        #expect(batches.apply([event(3, 0, 50, 20), dropped(30), event(1, 30, 0, 30)]) == [])
        #expect(batches.stateDue == nil, "half of something is still to come")
        #expect(batches.resynchronize(with: standing, at: at(31)).batches == [])
        #expect(batches.apply([report(32), event(1, 44, 1, 33), report(33)]) == [])
        #expect(batches.stateDue.map { $0 <= at(33) } == true)
        var now = InputState()
        now.keys = [29, 44]
        now.axes = [0: 50, 1: 6]
        let (told, loss) = batches.resynchronize(with: now, at: at(40))
        let wanted = [event(1, 30, 0, 40), event(1, 44, 1, 40), event(3, 0, 50, 40)]
        #expect(told == [InputBatch(events: wanted, time: at(40))])
        #expect(loss == InputLoss(from: at(10), to: at(40)))
        #expect(batches.stateDue == nil)
        #expect(batches.apply([event(1, 44, 0, 50), report(50)]).map(\.events) == [[event(1, 44, 0, 50)]])
    }

    @Test("a loss that changed nothing is told all the same, and without a batch")
    func tellsEmptyLoss() {
        var batches = EvdevBatches(known: InputState(), at: at(7))
        #expect(batches.apply([dropped(8), report(8)]) == [])
        let (told, loss) = batches.resynchronize(with: InputState(), at: at(9))
        #expect(told == [] && loss == InputLoss(from: at(7), to: at(9)))
        let (again, none) = batches.resynchronize(with: InputState(), at: at(10))
        #expect(again == [] && none == nil, "nobody asked")
    }

    @Test("a node that goes before it has answered leaves a loss from what was whole until then")
    func givesUp() {
        for rest in [[], [report(8)]] {
            var batches = EvdevBatches(known: InputState(), at: .zero)
            _ = batches.apply([event(1, 30, 1, 5), report(5)])
            #expect(batches.giveUp(at: at(6)) == nil)
            _ = batches.apply([dropped(7)] + rest)
            #expect(batches.giveUp(at: at(9)) == InputLoss(from: at(5), to: at(9)))
            #expect(batches.giveUp(at: at(9)) == nil, "told once")
            _ = batches.apply([report(10)])
            let later = batches.resynchronize(with: InputState(), at: at(11)).loss
            #expect(later == InputLoss(from: at(9), to: at(11)), "where it is listened to on")
        }
    }

    @Test("what changed unheard comes in pieces too where it is over the limit")
    func cutsAnswers() {
        var batches = EvdevBatches(known: InputState(), at: .zero, eventLimit: 4)
        #expect(batches.apply([dropped(), report()]) == [])
        var state = InputState()
        state.keys = Set(0..<10)
        let told = batches.resynchronize(with: state, at: at(1)).batches
        #expect(told.map(\.events.count) == [4, 4, 2])
    }

    @Test("a device that drops at every look is asked four times a second, not more, and never twice for one drop")
    func bounded() {
        var batches = EvdevBatches(known: InputState(), at: .zero)
        var answers = 0
        for millisecond in 0..<10_000 {
            #expect(batches.apply([dropped(Int64(millisecond)), event(1, 30, 1), report(Int64(millisecond))]) == [])
            guard let due = batches.stateDue else { continue }
            let loss = batches.resynchronize(with: InputState(), at: at(Int64(millisecond))).loss
            #expect((loss != nil) == (due <= at(Int64(millisecond))))
            if loss != nil { answers += 1 }
        }
        #expect(answers == 40)
    }

    @Test(
        "a recorded pad and a recorded headset come whole", .enabled(unless: DeviceCaptures.hindrance))
    func recordings() {
        for name in ["xbox-pad", "headset-buttons"] {
            let events = DeviceCaptures.lines("input/\(name).events").compactMap(recorded)
            #expect(events.count > 20)
            var batches = EvdevBatches(known: InputState(), at: .zero)
            let told = events.flatMap { batches.apply([$0]) }
            #expect(told.flatMap(\.events) == events.filter { $0.type != 0 || $0.code != 0 }, "\(name)")
            #expect(told.map(\.time) == events.filter(\.isReport).map(\.time), "\(name)")
            #expect(told.allSatisfy { batch in batch.events.allSatisfy { batch.time >= $0.time } })
        }
    }

    /// A line of evemu: `E: seconds.microseconds type code value`, type and code in base 16.
    private func recorded(_ line: String) -> InputEvent? {
        let words = line.split { $0 == " " || $0 == "\t" }
        guard words.count >= 5, words[0] == "E:", let type = UInt16(words[2], radix: 16) else { return nil }
        guard let code = UInt16(words[3], radix: 16), let value = Int32(words[4]) else { return nil }
        let parts = words[1].split(separator: ".").compactMap { Int64($0) }
        return InputEvent(
            type: type, code: code, value: value, time: .zero + .seconds(parts[0]) + .microseconds(parts[1]))
    }

    @Test("who follows the batches knows how the device stands, however often its buffer overflows", arguments: 0..<20)
    func walk(seed: Int) {
        var dice = Dice(UInt64(seed))
        var device = Device()
        var batches = EvdevBatches(known: device.state, at: .zero, eventLimit: 1 + dice.below(8))
        var follower = device.state
        var (answers, losses): ([Int64], Int) = ([], 0)
        func hear(_ told: [InputBatch]) {
            for event in told.flatMap(\.events) {
                #expect(!event.isReport && !event.isDropped)
                follower.apply(event)
            }
        }
        for time in 0..<Int64(3_000) {
            for _ in 0..<dice.below(time > 2_900 ? 1 : 4) { device.act(&dice, at: at(time)) }
            if dice.isOne(in: 3) || time > 2_900 { hear(batches.apply(device.read(1 + dice.below(40)))) }
            guard let due = batches.stateDue, due <= at(time) else { continue }
            hear(batches.apply(device.read(.max)))
            let (told, loss) = batches.resynchronize(with: device.answer(), at: at(time))
            #expect(loss != nil)
            hear(told)
            answers.append(time)
            losses += 1
        }
        hear(batches.apply(device.read(.max)))
        if batches.stateDue != nil { hear(batches.resynchronize(with: device.answer(), at: at(9_000)).batches) }
        #expect(follower == device.state)
        #expect(losses > 2)
        #expect(zip(answers, answers.dropFirst(4)).allSatisfy { $1 - $0 >= 1_000 })
    }

    @Test("any events at all never stop the bridge, and no batch is empty or over the limit")
    func fuzz() {
        var dice = Dice(77)
        var batches = EvdevBatches(known: InputState(), at: .zero, eventLimit: 5)
        for turn in 0..<20_000 {
            let events = (0..<dice.below(9)).map { _ in
                event(
                    UInt16(dice.below(dice.isOne(in: 9) ? 65_536 : 6)),
                    UInt16(dice.below(dice.isOne(in: 9) ? 65_536 : 64)),
                    Int32(truncatingIfNeeded: dice.below(1 << 40)), Int64(dice.below(1 << 30)))
            }
            for batch in batches.apply(events) { #expect((1...5).contains(batch.events.count)) }
            if dice.isOne(in: 50) { _ = batches.resynchronize(with: InputState(), at: at(Int64(turn) * 1_000)) }
        }
    }
}

/// A pad with keys, axes and three contacts, and the kernel's buffer of what it told: on overflow all is thrown away but the
/// newest event.
private struct Device {
    private(set) var state = InputState()
    private var buffer: [InputEvent] = []
    /// Of a report that has not ended nothing is read.
    private var pending: [InputEvent] = []

    init() {
        state.axes = [0: 0, 1: 0, 0x2f: 0]
        state.slots = [0x35: [0, 0, 0], 0x39: [-1, -1, -1]]
    }

    mutating func act(_ dice: inout Dice, at time: Instant) {
        for _ in 0...dice.below(4) {
            switch dice.below(4) {
            case 0:
                let key = UInt16(dice.below(6))
                say(1, key, state.keys.contains(key) ? 0 : 1, time)
            case 1: say(3, UInt16(dice.below(2)), Int32(dice.below(100)), time)
            case 2: say(2, 0, 1, time)
            default:
                let slot = Int32(dice.below(3))
                if state.axes[0x2f] != slot { say(3, 0x2f, slot, time) }
                say(3, dice.isOne(in: 2) ? 0x35 : 0x39, Int32(dice.below(100)), time)
            }
        }
        say(0, 0, 0, time)
        buffer += pending
        pending = []
    }

    private mutating func say(_ type: UInt16, _ code: UInt16, _ value: Int32, _ time: Instant) {
        let event = InputEvent(type: type, code: code, value: value, time: time)
        state.apply(event)
        pending.append(event)
        guard buffer.count + pending.count > 24 else { return }
        buffer = []
        pending = [InputEvent(type: 0, code: 3, value: 0, time: time), event]
    }

    mutating func read(_ limit: Int) -> [InputEvent] {
        let events = Array(buffer.prefix(limit))
        buffer.removeFirst(events.count)
        return events
    }

    /// The kernel throws away events of keys that wait when it tells of keys.
    mutating func answer() -> InputState {
        buffer.removeAll { $0.type == 1 }
        return state
    }
}
