// Every number is acknowledged, queued, dead-lettered or reported as lost: over reboots, full disks and failures in one turn.
import Testing
import WakeModel

@testable import WakeJournal

struct LossTests {
    let scratch = Scratch()

    @Test("An unclean reboot reports pending run events below the newest disk event")
    func rebootReportsOlder() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1)
        journal?.append(2...2, .disk)
        _ = journal?.commit()
        journal = nil
        scratch.reboot()
        let recovery = try scratch.journal(boot: "next").recover()
        #expect(recovery.lost?.first == Sequence(1))
        #expect(recovery.lost?.last == Sequence(4_096))
        #expect(recovery.pending[a]?.map(\.sequence) == [Sequence(2)])
    }

    @Test("A journal that crashes right after its first start, before any reservation, has lost nothing")
    func crashedAtFirstStart() throws {
        _ = try scratch.journal()
        let recovery = try scratch.journal().recover()
        #expect(recovery.lost == nil)
        #expect(recovery.next == Sequence(1))
    }

    @Test("Events acknowledged long before a reboot are not reported as lost")
    func rebootIsClose() throws {
        var journal: Journal? = try scratch.ready()
        for number in UInt64(1)...3_500 {
            journal?.append(number...number)
            if number != 3_300 { journal?.acknowledge([Sequence(number)], by: a) }
            if journal?.needsReservation(next: Sequence(number)) == true {
                journal?.reserve(upTo: Sequence(number + 4_096))
            }
            if number % 100 == 0 { _ = journal?.commit() }
        }
        _ = journal?.compact()
        journal = nil
        scratch.reboot()
        let lost = try #require(try scratch.journal(boot: "next").recover().lost)
        #expect(lost.first > Sequence(2_000) && lost.first <= Sequence(3_300))
    }

    @Test("A ram event that was pending below a run event is reported as lost after a crash")
    func ramBelowRun() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1, .ram)
        journal?.append(2...2)
        _ = journal?.commit()
        journal = nil
        let recovery = try scratch.journal().recover()
        #expect(recovery.lost?.first == Sequence(1))
        #expect(recovery.pending[a]?.map(\.sequence) == [Sequence(2)])
    }

    @Test("A hole that was found but not reported before another crash is reported at the next start")
    func reportedLater() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1, .ram)
        _ = journal?.commit()
        journal = try scratch.journal()
        let lost = journal?.recover().lost
        #expect(lost != nil)
        journal = try scratch.journal()
        let again = journal?.recover().lost
        #expect(again?.first == lost?.first)
        _ = journal?.compact()
        journal = nil
        #expect(try scratch.journal().recover().lost == nil)
    }

    @Test("A number reported as lost is not issued again after a session without events")
    func holeIsUsedUp() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1, .ram)
        _ = journal?.commit()
        journal = nil
        journal = try scratch.journal()
        let next = try #require(journal?.recover()).next
        journal?.close(clean: true)
        journal = nil
        #expect(try scratch.journal().recover().next == next)
    }

    @Test("When both databases fail in one turn, each is reported once and both heal")
    func bothFail() throws {
        scratch.logBytes = 0
        let journal = try scratch.ready()
        var locks: [Database]? = [try scratch.lock(scratch.run), try scratch.lock(scratch.disk)]
        journal.append(1...1, .run)
        journal.append(2...2, .disk)
        let lost = journal.commit().filter { if case .lost = $0 { true } else { false } }
        #expect(lost.count == 2)
        journal.append(3...3, .disk)
        #expect(journal.commit().isEmpty)
        withExtendedLifetime(locks) {}
        locks = nil
        #expect(Set(journal.compact().outcomes).isSuperset(of: [.restored(.run), .restored(.disk)]))
        #expect(journal.event(Sequence(3)) == data([3]))
    }

    @Test("After a crash while the disk database is degraded, no number is issued twice")
    func reservedTwice() throws {
        var journal: Journal? = try scratch.ready()
        var locked: Database? = try scratch.lock(scratch.disk)
        withExtendedLifetime(locked) {
            for number in UInt64(1)...6_000 {
                if journal?.needsReservation(next: Sequence(number)) == true {
                    journal?.reserve(upTo: Sequence(number + 4_096))
                }
                journal?.append(number...number, .disk)
                if number % 1_000 == 0 { _ = journal?.commit() }
            }
        }
        journal = nil
        locked = nil
        let recovery = try scratch.journal().recover()
        #expect(recovery.next > Sequence(6_000))
        #expect(recovery.lost?.first == Sequence(1))
    }

    /// Replaces events that were dropped without delivery.
    private func appendGap(
        _ journal: Journal?, of numbers: ClosedRange<UInt64>, as seq: UInt64, _ durability: Durability = .run
    ) {
        journal?.acknowledge(numbers.map { Sequence($0) }, by: a)
        let (first, last) = (Sequence(numbers.lowerBound), Sequence(numbers.upperBound))
        let time = WallTime(microseconds: 1)
        let gap = Gap(cause: .stopped, count: UInt64(numbers.count), first: first, last: last, from: time, to: time)
        let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: time)
        let event = DeviceEvent(origin: EventOrigin(rawValue: 1), kind: .gap(gap), stamp: stamp)
        journal?.append(event, as: Sequence(seq), for: [a], durability: durability)
        _ = journal?.commit()
    }

    @Test("A lost gap is reported again with all that it reported", arguments: [true, false])
    func gapIsLost(isClean: Bool) throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3)
        _ = journal?.commit()
        appendGap(journal, of: 1...3, as: 4)
        if isClean { journal?.close(clean: true) } else { journal?.reserve(upTo: Sequence(9_000)) }
        _ = journal?.commit()
        journal = nil
        scratch.reboot()
        #expect(try scratch.journal(boot: "next").recover().lost?.first == Sequence(1))
    }

    @Test("A lost gap that only memory had is reported again with all that it reported, also after a new reservation")
    func gapInMemory() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3, .ram)
        _ = journal?.commit()
        appendGap(journal, of: 1...3, as: 4, .ram)
        journal?.reserve(upTo: Sequence(9_000))
        _ = journal?.commit()
        journal = nil
        #expect(try scratch.journal().recover().lost?.first == Sequence(1))
    }

    @Test("After a start that ended before recovery, the next one reports what a reboot erased")
    func startWithoutRecovery() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...10)
        _ = journal?.commit()
        journal = nil
        scratch.reboot()
        _ = try scratch.journal(boot: "next")
        let recovery = try scratch.journal(boot: "next").recover()
        #expect(recovery.lost?.first == Sequence(1))
        #expect(recovery.next > Sequence(10))
    }

    @Test("The event that caused a reservation is reported as lost too")
    func lostWithReservation() throws {
        var journal: Journal? = try scratch.ready()
        for number in UInt64(1)...4_096 {
            journal?.append(number...number)
            journal?.acknowledge([Sequence(number)], by: a)
        }
        _ = journal?.commit()
        journal?.append(4_097...4_097)
        _ = journal?.commit()
        journal = nil
        scratch.reboot()
        let lost = try #require(try scratch.journal(boot: "next").recover().lost)
        #expect(lost.first <= Sequence(4_097))
    }

    @Test("An unreported hole is reported at the next start, also after a clean end")
    func unreportedAtTheEnd() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1, .ram)
        _ = journal?.commit()
        journal = try scratch.journal()
        let lost = journal?.recover().lost
        journal?.close(clean: true)
        journal = nil
        #expect(lost != nil)
        #expect(try scratch.journal().recover().lost?.first == lost?.first)
    }

    @Test("A dead letter with an unreadable payload is kept, empty, with its reason")
    func unreadableDeadLetter() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1)
        _ = journal?.compact()
        journal = nil
        journal = try scratch.ready()
        try scratch.tamper(scratch.run, "UPDATE events SET payload=x'0102' WHERE seq=1")
        journal?.deadLetter(Sequence(1), by: a, reason: "nack", at: WallTime(microseconds: 1))
        _ = journal?.commit()
        let letters = try #require(journal?.deadLetters())
        let letter = try #require(letters.first)
        #expect(letter.seq == Sequence(1) && letter.handler == a && letter.reason.contains("nack"))
    }

    @Test("An event that becomes unreadable is reported once")
    func unreadableEvent() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1)
        _ = journal?.compact()
        journal = try scratch.ready()
        try scratch.tamper(scratch.run, "UPDATE events SET payload=x'0102' WHERE seq=1")
        #expect(journal?.event(Sequence(1)) == nil)
        #expect(journal?.event(Sequence(1)) == nil)
        #expect(journal?.commit().count { if case .lost = $0 { true } else { false } } == 1)
    }

    @Test("Dead letters added while the disk database cannot be written are listed, removed and dropped")
    func degradedDeadLetters() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...3)
        _ = journal?.commit()
        var locked: Database? = try scratch.lock(scratch.disk)
        withExtendedLifetime(locked) {
            for number in UInt64(1)...3 {
                journal?.deadLetter(Sequence(number), by: a, reason: "nack", at: WallTime(microseconds: 1))
                _ = journal?.commit()
            }
            #expect(journal?.deadLetters().map(\.seq) == [Sequence(1), Sequence(2), Sequence(3)])
            #expect(journal?.removeDeadLetter(Sequence(1), of: a)?.event == data([1]))
            #expect(journal?.dropDeadLetters { $0.seq == Sequence(2) } == 1)
            #expect(journal?.deadLetters().map(\.seq) == [Sequence(3)])
        }
        locked = nil
        _ = journal?.compact()
        journal = nil
        #expect(try scratch.ready().deadLetters().map(\.seq) == [Sequence(3)])
    }

    @Test("After a reboot a replay continues from the disk's last position, never behind lost events")
    func replayPosition() throws {
        var journal: Journal? = try scratch.ready()
        journal?.append(1...1)
        journal?.setReplayPosition(source: "t.trace", line: 7)
        _ = journal?.commit()
        journal?.close(clean: true)
        journal = nil
        scratch.reboot()
        var position = try scratch.journal(boot: "next").recover().replayPosition
        #expect(position == Recovery.ReplayPosition(source: "t.trace", line: 7))
        journal = try scratch.ready(boot: "next")
        journal?.setReplayPosition(source: "t.trace", line: 9)
        _ = journal?.commit()
        journal = nil
        position = try scratch.journal(boot: "next").recover().replayPosition
        #expect(position?.line == 9)
        scratch.reboot()
        position = try scratch.journal(boot: "third").recover().replayPosition
        #expect(position?.line == 7)
    }

    @Test("The events to drop for the size cap are the oldest data, by handler, and nothing else")
    func oldestData() throws {
        let journal = try scratch.ready()
        var connected = data([])
        connected.kind = .connected(folded: 0)
        journal.append(connected, as: Sequence(1), for: [a], durability: .run)
        journal.append(2...2, for: [a, b])
        journal.append(3...8, for: [b])
        var piece = data([])
        piece.kind = .data(.fragment(.tooLong), [9])
        journal.append(piece, as: Sequence(9), for: [b], durability: .run)
        _ = journal.commit()
        let chosen = journal.oldestData(freeing: 1)
        #expect(chosen == [a: [Sequence(2)], b: [Sequence(2)]])
        #expect(journal.oldestData(freeing: 1 << 20)[b]?.count == 8)
    }
}
