// The outbox: what it keeps, what it counts as lost, and what a process finds that comes after a killed one.
import TestBench
import Testing
import WakeModel
import WakeSystem

@testable import WakeMQTT

@Suite("Outbox")
struct OutboxTests {
    private let folder = makeDirectory("/tmp/wakebridge-outbox.XXXXXX")
    private var path: String { folder + "/outbox" }
    private let capacity = Outbox.leastCapacity

    private func line(_ number: Int, padding: Int = 0) -> [UInt8] {
        Array("{\"event\":\(number),\"pad\":\"\(String(repeating: "x", count: padding))\"}\n".utf8)
    }

    private func time(_ second: Int) -> WallTime { WallTime(microseconds: Int64(second) * 1_000_000) }

    /// All that is published until nothing comes any more, acknowledged at once.
    private func drain(_ window: inout OutboxWindow) throws -> [JSONValue] {
        var lines: [JSONValue] = []
        while let (tag, line) = window.next() {
            lines.append(try JSONValue(parsing: line))
            window.delivered(tag)
        }
        return lines
    }

    private func number(_ line: JSONValue) -> Int64? { line["stream"]?["n"]?.integer }
    private func isAgain(_ line: JSONValue) -> Bool { line["stream"]?["again"]?.boolean == true }

    @Test("lines come out in their order, each with its number and the life of the file")
    func keepsOrder() throws {
        let outbox = try Outbox(at: path, capacity: capacity)
        for number in 1...300 { outbox.append(line(number), at: time(number)) }
        var window = OutboxWindow(on: outbox)
        let lines = try drain(&window)
        #expect(lines.compactMap(number) == Array(1...300))
        #expect(lines.compactMap { $0["event"]?.integer } == Array(1...300))
        #expect(Set(lines.compactMap { $0["stream"]?["life"]?.string }) == [outbox.life])
        #expect(!lines.contains(where: isAgain))
        #expect(outbox.isEmpty)
    }

    @Test("the ring goes round many times, with lines of every length")
    func goesRound() throws {
        let outbox = try Outbox(at: path, capacity: capacity)
        var window = OutboxWindow(on: outbox)
        var dice = Dice(7)
        var seen: [Int64] = []
        for number in 1...3_000 {
            outbox.append(line(number, padding: dice.below(2_000)), at: time(number))
            if dice.isOne(in: 4) { seen += try drain(&window).compactMap { $0["event"]?.integer } }
        }
        seen += try drain(&window).compactMap { $0["event"]?.integer }
        #expect(seen == Array(1...3_000))
    }

    @Test("a process that comes after a killed one publishes what was not acknowledged, marked as again")
    func survivesKill() throws {
        let life = try fillAndAcknowledge(lines: 100, acknowledged: 40)
        let outbox = try Outbox(at: path, capacity: capacity)
        outbox.append(line(101), at: time(101))
        var window = OutboxWindow(on: outbox)
        let lines = try drain(&window)
        #expect(outbox.life == life)
        #expect(lines.compactMap(number) == Array(41...101))
        #expect(lines.filter(isAgain).compactMap(number) == Array(41...100))
    }

    private func fillAndAcknowledge(lines: Int, acknowledged: Int) throws -> String {
        let outbox = try Outbox(at: path, capacity: capacity)
        for number in 1...lines { outbox.append(line(number), at: time(number)) }
        var window = OutboxWindow(on: outbox, limit: lines)
        let sent = (1...lines).compactMap { _ in window.next()?.tag }
        for tag in sent.prefix(acknowledged) { window.delivered(tag) }
        return outbox.life
    }

    @Test("an interrupted store at any byte loses no whole line and invents none")
    func survivesTornStores() throws {
        _ = try fillAndAcknowledge(lines: 50, acknowledged: 10)
        let before = bytes(of: path)
        try Outbox(at: path, capacity: capacity).append(line(51), at: time(51))
        let after = bytes(of: path)
        let changed = before.indices.filter { before[$0] != after[$0] }
        for cut in stride(from: 0, through: changed.count, by: 3) {
            var torn = before
            for place in changed.prefix(cut) { torn[place] = after[place] }
            put(torn, at: path)
            var window = OutboxWindow(on: try Outbox(at: path, capacity: capacity))
            let numbers = try drain(&window).compactMap(number)
            #expect(numbers == Array(11...50) || numbers == Array(11...51), "cut after \(cut) bytes")
        }
    }

    @Test("what has no room is one gap in its place, with its count and its times")
    func tellsLoss() throws {
        let outbox = try Outbox(at: path, capacity: capacity)
        for number in 1...2_000 { outbox.append(line(number, padding: 100), at: time(number)) }
        var window = OutboxWindow(on: outbox)
        var lines = try drain(&window)
        outbox.append(line(2_001), at: time(2_001))
        lines += try drain(&window)
        let gaps = lines.compactMap { $0["gap"] }
        #expect(gaps.count == 1)
        let (from, until) = (gaps.first?["from"]?.integer ?? 0, gaps.first?["until"]?.integer ?? 0)
        #expect(until == 2_000 && from > 100)
        #expect(gaps.first?["since"]?.string == JSONWriter.text(of: time(Int(from))))
        let events = lines.compactMap { $0["event"]?.integer }
        #expect(events == Array(1..<from) + [2_001])
        #expect(lines.last.flatMap(number) == 2_001)
    }

    @Test("a loss that a killed process had counted is told by the next")
    func tellsLossOfEarlierLife() throws {
        do {
            let outbox = try Outbox(at: path, capacity: capacity)
            for number in 1...2_000 { outbox.append(line(number, padding: 100), at: time(number)) }
        }
        let outbox = try Outbox(at: path, capacity: capacity)
        var window = OutboxWindow(on: outbox)
        let lines = try drain(&window)
        #expect(lines.last?["gap"]?["until"]?.integer == 2_000)
        #expect(outbox.nextNumber == 2_001)
    }

    @Test("a lost connection publishes again what was on its way, and marks nothing that was not")
    func marksWhatWasOnItsWay() throws {
        let outbox = try Outbox(at: path, capacity: capacity)
        for number in 1...10 { outbox.append(line(number), at: time(number)) }
        var window = OutboxWindow(on: outbox, limit: 4)
        for _ in 1...4 { _ = window.next() }
        window.delivered(2)
        window.restart()
        let lines = try drain(&window)
        #expect(lines.compactMap(number) == Array(1...10))
        #expect(lines.filter(isAgain).compactMap(number) == [1, 2, 3, 4])
    }

    @Test("a damaged file, and one of another size, begin a new life")
    func beginsNewLife() throws {
        let life = try fillAndAcknowledge(lines: 5, acknowledged: 0)
        put([UInt8](repeating: 0x5a, count: 100_000), at: path)
        let damaged = try Outbox(at: path, capacity: capacity)
        #expect(damaged.life != life && damaged.isEmpty && damaged.nextNumber == 1)
        damaged.append(line(1), at: time(1))
        let other = try Outbox(at: path, capacity: 2 * capacity)
        #expect(other.life != damaged.life && other.isEmpty)
    }
}

extension JSONWriter {
    fileprivate static func text(of time: WallTime) -> String? {
        var writer = JSONWriter()
        writer.time(time)
        return (try? JSONValue(parsing: writer.bytes))?.string
    }
}
