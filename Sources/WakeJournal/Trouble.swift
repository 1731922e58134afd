// What the journal does while a database cannot be written, so that a death in that time loses nothing untold, and how it heals.
import WakeModel

extension Journal {
    func outcomesOfTrouble(_ isCommitted: Bool) -> [CommitOutcome] {
        if isRecovered, stores.contains(where: { $0.fault != nil }) {
            noteRam(from: newest.seq.next)
            // At once: this turn's events are about to be delivered, and a crash would lose them untold.
            for store in stores { if let outcome = store.commit(), outcome != .committed { untold.append(outcome) } }
        }
        var outcomes = untold + (isCommitted ? Self.committed : [])
        untold = []
        // A degraded database is tried again every 1,024 turns, so that a busy bridge heals too.
        commitsSinceFault += 1
        if commitsSinceFault >= 1_024 { outcomes += heal() }
        keepNumbers()
        return outcomes
    }

    func heal() -> [CommitOutcome] {
        commitsSinceFault = 0
        let healed = stores.filter { $0.heal(unless: objection) }
        for store in healed { restate(in: store) }
        for store in healed where store.wasDamaged { keepHole(of: store) }
        if !healed.isEmpty, ram.isEmpty, stores.allSatisfy({ $0.fault == nil }) { unnoteRam() }
        // What told of the hole is written by now.
        if !hasUntold, disk.fault == nil { holeBegin = nil }
        keepNumbers()
        let told = stores.flatMap { $0.takeUntold() }.map(CommitOutcome.lost)
        return told + healed.map { .restored($0.which) }
    }

    /// A file that came back and is not the one that this life goes on with is left alone.
    private func objection(to store: EventStore) -> String? {
        let facts = store.wasThere ? [:] : store.facts().values
        let theirs = facts["reserved"].flatMap(UInt64.init) ?? 0
        let isOurs = facts["origin"].map { $0 == origin } ?? true
        let isBehind = firstGiven.rawValue == 0 || theirs < firstGiven.rawValue
        guard !isOurs || !isBehind || !identities.agrees(with: store) else { return nil }
        return "the journal \(store.path) can be opened again, but it was not there when this life began and holds the "
            + "numbers of another; what it holds is safe: restart wakebridged to go on with it, until then events are kept in memory"
    }

    /// A file that was begun anew knows nothing of the numbers given out in this life.
    private func restate(in store: EventStore) {
        let facts = [("origin", origin), ("journal", id), ("closed", ""), ("reserved", String(reserved.rawValue))]
        for (name, value) in facts { store.perform(.fact(name, value)) }
        if store.which == .run { store.perform(.fact("boot", bootID)) }
        for (id, device) in identities.devices { store.perform(.device(id, device)) }
        for (id, row) in identities.handlers { store.perform(.handler(id, row)) }
        restateListening(in: store)
        _ = store.commit()
    }

    /// What a file damaged in mid-life lost is told at the next start, when it is known what is missing.
    private func keepHole(of store: EventStore) {
        let known = [holeBegin, start.untold?.lowerBound].compactMap { $0 }.min() ?? .max
        let first = min(start.oldest(store.which), newest.seq.rawValue, known)
        state("untold", "\(max(first, 1)) \(max(newest.seq.rawValue, 1))")
        hasUntold = false
        for store in stores { if let outcome = store.commit(), outcome != .committed { untold.append(outcome) } }
        if store.fault == nil { store.acceptDamage() }
    }

    /// Everything is in the databases again, so a crash from here on need not skip to the end of the reservation.
    private func unnoteRam() {
        forgetMemory()
        for store in stores { store.state(newest) }
        for store in stores { _ = store.commit() }
    }

    /// Before anything is delivered: what the disk's database cannot be told stands in the file beside it.
    func keepNumbers() {
        guard isRecovered else { return }
        var contents = NumberFile.Contents(journal: id)
        if disk.fault != nil {
            contents.reserved = reserved.rawValue
            contents.firstUnkept = [notedInMemory, holeBegin].compactMap { $0 }.min() ?? newest.seq.next.rawValue
        }
        numberFile?.write(contents)
    }

    /// From here on a crash loses what only memory has, and only the end of the reservation is certain to be unused.
    func noteRam(from seq: Sequence) {
        if notedInMemory == nil { noteInMemory(oldestInMemory ?? seq.rawValue) }
    }

    /// What has come to memory since is older than what was noted.
    func lowerMemory(to first: UInt64) { if first < notedInMemory ?? .max { noteInMemory(first) } }

    func noteInMemory(_ first: UInt64) {
        notedInMemory = first
        state("ram", String(first))
    }

    /// Nothing is in memory only.
    func forgetMemory() {
        notedInMemory = nil
        state("ram", "")
    }
}
