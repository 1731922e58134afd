// Transfers, sessions and limiters as their rows in the database: written and read here alone.
import WakeModel
import WakeTransfer

extension TransferBook {
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        guard let value = try? JSONValue(parsing: row.value) else { return false }
        if row.key.id.isEmpty { return restoreLimiter(value, row.key.handler, step) }
        guard row.key.id.contains("/") else { return restoreSession(value, row.key, &step) }
        guard let anchor = BootAnchor(value), var entry = TransferEntry(value, row.key) else { return false }
        let moved = anchor.shift(to: step)
        entry.shift(by: moved.by)
        entry.assumedZero = moved.zero
        if moved.zero != nil { assumed.insert(row.key) }
        lastNumber = max(lastNumber, entry.number)
        if let sequence = entry.sequence { index.number(row.key, sequence) }
        let session = entry.session
        sessions[session, default: TransferSession(key: session)].restsUntil = nil
        keep(entry)
        anchor.bootID == step.bootID ? index.touch(row.key) : index.save(row.key)
        return true
    }

    private mutating func restoreSession(_ value: JSONValue, _ key: AgendaKey, _ step: inout AgendaStep) -> Bool {
        guard let session = TransferSession(value, key) else { return false }
        sessions[key] = session
        index.use(session.until, for: key, &step)
        if let sequence = session.sequence { index.number(key, sequence) }
        return true
    }

    /// Instants of another boot mean nothing, and after a boot nothing is a chain.
    private mutating func restoreLimiter(_ value: JSONValue, _ handler: HandlerID, _ step: AgendaStep) -> Bool {
        guard let boot = value["boot"]?.string, let delay = value.span("delay_ns"), delay >= .zero else { return false }
        let limiter =
            boot == step.bootID ? TransferLimiter(delay: delay, wokenAt: value.instant("woken_ns")) : TransferLimiter()
        limiters[handler] = limiter
        if limiter.isIdle { index.save(AgendaKey(handler, .transfer, "")) }
        return true
    }
}

extension TransferLimiter {
    func row(_ key: AgendaKey, _ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            writer.field("boot", step.bootID)
            writer.field("delay_ns", delay.nanoseconds)
            if let wokenAt { writer.field("woken_ns", wokenAt.nanoseconds) }
        }
        return AgendaRow(key: key, value: value)
    }
}

extension TransferSession {
    func row(_ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            writer.field("boot", step.bootID)
            writer.object("tally") { tally.write(into: &$0) }
            writer.object("told") { told.write(into: &$0) }
            if let sequence { writer.field("seq", sequence.rawValue) }
            if !until.isEmpty { writer.field("until", until.map(\.word)) }
        }
        return AgendaRow(key: key, value: value)
    }

    fileprivate init?(_ value: JSONValue, _ key: AgendaKey) {
        guard let tally = value["tally"].flatMap({ TransferTally($0) }),
            let told = value["told"].flatMap({ TransferTally($0) }),
            let until = value.conditions("until", of: key.handler)
        else { return nil }
        self.init(key: key)
        (self.tally, self.told, self.until) = (tally, told, until)
        if let number = value.count("seq") {
            run = .raised(Sequence(UInt64(number)))
        } else {
            // The bridge ended before it had a number, so that the handler got no event.
            self.tally.add(told)
            self.told = TransferTally()
        }
    }
}

extension TransferTally {
    fileprivate func write(into writer: inout JSONWriter) {
        writer.field("finished", finished)
        writer.field("failed", failed)
    }

    fileprivate init?(_ value: JSONValue) {
        guard let finished = value.count("finished"), let failed = value.count("failed") else { return nil }
        self.init(finished: finished, failed: failed)
    }
}

extension TransferEntry {
    func row(_ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            BootAnchor(step, zero: assumedZero).write(into: &writer)
            writer.field("number", number)
            order.write(into: &writer)
            writer.field("earliest_ns", earliest.nanoseconds)
            if let deadline { writer.field("deadline_ns", deadline.nanoseconds) }
            writer.field("give_up_ns", giveUp.nanoseconds)
            if isDiscretionary { writer.field("discretionary", true) }
            if isPaused { writer.field("paused", true) }
            writer.field("since_us", waitingSince.microseconds)
            if !until.isEmpty { writer.field("until", until.map(\.word)) }
            if handBacks > 0 { writer.field("handed_back", handBacks) }
            writeState(into: &writer)
            history.write(into: &writer)
        }
        return AgendaRow(key: key, value: value)
    }

    private func writeState(into writer: inout JSONWriter) {
        switch phase {
        case .waiting:
            if let retry = status.retry {
                writer.object("retry") { writer in
                    writer.field("why", retry.why)
                    writer.field("at_ns", retry.at.nanoseconds)
                    writer.field("since_us", retry.since.microseconds)
                }
            }
        case .moving: writer.field("moving", true)
        case .ended(let result): writer.object("ended") { result.write(into: &$0) }
        }
        if let challenge {
            writer.object("challenge") { writer in
                writer.field("realm", challenge.realm)
                writer.field("until_ns", challenge.until.nanoseconds)
                writer.field("told", challenge.isTold)
            }
        }
        if case .raised(let sequence, let telling) = run {
            writer.field("seq", sequence.rawValue)
            writer.field("telling", telling.rawValue)
        }
    }

    /// Its rule comes with the manifest.
    fileprivate init?(_ value: JSONValue, _ key: AgendaKey) {
        guard let number = value.count("number"), number > 0, let order = TransferOrder(value),
            let earliest = value.instant("earliest_ns"), let giveUp = value.instant("give_up_ns"),
            let since = value.bounded("since_us"), let until = value.conditions("until", of: key.handler),
            TransferName(key.id) != nil
        else { return nil }
        self.init(
            key: key, number: number, order: order, earliest: earliest, giveUp: giveUp,
            waitingSince: WallTime(microseconds: since))
        deadline = value.instant("deadline_ns")
        (isDiscretionary, isPaused) = (value.flag("discretionary"), value.flag("paused"))
        (self.until, handBacks) = (until, value.count("handed_back") ?? 0)
        if value.flag("moving") { phase = .moving }
        if let result = value["ended"].flatMap({ TransferResult($0) }) { phase = .ended(result) }
        readTelling(value)
        history = ChangeHistory(value)
        guard let retry = value["retry"], let time = retry.instant("at_ns"), let since = retry.bounded("since_us")
        else { return }
        status.fail(retry["why"]?.string ?? "", until: time, since: WallTime(microseconds: since))
    }

    private mutating func readTelling(_ value: JSONValue) {
        let telling = value["telling"]?.string.flatMap { Telling(rawValue: $0) }
        if let number = value.count("seq"), let telling { run = .raised(Sequence(UInt64(number)), telling) }
        guard let asked = value["challenge"], let until = asked.instant("until_ns") else { return }
        challenge = Challenge(realm: asked["realm"]?.string ?? "", until: until)
        challenge?.isTold = asked.flag("told")
    }
}
