// The journal's work while a database cannot be written: it records what a crash would lose, and heals the database.
import WakeModel

/// Losses of a crash that may come, or of an earlier one.
struct KnownLosses {
    /// A hole was found at the start and not all handlers know of it.
    var areUnreported = false
    /// The first number of that hole, until the disk has the gaps that report it.
    var firstInHole: UInt64?
    /// The first number that only memory may have, by the databases' own record; nil while they have all events.
    var firstInMemory: UInt64?
}

extension Journal {
    func outcomesWhileDegraded(_ isCommitted: Bool) -> [CommitOutcome] {
        if isRecovered, stores.contains(where: \.isDegraded) {
            recordMemoryUse(from: newest.seq.next)
            // At once: this turn's events are delivered next, and a crash would lose them unreported.
            commitFacts()
        }
        var outcomes = commits.unreported + (isCommitted ? Self.committed : [])
        commits.unreported = []
        // Tries again every 1,024 turns, so that the journal of a busy daemon heals too.
        commits.sinceFault += 1
        if commits.sinceFault >= 1_024 { outcomes += heal() }
        writeReservationFile()
        return outcomes
    }

    func heal() -> [CommitOutcome] {
        commits.sinceFault = 0
        let healed = stores.filter { $0.heal(unless: objection) }
        for store in healed { rewriteFacts(in: store) }
        for store in healed where store.condition.wasDamaged { recordHole(of: store) }
        let isWhole = !stores.contains(where: \.isDegraded)
        if !healed.isEmpty, ram.isEmpty, isWhole { recordMemoryEmpty() }
        // The gaps that report the hole are written.
        if !losses.areUnreported, !disk.isDegraded { losses.firstInHole = nil }
        writeReservationFile()
        let reports = stores.flatMap { $0.removeReports() }.map(CommitOutcome.lost)
        return reports + healed.map { .restored($0.which) }
    }

    /// A file that another session wrote in the meantime is left alone.
    private func objection(to store: EventStore) -> String? {
        let facts = store.condition.wasThere ? [:] : store.facts().values
        let theirs = facts["reserved"].flatMap(UInt64.init) ?? 0
        let isOurs = facts["origin"].map { $0 == origin } ?? true
        let isBehind = numbers.firstIssued.rawValue == 0 || theirs < numbers.firstIssued.rawValue
        guard !isOurs || !isBehind || !identities.agree(with: store) else { return nil }
        return
            "the journal \(store.path) can be opened again, but it was not there when wakebridged started and holds other numbers; "
            + "what it holds is safe: restart wakebridged to continue with it, until then events are kept in memory"
    }

    /// A new file does not have the numbers issued in this session.
    private func rewriteFacts(in store: EventStore) {
        let reserved = String(numbers.reserved.rawValue)
        let facts = [("origin", origin), ("journal", id), ("closed", ""), ("reserved", reserved)]
        for (name, value) in facts { store.perform(.fact(name, value)) }
        if store.which == .run { store.perform(.fact("boot", bootID)) }
        identities.write(to: store)
        rewriteListening(in: store)
        _ = store.commit()
    }

    /// Records the loss of a file that was damaged in mid-session. The next start reports it, when the missing numbers
    /// are known.
    private func recordHole(of store: EventStore) {
        let known = [losses.firstInHole, start.unreported?.lowerBound].compactMap { $0 }.min() ?? .max
        let first = min(start.oldest(store.which), newest.seq.rawValue, known)
        setFact("untold", "\(max(first, 1)) \(max(newest.seq.rawValue, 1))")
        losses.areUnreported = false
        commitFacts()
        if !store.isDegraded { store.clearDamage() }
    }

    private func commitFacts() {
        commits.unreported += stores.compactMap { $0.commit() }.filter { $0 != .committed }
    }

    /// All events are in the databases again, so the next start after a crash need not skip the reservation.
    private func recordMemoryEmpty() {
        clearMemoryUse()
        for store in stores { store.writeCursor(newest) }
        for store in stores { _ = store.commit() }
    }

    /// Before any delivery: a database that cannot be written, or whose log is cut later, does not know the newest reservation.
    func writeReservationFile() {
        guard isRecovered else { return }
        var contents = SequenceReservation.Contents(journal: id, reserved: numbers.reserved.rawValue)
        if disk.isDegraded {
            contents.firstInMemory =
                [losses.firstInMemory, losses.firstInHole].compactMap { $0 }.min() ?? newest.seq.next.rawValue
        }
        reservationFile?.write(contents)
    }

    // MARK: Events that only memory has

    var oldestInMemory: UInt64? {
        let candidates = stores.flatMap { [$0.unsaved.events.oldest, $0.unsaved.oldestDeadLetter] }
        return ([ram.oldest] + candidates).compactMap { $0?.rawValue }.min()
    }

    /// From here on a crash loses events. Only the numbers above the reservation are then certainly unused.
    func recordMemoryUse(from seq: Sequence) {
        if losses.firstInMemory == nil { recordFirstInMemory(oldestInMemory ?? seq.rawValue) }
    }

    /// For an event that came to memory later but is older.
    func lowerFirstInMemory(to first: UInt64) { if first < losses.firstInMemory ?? .max { recordFirstInMemory(first) } }

    func recordFirstInMemory(_ first: UInt64) {
        losses.firstInMemory = first
        setFact("ram", String(first))
    }

    func clearMemoryUse() {
        losses.firstInMemory = nil
        setFact("ram", "")
    }
}
