// Lines that are typed: what becomes one event of the batches of a scanner's keys.
import Testing
import WakeModel
import WakeSystem

@testable import WakeSources

@Suite("A line that is typed")
struct TypedLineTests {
    private static let (a, b): (UInt16, UInt16) = (30, 48)
    private static let (enter, keypadEnter, shift): (UInt16, UInt16, UInt16) = (28, 96, 42)
    private static let pause = TimeSpan.milliseconds(200)

    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    private func batch(_ code: UInt16, _ value: Int32, _ milliseconds: Int64) -> InputBatch {
        let time = at(milliseconds)
        let scan = InputEvent(type: 4, code: 4, value: 7, time: time)
        return InputBatch(events: [scan, InputEvent(type: 1, code: code, value: value, time: time)], time: time)
    }

    /// Keys that go down and up, a millisecond each.
    private func press(_ codes: UInt16..., from start: Int64 = 0) -> [InputBatch] {
        codes.enumerated().flatMap { index, code in
            [batch(code, 1, start + Int64(index) * 2), batch(code, 0, start + Int64(index) * 2 + 1)]
        }
    }

    private func bytes(_ batches: some Collection<InputBatch>) -> [UInt8] {
        batches.flatMap { EvdevBatches.bytes(of: $0.events) }
    }

    /// What the batches end, each read when it came.
    private func lines(_ batches: [InputBatch], _ line: inout TypedLine) -> [TypedLine.Line] {
        batches.flatMap { line.append($0, readBy: $0.time) }
    }

    @Test("Enter of the keyboard or of its keypad ends a line, whose bytes are all its batches in their order")
    func enters() {
        for enter in [Self.enter, Self.keypadEnter] {
            var line = TypedLine(pause: Self.pause)
            let batches = press(Self.shift, Self.a, Self.b, enter)
            let whole = TypedLine.Line(bytes: bytes(batches.dropLast()), at: at(6))
            #expect(lines(batches, &line) == [whole])
            #expect(line.deadline == nil && line.untoldSince == nil)
        }
    }

    @Test("what types nothing wakes no handler, and stands before the next line's keys")
    func textless() {
        var line = TypedLine(pause: Self.pause)
        #expect(lines(press(Self.shift, Self.enter, Self.enter), &line) == [])
        #expect(line.deadline == nil && line.tick(at: at(10_000)) == nil)
        let told = lines(press(Self.a, Self.enter, from: 20_000), &line)
        let all = press(Self.shift, Self.enter, Self.enter) + press(Self.a, Self.enter, from: 20_000)
        #expect(told.map(\.bytes) == [bytes(all.dropLast())])
    }

    @Test("a silence ends a line without Enter, and not before it is over since the last key")
    func pauses() {
        var line = TypedLine(pause: Self.pause)
        #expect(lines(press(Self.a), &line) == [])
        #expect(line.deadline == at(201) && line.tick(at: at(200)) == nil)
        #expect(lines(press(Self.b, from: 200), &line) == [])
        #expect(line.tick(at: at(201)) == nil)
        #expect(line.tick(at: at(401)) == .init(bytes: bytes(press(Self.a) + press(Self.b, from: 200)), at: at(201)))
        #expect(line.tick(at: at(900)) == nil && line.deadline == nil)
    }

    @Test("at a loss or at the node's end what was typed is told; keys that typed nothing are let go")
    func ends() {
        var line = TypedLine(pause: Self.pause)
        _ = lines(press(Self.a, Self.enter), &line)
        #expect(line.end() == nil)
        _ = lines(press(Self.b), &line)
        #expect(line.untoldSince == at(0))
        #expect(line.end()?.bytes == bytes(press(Self.b)), "without what was let go before")
        #expect(line.end() == nil && line.untoldSince == nil)
    }

    @Test("keys without end are told in parts of what an event holds, and none is lost")
    func endless() {
        var line = TypedLine(pause: Self.pause)
        let batches = (0..<3_000).map { batch(Self.a, Int32($0 % 2), Int64($0)) }
        var told = lines(batches, &line)
        #expect(told.count == 2 && told.allSatisfy { $0.bytes.count <= TypedLine.longest })
        if let rest = line.end() { told.append(rest) }
        #expect(told.flatMap(\.bytes) == bytes(batches))
    }
}

/// What a test has the kernel say of an input device.
private final class PlayedFeed: InputFeed {
    var readings: [NodeReading<[InputEvent]>] = []
    var standing = InputState()

    var raw: Int32 { -1 }
    func read(after rest: inout [UInt8]) throws(SystemError) -> NodeReading<[InputEvent]> {
        readings.isEmpty ? .wouldBlock : readings.removeFirst()
    }
    func state() throws(SystemError) -> InputState { standing }
    func write(_ events: [InputEvent]) throws(SystemError) -> WriteResult { .wrote(events.count) }

    func say(_ batches: [InputBatch]) {
        let report = InputEvent(type: 0, code: 0, value: 0, time: .zero)
        for batch in batches { readings.append(.content(batch.events + [report])) }
    }
}

@Suite("A node of a device that types")
struct TypingNodeTests {
    private func key(_ code: UInt16, _ value: Int32) -> InputBatch {
        InputBatch(events: [InputEvent(type: 1, code: code, value: value, time: .zero)], time: .zero)
    }

    /// What was told: lines by the keys that go down in them, and `loss`.
    private func word(_ word: NodeWord) -> String {
        switch word {
        case .data(_, let bytes):
            stride(from: 0, to: bytes.count, by: 8).filter { bytes[$0 + 4] == 1 }.map { "\(bytes[$0 + 2])" }.joined(
                separator: " ")
        case .spoilt: "spoilt"
        case .loss: "loss"
        }
    }

    @Test("a line is told when Enter comes or the keys are silent, before a loss and at the end; else each batch is")
    func tells() throws {
        let feed = PlayedFeed()
        let node = try InputNode(feed, typingPause: .milliseconds(200), at: .zero)
        var told: [String] = []
        func tell(_ next: NodeWord, _: Instant) { told.append(word(next)) }
        func drain() throws { _ = try node.drain(at: SystemClock.monotonic(), tell) }
        feed.say([key(30, 1), key(30, 0), key(28, 1), key(28, 0), key(48, 1)])
        try drain()
        #expect(told == ["30 28"] && node.untoldSince != nil)
        let due = try #require(node.deadline)
        // What waits to be read at that time was not silent.
        feed.say([key(46, 1)])
        try node.tick(at: due, tell)
        #expect(told == ["30 28"])
        try node.tick(at: try #require(node.deadline), tell)
        #expect(told == ["30 28", "48 46"] && node.deadline == nil)
        let dropped = InputEvent(type: 0, code: 3, value: 0, time: .zero)
        let report = InputEvent(type: 0, code: 0, value: 0, time: .zero)
        feed.say([key(32, 1)])
        feed.readings.append(.content([dropped, report]))
        try drain()
        let later = SystemClock.monotonic() + .seconds(5)
        try node.tick(at: later, tell)
        #expect(told.suffix(2) == ["32", "loss"])
        feed.say([key(33, 1)])
        try drain()
        node.end(at: later + .seconds(1), tell)
        #expect(told.last == "33")
        let plain = try InputNode(feed, typingPause: nil, at: .zero)
        feed.say([key(30, 1), key(30, 0)])
        told = []
        _ = try plain.drain(at: later, tell)
        #expect(told == ["30", ""])
    }
}
