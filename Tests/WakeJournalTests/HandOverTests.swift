// One half of the turn log hands over to the other: pending events survive any kind of end and any damage.
import Glibc
import Testing
import WakeModel

@testable import WakeJournal

struct HandOverTests {
    let scratch = Scratch()

    init() { scratch.logBytes = 4_096 }

    /// Each turn appends `count` events and acknowledges as many, so that `waiting` of them stay pending.
    private func play(_ journal: Journal, turns: UInt64, count: UInt64 = 3, waiting: UInt64 = 12) {
        for turn in 0..<turns {
            let first = turn * count + 1
            journal.append(first...(first + count - 1))
            let done = (first..<(first + count)).filter { $0 > waiting }.map { Sequence($0 - waiting) }
            journal.acknowledge(done, by: a)
            #expect(journal.commit() == [.committed])
        }
    }

    private func rows() throws -> Int64 {
        try Database(path: scratch.run, strength: .normal).integer("SELECT count(*) FROM events WHERE seq>0")
    }

    private var name: String {
        let database = try? Database(path: scratch.run, strength: .normal)
        guard let rows = try? database?.prepare("SELECT value FROM facts WHERE name='turns'") else { return "" }
        return (try? rows.step()) == true ? rows.text(0) : ""
    }

    private func numbers(_ recovery: Recovery) -> [UInt64]? { recovery.pending[a]?.map(\.sequence.rawValue) }

    @Test("Pending events behind a steady stream become no rows of the database, and survive a kill")
    func carried() throws {
        var journal: Journal? = try scratch.ready()
        let begun = name
        if let journal { play(journal, turns: 600) }
        #expect(name != begun && name.contains(" "))
        #expect(try rows() == 0)
        #expect(journal?.event(Sequence(1_790)) == data([UInt8(truncatingIfNeeded: 1_790)]))
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(numbers(recovery) == Array(1_789...1_800))
        #expect(recovery.lost == nil && recovery.losses.isEmpty && recovery.next == Sequence(1_801))
    }

    @Test("More than half of a half is not handed over but moves into the database, and survives a kill")
    func tooMuch() throws {
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 100, waiting: 100) }
        #expect(try rows() > 0)
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(numbers(recovery) == Array(201...300) && recovery.lost == nil)
    }

    @Test("A kill -9 before any write or sync, also during a hand-over, loses no event and repeats none")
    func killedBeforeWrites() throws {
        let library = try scratch.crashLibrary()
        for writes in 0..<400 {
            let scratch = Scratch()
            try scratch.crash(before: writes, library, turns: 40)
            scratch.logBytes = 2_048
            let recovery = try scratch.journal().recover()
            let pending = recovery.pending.values.first?.map(\.sequence.rawValue) ?? []
            let next = recovery.next.rawValue
            #expect(recovery.lost == nil && pending == Array(max(next, 4) - 3..<max(next, 4)).filter { $0 < next })
            if next == 41 { return }
        }
        Issue.record("the journal is never whole")
    }

    @Test("A hand-over that the database refuses keeps all events in memory, and none is lost or repeated later")
    func refused() throws {
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 4) }
        let lock = try scratch.lock(scratch.run)
        for number in UInt64(13)...100 {
            journal?.append(number...number)
            _ = journal?.commit()
        }
        #expect(journal?.health.run != .ok)
        scratch.free([lock])
        journal?.acknowledge((1...50).map { Sequence($0) }, by: a)
        _ = journal?.compact()
        #expect(journal?.health.run == .ok)
        if let journal {
            for number in UInt64(101)...200 {
                journal.append(number...number)
                _ = journal.commit()
            }
        }
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(numbers(recovery) == Array(51...200) && recovery.lost == nil)
    }

    /// How a header is lost.
    enum Loss: CaseIterable { case flipped, zeroed, cut }

    @Test(
        "A lost header is reported although an unfinished hand-over left the generation before it",
        arguments: Loss.allCases)
    func preparedAndDamaged(_ loss: Loss) throws {
        var journal: Journal? = try scratch.ready()
        let (begun, before) = (name, Scratch())
        for number in UInt64(1)...200 where name == begun {
            shell("cp \(scratch.run) \(scratch.run)-wal \(before.path)")
            journal?.append(number...number)
            journal?.acknowledge([Sequence(number)], by: a)
            _ = journal?.commit()
        }
        journal = nil
        // As after a crash before the database has named what was prepared.
        shell("rm \(scratch.run)-shm; cp \(before.path)/* \(scratch.path)")
        journal = try scratch.journal()
        let next = try #require(journal?.recover()).next.rawValue
        journal?.append(next...(next + 9))
        #expect(journal?.commit() == [.committed])
        journal = nil
        let half = try namedHalf()
        var content = bytes(of: scratch.turns)
        switch loss {
        case .flipped: content[half + 9] ^= 4
        case .zeroed: for place in half..<(half + 64) { content[place] = 0 }
        case .cut: content.removeLast(content.count - half)
        }
        overwrite(scratch.turns, with: content)
        let lost = try #require(try scratch.journal().recover().lost)
        #expect(lost.first <= Sequence(next) && lost.last >= Sequence(next + 9))
    }

    /// Where the half begins that the database names.
    private func namedHalf() throws -> Int {
        let generation = try #require(name.split(separator: " ").first.flatMap { UInt64($0) })
        let content = bytes(of: scratch.turns)
        return try #require(
            [0, 4_096].first { place in
                var reader = ByteReader(bytes: content, from: place + 8)
                let found: UInt64? = try? reader.integer()
                return found == generation
            })
    }

    @Test("A turn with no room in either half goes into the database, and a crash right then is no damage")
    func turnTooBig() throws {
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 10) }
        let before = bytes(of: scratch.turns)
        journal?.append(31...130)
        #expect(journal?.commit() == [.committed])
        #expect(try rows() == 112)
        journal = nil
        // As a crash before the new header leaves it.
        overwrite(scratch.turns, with: before)
        let recovery = try scratch.journal().recover()
        #expect(numbers(recovery) == Array(19...130) && recovery.lost == nil)
    }

    /// Damage to the half that the database names: its header, what it took over, what came since, or more of it.
    enum Damage: CaseIterable { case header, carried, since, wiped, emptied, gone }

    private func harm(_ damage: Damage) throws {
        let half = try namedHalf()
        var content = bytes(of: scratch.turns)
        let end = try #require(content[half..<(half + 4_096)].lastIndex { $0 != 0 })
        switch damage {
        case .header: content[half + 9] ^= 4
        case .carried: content[half + 100] ^= 4
        case .since: content[end] ^= 4
        case .wiped: for place in half..<(half + 4_096) { content[place] = 0 }
        case .emptied: for place in (half + 64)..<(half + 4_096) { content[place] = 0 }
        case .gone: content = []
        }
        overwrite(scratch.turns, with: content)
    }

    /// Whether each of these numbers is pending, or reported as lost.
    private func accounts(_ recovery: Recovery, for expected: ClosedRange<UInt64>) -> Bool {
        let pending = numbers(recovery) ?? []
        return expected.allSatisfy { number in
            pending.contains(number)
                || recovery.lost.map { $0.first.rawValue <= number && number <= $0.last.rawValue } == true
        }
    }

    @Test("The loss of a damaged half begins at the oldest number that it may have held", arguments: Damage.allCases)
    func damaged(_ damage: Damage) throws {
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 600) }
        journal = nil
        let first = try #require(name.split(separator: " ").last.flatMap { UInt64($0) })
        try harm(damage)
        let recovery = try scratch.journal().recover()
        #expect(accounts(recovery, for: 1_789...1_800))
        let lost = try #require(recovery.lost)
        #expect(recovery.pending.isEmpty == (damage != .since))
        #expect(damage == .since ? lost.first.rawValue > 1_789 : lost.first.rawValue == first)
        #expect(recovery.next > Sequence(1_800))
    }

    @Test(
        "The turn that handed over is reported as lost with the rest of a damaged half",
        arguments: [0, 12], [Damage.header, .carried, .since])
    func damagedAtOnce(waiting: UInt64, damage: Damage) throws {
        var journal: Journal? = try scratch.ready()
        var (begun, last) = ("", UInt64(0))
        repeat {
            if last > waiting { journal?.acknowledge([Sequence(last - waiting)], by: a) }
            _ = journal?.commit()
            begun = name
            last += 1
            journal?.append(last...last)
            _ = journal?.commit()
        } while name == begun
        journal = nil
        try harm(damage)
        #expect(accounts(try scratch.journal().recover(), for: (last - waiting)...last))
    }

    @Test(
        "Events that were handed over are reported as lost where the database no longer names the half",
        arguments: [true, false])
    func nameIsDamaged(isLogWhole: Bool) throws {
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 600) }
        journal = nil
        if !isLogWhole { try harm(.carried) }
        try scratch.tamper(scratch.run, "UPDATE facts SET crc=crc+1 WHERE name='turns'")
        #expect(accounts(try scratch.journal().recover(), for: 1_789...1_800))
    }

    @Test("A start with halves of another size that is killed before any write loses nothing and reports nothing")
    func otherSizeKilled() throws {
        let library = try scratch.crashLibrary()
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 600) }
        var last = UInt64(1_800)
        while try namedHalf() == 0 {
            last += 1
            journal?.append(last...last)
            journal?.acknowledge([Sequence(last - 12)], by: a)
            _ = journal?.commit()
        }
        journal = nil
        for writes in 0..<200 {
            let copy = Scratch()
            shell("cp -a \(scratch.path)/. \(copy.path)")
            try copy.crash(before: writes, library, turns: 1)
            copy.logBytes = 2_048
            let recovery = try copy.journal().recover()
            #expect(numbers(recovery) == Array((last - 11)...last) && recovery.lost == nil, "before write \(writes)")
            if recovery.next > Sequence(last + 1) { return }
        }
        Issue.record("the journal is never whole")
    }

    @Test("Damage to the unused half is no loss")
    func otherHalf() throws {
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 600) }
        journal = nil
        let other = 4_096 - (try namedHalf())
        var content = bytes(of: scratch.turns)
        for place in stride(from: other, to: other + 4_096, by: 7) { content[place] ^= 1 }
        overwrite(scratch.turns, with: content)
        let recovery = try scratch.journal().recover()
        #expect(numbers(recovery) == Array(1_789...1_800) && recovery.lost == nil && recovery.losses.isEmpty)
    }

    @Test(
        "A log with halves of another size is read, and continues with halves of this size", arguments: [2_048, 16_384])
    func otherSize(_ size: Int) throws {
        var journal: Journal? = try scratch.ready()
        if let journal { play(journal, turns: 600) }
        journal = nil
        scratch.logBytes = size
        journal = try scratch.journal()
        #expect(journal.map { numbers($0.recover()) } == Array(1_789...1_800))
        _ = journal?.commit()
        for number in UInt64(1_801)...1_900 {
            journal?.append(number...number)
            journal?.acknowledge([Sequence(number - 12)], by: a)
            _ = journal?.commit()
        }
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(numbers(recovery) == Array(1_889...1_900) && recovery.lost == nil)
    }
}
