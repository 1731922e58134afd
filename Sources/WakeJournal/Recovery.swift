// The journal's knowledge after a start: the pending events of each handler, the next number, and the loss.
import Glibc
import WakeModel

extension Journal {
    /// Reads all pending events. Call it once, before the first append.
    /// - Parameters:
    ///   - now: replaces the wall clock.
    ///   - record: writes into the commit of the findings, which erases the time of the last session's last write.
    public func recover(at now: WallTime? = nil, recording record: (inout Recovery) -> Void = { _ in }) -> Recovery {
        var recovery = Recovery()
        recovery.stopped = Set(identities.handlers.filter(\.value.isStopped).keys)
        if identities.isComplete { recovery.handlers = Set(identities.handlers.keys) }
        var survey = Survey(highest: start.closed?.newest ?? 0)
        for store in stores { read(store, into: &recovery, &survey) }
        replay.recovered = recovery.replayPosition
        streams.isCertain = run == nil || start.closed != nil || start.run["boot"] == bootID
        if stores.contains(where: \.condition.wasDamaged) { streams.isCertain = false }
        for handler in recovery.pending.keys { recovery.pending[handler]?.sort { $0.sequence < $1.sequence } }
        placeNumbers(survey, at: now ?? .now, into: &recovery)
        // The numbers of the hole are used up, whether they were issued or not. A later loss has later numbers.
        numbers.newest.seq = max(newest.seq, Sequence(recovery.next.rawValue - 1))
        // The next start needs neither the rows that proved the numbers nor the hole.
        for store in stores { store.writeCursor(newest) }
        isRecovered = true
        // The hole now includes the events that memory lost.
        clearMemoryUse()
        record(&recovery)
        beginDatabases(&recovery)
        reserve(upTo: Sequence(recovery.next.rawValue + UInt64(settings.reservation) - 1))
        for store in stores { recovery.losses += store.removeReports() }
        commitFindings(&recovery)
        writeReservationFile()
        // ``Recovery/lost`` reports the damage so far; later damage is another loss.
        for store in stores where !store.isDegraded { store.clearDamage() }
        return recovery
    }

    /// Commits before there is a reservation. A reservation that only the disk knows would mean that the run database was lost, with
    /// all events since.
    private func beginDatabases(_ recovery: inout Recovery) {
        if start.isFirstSession {
            commitFindings(&recovery)
        } else if start.run["boot"] == nil, recovery.lost == nil, case .lost(let loss)? = run?.commit() {
            recovery.losses.append(loss)
        }
    }

    private func commitFindings(_ recovery: inout Recovery) {
        for case .lost(let loss) in commit() { recovery.losses.append(loss) }
    }

    // MARK: Holes

    /// Each number below `next` that is neither pending nor known to be done is in the hole.
    private func placeNumbers(_ survey: Survey, at now: WallTime, into recovery: inout Recovery) {
        let holes = holes(survey)
        let first = holes.map(\.lowerBound).min()
        let last = holes.map(\.upperBound).max()
        recovery.next = Sequence(max(survey.highest, last ?? 0) + 1)
        guard let first, let last else { return }
        let wall = newest.wall.microseconds == 0 ? nil : newest.wall
        recovery.lost = Recovery.Lost(first: Sequence(first), last: Sequence(last), from: wall, to: now)
        // A crash before the handlers know of it must not lose the hole.
        setFact("untold", "\(first) \(last)")
        (losses.areUnreported, losses.firstInHole) = (true, first)
    }

    private func holes(_ survey: Survey) -> [ClosedRange<UInt64>] {
        guard !start.isFirstSession || stores.contains(where: \.condition.wasDamaged) else { return [] }
        let upper = upperBound(survey)
        var firsts: [UInt64] = []
        if start.closed == nil, let first = start.firstInMemory { firsts.append(first) }
        for store in stores
        where store.condition.wasDamaged || store.database == nil || survey.incomplete.contains(store.which) {
            firsts.append(start.oldest(store.which))
        }
        for store in stores where isCut(store) { firsts.append(firstCut(store, survey)) }
        if let first = firstLostWithRun(survey) { firsts.append(first) }
        if start.reserved == nil { firsts.append(survey.highest + 1) }
        let holes = firsts.filter { $0 <= upper }.map { $0...upper }
        return holes + [start.unreported].compactMap { $0 }
    }

    private func upperBound(_ survey: Survey) -> UInt64 {
        if let closed = start.closed { return max(closed.newest, survey.highest) }
        // An unknown reservation is skipped by far more than one can be.
        guard let reserved = start.reserved else { return survey.highest + 1 << 20 }
        return max(reserved, survey.highest)
    }

    /// A reboot erases the runtime directory. If it stays, it may lack unsynced writes.
    private func firstLostWithRun(_ survey: Survey) -> UInt64? {
        guard let run else { return nil }
        if start.run["boot"] == nil {
            guard let closed = start.closed else { return start.oldest(.run) }
            return closed.oldestRun > 0 ? closed.oldestRun : nil
        }
        return start.run["boot"] != bootID && start.closed == nil ? firstCut(run, survey) : nil
    }

    /// A cut loses numbers above the last that is left. A log that is unreadable from its beginning may also lose older ones that it
    /// took over. Acknowledged events are no loss.
    private func firstCut(_ store: EventStore, _ survey: Survey) -> UInt64 {
        let first = (survey.newest[store.which] ?? 0) + 1
        return max(min(first, store.condition.firstUnreadable ?? first), start.oldest(store.which))
    }

    /// After a reboot the witness may be older than the log.
    private func isCut(_ store: EventStore) -> Bool { store.condition.isCut && start.run["boot"] == bootID }

    // MARK: Reading

    private struct Survey {
        var highest: UInt64
        var newest: [Durability: UInt64] = [:]
        /// Databases that may miss any event.
        var incomplete: Set<Durability> = []
    }

    private func read(_ store: EventStore, into recovery: inout Recovery, _ survey: inout Survey) {
        var outcome = PendingEventReader.read(store)
        if let failure = outcome.failure, failure.isCorruption {
            store.rebuild(after: failure)
            outcome = PendingEventReader.read(store)
        }
        if let failure = outcome.failure, case .lost(let loss) = store.degrade(failure) { store.report(loss.sentence) }
        for (handler, events) in outcome.pending { recovery.pending[handler, default: []] += events }
        if let position = outcome.replayPosition, isNewer(position, than: recovery.replayPosition) {
            recovery.replayPosition = position
        }
        streams.adopt(outcome.streams)
        if outcome.cursor.seq > newest.seq { numbers.newest = outcome.cursor }
        survey.highest = max(survey.highest, outcome.highest)
        survey.newest[store.which] = outcome.highest
        if isCut(store) {
            store.report("the log of the journal \(store.path) was cut: what was written last is lost, check its disk")
        }
        if outcome.mayMissEvents { survey.incomplete.insert(store.which) }
        if let sentence = outcome.sentence(about: store.path) {
            store.report(sentence)
            store.apply(outcome.repairs, rewritesProgress: outcome.damaged[.progress] != nil)
        }
    }

    /// In one trace the later line counts: it is in the database that has the last events. If the databases name two
    /// traces, the run database is read last and counts.
    private func isNewer(_ position: Recovery.ReplayPosition, than earlier: Recovery.ReplayPosition?) -> Bool {
        earlier.map { $0.source != position.source || $0.line < position.line } ?? true
    }

    // MARK: The end

    /// - Parameter clean: the daemon stops in order. Where memory holds nothing, the next start then misses no number.
    public func close(clean: Bool) {
        disk.includeDeferredFacts()
        _ = commit()
        // There may be room again for the events in memory.
        if clean { _ = heal() }
        // Before the databases are asked for their oldest pending event.
        for store in stores { _ = store.flushLog() }
        if clean, ram.isEmpty, !stores.contains(where: \.isDegraded) {
            for store in stores { store.writeCursor(newest) }
            replay.copy(to: disk)
            streams.copy(to: disk)
            setFact("closed", "\(newest.seq.rawValue) \(run?.oldest(orElse: 0) ?? 0)")
            setFact("ram", "")
        }
        _ = commit()
        for store in stores {
            _ = store.flushLog()
            store.close()
        }
    }
}

extension WallTime {
    fileprivate static var now: WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
    }
}
