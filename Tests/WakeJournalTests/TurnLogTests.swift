// The turn log: its turns count as written, after any kind of end and any damage of the file.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

struct TurnLogTests {
    let scratch = Scratch()

    private func eventsInDatabase() throws -> Int64 {
        try Database(path: scratch.run, strength: .normal).integer("SELECT count(*) FROM events WHERE seq>0")
    }

    @Test("A turn that only the log has survives a kill, with its leases and acknowledgements")
    func killed() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...4)
        journal?.append(5...5, for: [a, b])
        journal?.lease([Sequence(1), Sequence(3)], to: a)
        _ = journal?.commit()
        journal?.acknowledge([Sequence(2), Sequence(5)], by: a)
        _ = journal?.commit()
        #expect(try eventsInDatabase() == 0)
        journal = nil
        let later = try scratch.journal()
        let recovery = later.recover()
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [1, 3, 4])
        #expect(recovery.pending[a]?.map(\.wasDelivered) == [true, true, false])
        #expect(recovery.pending[b]?.map(\.sequence.rawValue) == [5])
        #expect(recovery.lost == nil && recovery.losses.isEmpty && recovery.next == Sequence(6))
        #expect(later.event(Sequence(3)) == data([3]))
    }

    @Test("A start that crashes before recovery changes nothing, damage included")
    func startCrashes() throws {
        var journal: Journal? = try scratch.ready()
        for number in UInt64(1)...20 {
            journal?.append(number...number)
            _ = journal?.commit()
        }
        journal = nil
        var content = bytes(of: scratch.turns)
        content[content.lastIndex { $0 != 0 } ?? 0] ^= 1
        overwrite(scratch.turns, with: content)
        for _ in 0..<3 { _ = try scratch.journal() }
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == Array(1...19))
        #expect(recovery.lost?.first == Sequence(20))
        #expect(recovery.losses.count == 1)
    }

    @Test("After a crash between the database's commit and the log's new header, the log is not read twice")
    func endsBetween() throws {
        let journal = try scratch.ready()
        journal.append(1...3)
        _ = journal.commit()
        let before = bytes(of: scratch.turns)
        _ = journal.compact()
        journal.acknowledge([Sequence(1)], by: a)
        _ = journal.compact()
        let after = bytes(of: scratch.turns)
        journal.close(clean: false)
        // Such a crash leaves one generation back; two are another file.
        for (content, isWhole) in [(after, true), (before, false)] {
            overwrite(scratch.turns, with: content)
            let copy = Scratch()
            shell("cp -a \(scratch.path)/. \(copy.path)")
            let recovery = try copy.journal().recover()
            #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [2, 3])
            #expect((recovery.lost == nil) == isWhole)
        }
    }

    @Test("Without its log a database says what it lacks", arguments: ["rm", "truncate -s 0", "truncate -s 100"])
    func missing(_ command: String) throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...2)
        _ = journal?.compact()
        journal?.append(3...4)
        _ = journal?.commit()
        journal = nil
        shell("\(command) \(scratch.turns)")
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == [1, 2])
        #expect(recovery.lost.map { $0.first == Sequence(3) && $0.last >= Sequence(4) } == true)
        #expect(recovery.next > Sequence(4))
        journal?.recordLossesReported()
        _ = journal?.commit()
        journal = nil
        #expect(try scratch.journal().recover().lost == nil)
    }

    @Test("A truncated or damaged log returns no event that was not written, and its losses are reported")
    func damaged() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...20)
        _ = journal?.compact()
        for number in UInt64(21)...100 {
            journal?.append(number...number)
            _ = journal?.commit()
        }
        journal = nil
        let whole = bytes(of: scratch.turns)
        let end = try #require(whole.lastIndex { $0 != 0 })
        for round in 0..<60 {
            var content = whole
            let place = Int.random(in: 0...(round % 3 == 0 ? whole.count - 1 : end))
            if round % 2 == 0 {
                content.removeLast(content.count - place)
            } else {
                content[place] ^= UInt8(1 << (round / 2 % 8))
            }
            let copy = Scratch()
            shell("cp -a \(scratch.path)/. \(copy.path)")
            overwrite(copy.turns, with: content)
            inspect(try copy.journal(), "round \(round), place \(place) of \(end)")
        }
    }

    private func inspect(_ journal: Journal, _ comment: Comment) {
        let recovery = journal.recover()
        let pending = Set((recovery.pending[a] ?? []).map(\.sequence))
        for seq in pending { #expect(journal.event(seq) == data([UInt8(truncatingIfNeeded: seq.rawValue)]), comment) }
        for number in UInt64(1)...100 where !pending.contains(Sequence(number)) {
            let isReported = recovery.lost.map { $0.first <= Sequence(number) && Sequence(number) <= $0.last }
            #expect(isReported == true && number > 20, comment)
        }
        #expect(recovery.next > Sequence(100), comment)
    }

    @Test("While the file system is full the log accepts turns, and a start on it finds them all")
    func full() throws {
        guard scratch.limit(to: "3m") else { return }
        var journal: Journal? = try scratch.ready()
        scratch.fill()
        for number in UInt64(1)...200 {
            journal?.append(number...number)
            #expect(journal?.commit() == [.committed])
        }
        journal = nil
        journal = try scratch.journal()
        let recovery = try #require(journal?.recover())
        #expect(recovery.pending[a]?.map(\.sequence.rawValue) == Array(1...200))
        #expect((1...200).allSatisfy { journal?.event(Sequence($0)) != nil })
        shell("rm \(scratch.path)/filler")
        _ = journal?.compact()
        #expect(journal?.health.run == .ok)
        journal = nil
        #expect(try scratch.journal().recover().pending[a]?.count == 200)
    }

    @Test("A run database of another state directory takes its log with it")
    func foreign() throws {
        let other = Scratch()
        let journal = try other.ready()
        journal.append(1...5)
        _ = journal.commit()
        var ours: Journal? = try scratch.ready()
        ours?.append(1...2, .disk)
        _ = ours?.commit()
        ours = nil
        shell("rm -f \(scratch.run)*; cp \(other.run)* \(scratch.path)")
        let recovery = try scratch.journal().recover()
        #expect(recovery.pending[a]?.map(\.durability) == [.disk, .disk])
        #expect(shell("ls \(scratch.run).corrupt-*-turns >/dev/null 2>&1") == 0)
    }

    @Test(
        "After any sequence of operations and every crash the journal has exactly the pending events")
    func anyCourse() throws {
        for seed in UInt64(1)...30 {
            var course = Course(seed: seed)
            try course.play()
        }
    }
}

/// A journal, and beside it a plain account of what is pending for which handler.
private struct Course {
    private let scratch = Scratch()
    private var random: UInt64
    private var pending: [HandlerID: Set<UInt64>] = [a: [], b: []]
    private var attempts: [UInt64: Int] = [:]
    private var next: UInt64 = 1

    init(seed: UInt64) {
        random = seed &* 0x9E37_79B9_7F4A_7C15
        scratch.logBytes = seed % 3 == 0 ? 2_048 : 16_384
    }

    private mutating func dice(_ sides: Int) -> Int {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(random >> 33) % sides
    }

    mutating func play() throws {
        var journal: Journal? = try scratch.ready()
        for _ in 0..<300 {
            if let journal { try turn(journal) }
            guard dice(12) == 0 else { continue }
            journal = nil
            journal = try scratch.journal()
            if let journal { check(journal, journal.recover()) }
        }
    }

    private mutating func turn(_ journal: Journal) throws {
        for _ in 0...dice(4) {
            switch dice(6) {
            case 0, 1: append(to: journal)
            case 2, 3: acknowledge(in: journal)
            case 4: giveBack(to: journal)
            default: journal.lease(pending[a, default: []].sorted().prefix(3).map { Sequence($0) }, to: a)
            }
        }
        #expect(journal.commit().allSatisfy { $0 == .committed })
        if dice(20) == 0 { _ = journal.compact() }
    }

    private mutating func append(to journal: Journal) {
        let owners = [[a], [b], [a, b]][dice(3)]
        for _ in 0...dice(9) {
            journal.append(
                data([UInt8(truncatingIfNeeded: next)]), as: Sequence(next), for: owners, durability: .run)
            for owner in owners { pending[owner]?.insert(next) }
            next += 1
        }
    }

    private mutating func acknowledge(in journal: Journal) {
        let handler = [a, b][dice(2)]
        let chosen = (pending[handler] ?? []).sorted().filter { _ in dice(3) > 0 }
        journal.acknowledge(chosen.map { Sequence($0) }, by: handler)
        pending[handler]?.subtract(chosen)
    }

    private mutating func giveBack(to journal: Journal) {
        guard let number = pending[a]?.sorted().first else { return }
        attempts[number, default: 0] += 1
        journal.giveBack(Sequence(number), by: a, attempts: attempts[number] ?? 0, charges: 0)
    }

    private mutating func check(_ journal: Journal, _ recovery: Recovery) {
        #expect(recovery.lost == nil && recovery.losses.isEmpty)
        #expect(recovery.next == Sequence(next))
        for handler in [a, b] {
            #expect((recovery.pending[handler] ?? []).map(\.sequence.rawValue) == pending[handler]?.sorted())
        }
        for one in recovery.pending[a] ?? [] { #expect(one.attempts == attempts[one.sequence.rawValue] ?? 0) }
        for number in pending[a, default: []].union(pending[b, default: []]) {
            #expect(journal.event(Sequence(number)) == data([UInt8(truncatingIfNeeded: number)]))
        }
        next = recovery.next.rawValue
    }
}
