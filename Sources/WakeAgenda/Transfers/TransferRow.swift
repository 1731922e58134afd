// Transfers, sessions and limiters as their rows in the database: written and read here alone.
import WakeModel
import WakeTransfer

extension TransferBook {
    mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool {
        if row.key.id.isEmpty { return restoreLimiter(row, step) }
        guard row.key.id.contains("/") else {
            guard sessions.restore(row, step) else { return false }
            sessions.index.use(sessions[row.key]?.until ?? [], for: row.key, &step)
            return true
        }
        guard store.restore(row, step), let entry = store[row.key] else { return false }
        lastNumber = max(lastNumber, entry.number)
        enlist(entry)
        if sessions[entry.session] == nil { sessions.keep(TransferSession(key: entry.session)) }
        return true
    }

    /// Instants of another boot mean nothing, and after a boot nothing is a chain.
    private mutating func restoreLimiter(_ row: AgendaRow, _ step: AgendaStep) -> Bool {
        guard let value = try? JSONValue(parsing: row.value), let boot = value["boot"]?.string,
            let delay = value.span("delay_ns"), delay >= .zero
        else { return false }
        let limiter =
            boot == step.bootID ? TransferLimiter(delay: delay, wokenAt: value.instant("woken_ns")) : TransferLimiter()
        limiters[row.key.handler] = limiter
        if limiter.isIdle { unsavedLimiters.insert(row.key.handler) }
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
    static let hasInstants = false
    static let shape = RowShape<TransferSession>([
        .required("tally", \.tally), .required("told", \.told), .optional("seq", \.delivery.sequence),
        .conditions("until", \.until),
    ])

    init(key: AgendaKey, row: JSONValue) { self.init(key: key) }

    /// The bridge ended before it had a number, so that the handler got no event.
    mutating func settleRestored() {
        guard delivery.isWaiting else { return }
        tally.add(told)
        told = TransferTally()
    }
}

extension TransferTally: RowObject {
    static let shape = RowShape<TransferTally>([.required("finished", \.finished), .required("failed", \.failed)])
}

extension TransferEntry {
    /// Its rule comes with the manifest.
    static let shape = RowShape<TransferEntry>([
        .required("number", \.number), .part(\.order), .required("earliest_ns", \.earliest),
        .optional("deadline_ns", \.deadline), .required("give_up_ns", \.giveUp),
        .flag("discretionary", \.isDiscretionary), .flag("paused", \.isPaused), .required("since_us", \.waitingSince),
        .conditions("until", \.until), .count("handed_back", \.handBacks), .optional("retry", \.storedRetry),
        .flag("moving", \.isMoving), .optional("ended", \.storedResult), .optional("challenge", \.challenge),
        .optional("seq", \.delivery.sequence), .optional("telling", \.telling), .part(\.history),
    ])

    init?(key: AgendaKey, row: JSONValue) {
        guard let number = row.count("number"), number > 0, let order = TransferOrder(row), TransferName(key.id) != nil
        else { return nil }
        self.init(
            key: key, number: number, order: order, earliest: .zero, giveUp: .zero,
            waitingSince: WallTime(microseconds: 0))
    }

    /// While it moves, transferd tries it again by itself.
    fileprivate var storedRetry: TransferStatus.Retry? {
        get { phase == .waiting ? status.retry : nil }
        set { if let newValue { status.fail(newValue.why, until: newValue.at, since: newValue.since) } }
    }

    fileprivate struct StoredResult { var result: TransferResult }

    fileprivate var storedResult: StoredResult? {
        get { result.map(StoredResult.init) }
        set { if let newValue { phase = .ended(newValue.result) } }
    }

    fileprivate var isMoving: Bool {
        get { phase == .moving }
        set { if newValue { phase = .moving } }
    }

    /// The bridge ended before it had a number, so that the handler got no event.
    mutating func settleRestored() {
        if delivery.isWaiting || telling == nil { (delivery, telling) = (DeliveryState(), nil) }
    }
}

extension TransferOrder: RowPart {}
extension TransferEntry.StoredResult: RowValue {
    static func read(_ value: JSONValue, of handler: HandlerID) -> Self? { TransferResult(value).map(Self.init) }
    func write(into writer: inout JSONWriter) { writer.object { result.write(into: &$0) } }
}
extension TransferEntry.Telling: RowValue {}

extension TransferEntry.Challenge: RowObject {
    static let shape = RowShape<TransferEntry.Challenge>([
        .required("realm", \.realm), .required("until_ns", \.until), .required("told", \.isTold),
    ])
}

extension TransferStatus.Retry: RowObject {
    static let shape = RowShape<TransferStatus.Retry>([
        .required("why", \.why), .required("at_ns", \.at), .required("since_us", \.since),
    ])
}
