// What the journal still knows after a start: who is owed what, which number comes next, and what was lost.
import Glibc
import WakeModel

/// What the databases said of the life before.
struct StartFacts {
    var journal: String?
    var runJournal: String?
    var reserved: UInt64
    /// Events of durability `ram` were in use and not closed cleanly.
    var usedRam: Bool
    var runSurvived: Bool
    /// Set by a clean close: the newest number, and the oldest `run` number still owed (0 for none).
    var closed: (newest: UInt64, oldestRun: UInt64)?
    var foreignRun: String?

    init(disk: [String: String], run: [String: String]?) {
        journal = disk["journal"]
        runJournal = run?["journal"]
        reserved = disk["reserved"].flatMap(UInt64.init) ?? 0
        usedRam = disk["ram"] == "1"
        runSurvived = run.map { $0["boot"] != nil } ?? true
        let words = (disk["closed"] ?? "").split(separator: " ").compactMap { UInt64($0) }
        closed = words.count == 2 ? (words[0], words[1]) : nil
    }
}

extension Journal {
    /// Reads everything that is owed. Call once, before the first append. `now` is the wall clock's for `nil`.
    public func recover(at now: WallTime? = nil) -> Recovery {
        var recovery = Recovery()
        recovery.stopped = identities.stopped
        if let sentence = start.foreignRun { recovery.losses.append(DurabilityLoss(which: .run, sentence: sentence)) }
        var highest = UInt64(start.closed?.newest ?? 0)
        for store in stores {
            if let sentence = store.takeLoss() {
                recovery.losses.append(DurabilityLoss(which: store.which, sentence: sentence))
            }
            highest = max(highest, readOwed(from: store, into: &recovery))
        }
        for handler in recovery.owed.keys { recovery.owed[handler]?.sort { $0.sequence < $1.sequence } }
        placeNumbers(above: highest, at: now ?? .now, into: &recovery)
        reserve(upTo: Sequence(recovery.next.rawValue + UInt64(settings.reservation) - 1))
        if case .lost(let loss) = commit() { recovery.losses.append(loss) }
        return recovery
    }

    private func placeNumbers(above highest: UInt64, at now: WallTime, into recovery: inout Recovery) {
        let wall = newest.wall.microseconds == 0 ? nil : newest.wall
        let isWhole = recovery.losses.isEmpty && disk.fault == nil
        if let closed = start.closed, isWhole {
            recovery.next = Sequence(highest + 1)
            guard !start.runSurvived, closed.oldestRun > 0 else { return }
            recovery.lost = Recovery.Lost(
                first: Sequence(closed.oldestRun), last: Sequence(closed.newest), from: wall, to: now)
        } else if isWhole, start.runSurvived, !start.usedRam {
            recovery.next = Sequence(highest + 1)
        } else {
            recovery.next = Sequence(max(reserved.rawValue, highest) + 1)
            guard reserved.rawValue > highest else { return }
            recovery.lost = Recovery.Lost(first: Sequence(highest + 1), last: reserved, from: wall, to: now)
        }
    }

    /// The highest number this database knows of.
    private func readOwed(from store: EventStore, into recovery: inout Recovery) -> UInt64 {
        let states = store.states()
        var highest: UInt64 = 0
        if let cursor = Cursor(states[0]) {
            highest = cursor.seq.rawValue
            if cursor.seq > newest.seq { newest = cursor }
        }
        if let bytes = states[-1] { recovery.replayPosition = replayPosition(bytes) }
        let reader = OwedReader(store: store, states: states)
        let outcome = reader.read { handler, event in recovery.owed[handler, default: []].append(event) }
        if outcome.damaged > 0 {
            let sentence =
                "the journal \(store.path) has \(outcome.damaged) events that are not what was written; they are skipped, check its disk"
            recovery.losses.append(DurabilityLoss(which: store.which, sentence: sentence))
        }
        if let failure = outcome.failure, case .lost(let loss) = store.degrade(failure) { recovery.losses.append(loss) }
        return max(highest, outcome.highest)
    }

    private func replayPosition(_ bytes: [UInt8]) -> Recovery.ReplayPosition? {
        var reader = ByteReader(bytes: bytes)
        guard let line = reader.integer(Int64.self) else { return nil }
        return Recovery.ReplayPosition(source: reader.restText, line: Int(line))
    }

    // MARK: The end

    /// `clean` says that the bridge stops in order; with nothing left in memory the next start then misses no number.
    public func close(clean: Bool) {
        let isWhole = ram.events.isEmpty && stores.allSatisfy { $0.fault == nil }
        if clean, isWhole {
            let oldest = run?.oldest ?? 0
            disk.perform(.state(0, newest.bytes))
            disk.perform(.fact("closed", "\(newest.seq.rawValue) \(oldest)"))
            disk.perform(.fact("ram", ""))
        }
        _ = commit()
        for store in stores { store.database = nil }
    }
}

extension EventStore {
    /// The oldest number owed here; 0 for none.
    var oldest: UInt64 {
        UInt64((try? database?.integer("SELECT coalesce(min(seq),0) FROM events")) ?? 0)
    }
}

/// One pass over the events of a database with their owners, attempts and leases.
struct OwedReader {
    let store: EventStore
    let states: [Int64: [UInt8]]

    struct Outcome {
        var highest: UInt64 = 0
        var damaged = 0
        var failure: SQLiteFailure?
    }

    func read(_ found: (HandlerID, RecoveredEvent) -> Void) -> Outcome {
        var outcome = Outcome()
        do {
            try walk(&outcome, found)
        } catch { outcome.failure = error }
        return outcome
    }

    private func walk(_ outcome: inout Outcome, _ found: (HandlerID, RecoveredEvent) -> Void) throws(SQLiteFailure) {
        guard let database = store.database else { return }
        let attempts = try counts(database)
        store.noteAttempts(!attempts.isEmpty)
        let delivered = deliveredSets()
        var record = EventRecord()
        let rows = try database.prepare(
            "SELECT seq,owner,device,kind,monotonic,boottime,wall,synced,crc,payload FROM events ORDER BY seq")
        while try rows.step() {
            guard let (seq, owner, event) = record.decode(rows) else {
                outcome.damaged += 1
                continue
            }
            outcome.highest = max(outcome.highest, seq.rawValue)
            store.noteHeld(seq, isShared: owner == 0)
            for handler in try owners(of: seq, owner, database) {
                let count = attempts[Owed(handler: handler, seq: seq)] ?? (0, 0)
                let wasDelivered = delivered[handler]?.contains(seq) == true
                found(
                    handler,
                    RecoveredEvent(
                        sequence: seq, device: event.device, content: .init(event.kind), size: event.payloadSize,
                        stamp: event.stamp, attempts: count.0, charges: count.1,
                        wasDelivered: wasDelivered, durability: store.which))
            }
        }
    }

    private struct Owed: Hashable {
        var handler: HandlerID
        var seq: Sequence
    }

    private func counts(_ database: Database) throws(SQLiteFailure) -> [Owed: (Int, Int)] {
        var found: [Owed: (Int, Int)] = [:]
        let rows = try database.prepare("SELECT handler,seq,attempts,charges FROM attempts")
        while try rows.step() {
            let owed = Owed(
                handler: HandlerID(rawValue: UInt32(truncatingIfNeeded: rows.integer(0))),
                seq: Sequence(UInt64(bitPattern: rows.integer(1))))
            found[owed] = (Int(rows.integer(2)), Int(rows.integer(3)))
        }
        return found
    }

    private func deliveredSets() -> [HandlerID: Set<Sequence>] {
        var found: [HandlerID: Set<Sequence>] = [:]
        for (key, bytes) in states where key > 0 {
            found[HandlerID(rawValue: UInt32(truncatingIfNeeded: key))] = Set(bytes.unpackedSequences)
        }
        return found
    }

    private func owners(of seq: Sequence, _ owner: UInt32, _ database: Database) throws(SQLiteFailure) -> [HandlerID] {
        guard owner == 0 else { return [HandlerID(rawValue: owner)] }
        let rows = try database.statement(.owners)
        rows.bind(1, seq.rawValue)
        var found: [HandlerID] = []
        while try rows.step() { found.append(HandlerID(rawValue: UInt32(truncatingIfNeeded: rows.integer(0)))) }
        return found
    }
}

extension WallTime {
    fileprivate static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }
}
