// What is done while nobody is awake, and the events that were given up on: compaction, healing, dead letters.
import Glibc
import WakeModel

extension Journal {
    /// Commits, heals, erases what nobody owes and empties the WAL. Call while nobody is awake: it may take milliseconds.
    ///
    /// Caps are kept by the core: where there is ``Compaction/excess``, the host asks ``oldestData(freeing:)`` for that many
    /// bytes and has the core drop what is named, each handler's into a gap with cause `overflow`;
    /// the acknowledgements that follow erase it here. Nothing owed is ever erased by the journal itself.
    public func compact() -> Compaction {
        var compaction = Compaction()
        if hasUntold { forgetHole() }
        compaction.outcomes = commit()
        for store in stores { if case .lost(let loss)? = store.settle() { compaction.outcomes.append(.lost(loss)) } }
        // Its log is emptied below, which writes the file too.
        disk.takeCarried()
        if disk.isDirty {
            stateOldest()
            keepPosition()
        }
        compaction.outcomes += commit() + heal()
        for store in stores where store.fault == nil {
            guard let database = store.database else { continue }
            compaction.orphans += (try? eraseOrphans(in: database)) ?? 0
            try? shrink(database)
            try? database.checkpoint()
            compaction.bytes += (try? bytesInUse(database)) ?? 0
        }
        compaction.excess = max(0, compaction.bytes - settings.maxBytes)
        return compaction
    }

    /// Call when the gaps that tell of ``Recovery/lost`` are appended, with durability `disk`: what is crossed out in their
    /// commit is told exactly once.
    public func noteLossesTold() {
        guard hasUntold else { return }
        forgetHole()
        // Those gaps tell of numbers below all that was owed when this was last written down.
        stateOldest()
    }

    /// By now the host has told everybody.
    private func forgetHole() {
        hasUntold = false
        if disk.fault == nil { holeBegin = nil }
        state("untold", "")
    }

    private func eraseOrphans(in database: Database) throws(SQLiteFailure) -> Int {
        try database.execute(
            "DELETE FROM events WHERE seq>0 AND owner=0 AND NOT EXISTS(SELECT 1 FROM owed WHERE owed.seq=events.seq)")
        return database.changes
    }

    /// After a flood the file gives its room back: on a tmpfs that is memory. Only while what stays is small, because it
    /// is copied.
    private func shrink(_ database: Database) throws(SQLiteFailure) {
        let free = try database.integer("PRAGMA freelist_count")
        guard free > 1_024, try database.integer("PRAGMA page_count") - free < 512 else { return }
        try database.execute("VACUUM")
    }

    private func bytesInUse(_ database: Database) throws(SQLiteFailure) -> Int {
        let pages = try database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")
        return Int(pages * (try database.integer("PRAGMA page_size")))
    }

    /// The oldest data events of both databases, by handler, whose erasure frees at least `bytes`, advertisements before
    /// all other; connects, disconnects, attention and gaps are never named. An event owed to several is named to each.
    public func oldestData(freeing bytes: Int) -> [HandlerID: [Sequence]] {
        for store in stores { if case .lost(let loss)? = store.settle() { untold.append(.lost(loss)) } }
        var found: [HandlerID: [Sequence]] = [:]
        var left = bytes
        for kinds in ["kind=9", "kind IN (3,4,5,6,10)"] {
            for store in stores.reversed() where left > 0 {
                store.each("SELECT seq,owner,length(payload) FROM events WHERE seq>0 AND \(kinds) ORDER BY seq") {
                    row in
                    guard left > 0 else { return }
                    left -= Int(row.integer(2)) + 64
                    let seq = Sequence(UInt64(bitPattern: row.integer(0)))
                    for handler in store.owners(of: seq, row.integer(1)) { found[handler, default: []].append(seq) }
                }
            }
        }
        return found
    }

    // MARK: Dead letters

    /// Moves the handler's copy of the event out of its queue, for a person to look at. Of one that cannot be read the
    /// fact that it was there is kept.
    public func deadLetter(_ seq: Sequence, by handler: HandlerID, reason: String, at time: WallTime) {
        let event = event(seq)
        let why = event == nil ? reason + "; its payload cannot be read" : reason
        let kept = event ?? Self.remains(of: seq, from: deviceOfDamaged(seq) ?? EventOrigin(rawValue: 0), at: time)
        disk.perform(.bury(DeadLetter(seq: seq, handler: handler, event: kept, reason: why, at: time)))
        if disk.fault != nil { lowerMemory(to: seq.rawValue) }
        acknowledge([seq], by: handler)
    }

    /// What stands in the place of an event that cannot be read: a gap of one, under its number.
    public static func remains(of seq: Sequence, from device: EventOrigin, at time: WallTime) -> DeviceEvent {
        let gap = Gap(cause: .durability, count: 1, first: seq, last: seq, from: time, to: time)
        let stamp = Stamp(moment: Moment(monotonic: .zero, boottime: .zero), wall: time)
        return DeviceEvent(origin: device, kind: .gap(gap), stamp: stamp)
    }

    /// Believed only where there is such a device.
    private func deviceOfDamaged(_ seq: Sequence) -> EventOrigin? {
        for store in stores {
            let found = (try? store.database?.integer("SELECT device FROM events WHERE seq=\(seq.rawValue)")) ?? 0
            let id = EventOrigin(rawValue: UInt32(clamping: found))
            if identities.devices[id] != nil { return id }
        }
        return nil
    }

    /// By number; also those that a full disk keeps in memory.
    public func deadLetters() -> [DeadLetter] { disk.deadLetters() }

    /// How many were dropped.
    public func dropDeadLetters(matching matches: (DeadLetter) -> Bool) -> Int {
        let chosen = deadLetters().filter(matches)
        for letter in chosen { disk.perform(.unbury(letter.seq, letter.handler)) }
        return chosen.count
    }

    /// Takes a dead letter out, to be appended again under a new number in the same commit.
    public func takeDeadLetter(_ seq: Sequence, of handler: HandlerID) -> DeadLetter? {
        guard let letter = deadLetters().first(where: { $0.seq == seq && $0.handler == handler }) else { return nil }
        disk.perform(.unbury(seq, handler))
        return letter
    }
}
