// What the journal still knows after a start: who is owed what, which number comes next, and what was lost.
import Glibc
import WakeModel

extension Journal {
    /// Reads everything that is owed. Call once, before the first append. `now` is the wall clock's for `nil`. What `note` asks
    /// for is in the commit of what was found: with that the time goes by which the files were last written.
    public func recover(at now: WallTime? = nil, noting note: (Recovery) -> Void = { _ in }) -> Recovery {
        var recovery = Recovery()
        recovery.stopped = Set(identities.handlers.filter(\.value.isStopped).keys)
        if identities.areWhole { recovery.handlers = Set(identities.handlers.keys) }
        var survey = Survey(highest: start.closed?.newest ?? 0)
        for store in stores { read(store, into: &recovery, &survey) }
        replay.recovered = recovery.replayPosition
        for handler in recovery.owed.keys { recovery.owed[handler]?.sort { $0.sequence < $1.sequence } }
        placeNumbers(survey, at: now ?? .now, into: &recovery)
        // What lies in the hole is used up, whether or not it was given; a later loss is one of later numbers.
        newest.seq = max(newest.seq, Sequence(recovery.next.rawValue - 1))
        // Neither the rows that said so nor the hole need to be there at the next start.
        for store in stores { store.state(newest) }
        isRecovered = true
        // What memory lost is in the hole now.
        forgetMemory()
        note(recovery)
        beginBoth(&recovery)
        reserve(upTo: Sequence(recovery.next.rawValue + UInt64(settings.reservation) - 1))
        for store in stores { recovery.losses += store.takeUntold() }
        for case .lost(let loss) in commit() { recovery.losses.append(loss) }
        keepNumbers()
        // Told in ``Recovery/lost``; what is damaged from now on is another matter.
        for store in stores where store.fault == nil { store.acceptDamage() }
        return recovery
    }

    /// A reservation that the disk alone knows means that the run database was lost, with all that may have been given since. Where
    /// there was none to lose, both have begun before there is one.
    private func beginBoth(_ recovery: inout Recovery) {
        if start.isFirstLife {
            for case .lost(let loss) in commit() { recovery.losses.append(loss) }
        } else if start.run["boot"] == nil, recovery.lost == nil, case .lost(let loss)? = run?.commit() {
            recovery.losses.append(loss)
        }
    }

    // MARK: Holes

    /// Every number below `next` that is neither owed nor known to be done with lies in the hole.
    private func placeNumbers(_ survey: Survey, at now: WallTime, into recovery: inout Recovery) {
        let holes = holes(survey)
        let first = holes.map(\.lowerBound).min()
        let last = holes.map(\.upperBound).max()
        recovery.next = Sequence(max(survey.highest, last ?? 0) + 1)
        guard let first, let last else { return }
        let wall = newest.wall.microseconds == 0 ? nil : newest.wall
        recovery.lost = Recovery.Lost(first: Sequence(first), last: Sequence(last), from: wall, to: now)
        // Until the host had the time to tell its handlers, a death would lose the hole itself.
        state("untold", "\(first) \(last)")
        (hasUntold, holeBegin) = (true, first)
    }

    private func holes(_ survey: Survey) -> [ClosedRange<UInt64>] {
        guard !start.isFirstLife || stores.contains(where: \.wasDamaged) else { return [] }
        let upper = upperBound(survey)
        var firsts: [UInt64] = []
        if start.closed == nil, let first = start.firstInMemory { firsts.append(first) }
        for store in stores where store.wasDamaged || store.database == nil || survey.isBlind.contains(store.which) {
            firsts.append(start.oldest(store.which))
        }
        for store in stores where isCut(store) { firsts.append(firstCut(store, survey)) }
        if let first = firstLostWithRun(survey) { firsts.append(first) }
        if start.reserved == nil { firsts.append(survey.highest + 1) }
        let holes = firsts.filter { $0 <= upper }.map { $0...upper }
        return holes + [start.untold].compactMap { $0 }
    }

    /// No number above it was given.
    private func upperBound(_ survey: Survey) -> UInt64 {
        if let closed = start.closed { return max(closed.newest, survey.highest) }
        // A reservation that nobody knows is passed over by far more than one can be.
        guard let reserved = start.reserved else { return survey.highest + 1 << 20 }
        return max(reserved, survey.highest)
    }

    /// A reboot takes the runtime directory with it; where it does not, it may take what was not synced yet.
    private func firstLostWithRun(_ survey: Survey) -> UInt64? {
        guard let run else { return nil }
        if start.run["boot"] == nil {
            guard let closed = start.closed else { return start.oldest(.run) }
            return closed.oldestRun > 0 ? closed.oldestRun : nil
        }
        return start.run["boot"] != bootID && start.closed == nil ? firstCut(run, survey) : nil
    }

    /// What stood behind the last that is left is above it, but for what a log took over that is missing from its beginning;
    /// what nobody was owed any more is no loss.
    private func firstCut(_ store: EventStore, _ survey: Survey) -> UInt64 {
        let first = (survey.newest[store.which] ?? 0) + 1
        return max(min(first, store.firstCarried ?? first), start.oldest(store.which))
    }

    /// After a reboot the witness may be older than the log.
    private func isCut(_ store: EventStore) -> Bool { store.isCut && start.run["boot"] == bootID }

    // MARK: Reading

    /// What was met while reading.
    private struct Survey {
        /// The highest number that anything speaks of.
        var highest: UInt64
        /// The highest that each database itself speaks of.
        var newest: [Durability: UInt64] = [:]
        /// Databases that may miss any event.
        var isBlind: Set<Durability> = []
    }

    private func read(_ store: EventStore, into recovery: inout Recovery, _ survey: inout Survey) {
        var outcome = readOwed(store)
        if let failure = outcome.failure, failure.isCorruption {
            store.rebuild(after: failure)
            outcome = readOwed(store)
        }
        if let failure = outcome.failure, case .lost(let loss) = store.degrade(failure) { store.tell(loss.sentence) }
        for (handler, events) in outcome.owed { recovery.owed[handler, default: []] += events }
        if let position = outcome.notes[.replayPosition].flatMap(Recovery.ReplayPosition.init) {
            adopt(position, into: &recovery)
        }
        if outcome.cursor.seq > newest.seq { newest = outcome.cursor }
        survey.highest = max(survey.highest, outcome.highest)
        survey.newest[store.which] = outcome.highest
        if isCut(store) {
            store.tell("the log of the journal \(store.path) was cut: what was written last is lost, check its disk")
        }
        if outcome.mayMissEvents { survey.isBlind.insert(store.which) }
        if let sentence = outcome.sentence(about: store.path) {
            store.tell(sentence)
            store.apply(outcome.remedies, notesToo: outcome.damagedNotes > 0)
        }
    }

    /// Of one trace the database that took the last events knows best. Where they name two, the run database is read last
    /// and counts.
    private func adopt(_ position: Recovery.ReplayPosition, into recovery: inout Recovery) {
        let earlier = recovery.replayPosition
        if let earlier, earlier.source == position.source, earlier.line >= position.line { return }
        recovery.replayPosition = position
    }

    private func readOwed(_ store: EventStore) -> OwedReader.Outcome {
        var reader = OwedReader(store)
        reader.read()
        return reader.outcome
    }

    // MARK: The end

    /// `clean` says that the bridge stops in order; with nothing left in memory the next start then misses no number.
    public func close(clean: Bool) {
        disk.takeCarried()
        _ = commit()
        // There may be room again by now for what memory keeps.
        if clean { _ = heal() }
        // Before the databases are asked for the oldest that is owed.
        for store in stores { _ = store.settle() }
        let isWhole = ram.isEmpty && stores.allSatisfy { $0.fault == nil }
        if clean, isWhole {
            for store in stores { store.state(newest) }
            keepPosition()
            state("closed", "\(newest.seq.rawValue) \(run?.oldest(orElse: 0) ?? 0)")
            state("ram", "")
        }
        _ = commit()
        for store in stores {
            _ = store.settle()
            // Synced, for the runtime directory that outlives a reboot.
            try? store.database?.checkpoint()
            store.shut()
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
