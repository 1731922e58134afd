// The entries of one kind of event: their keys, numbers, deadlines and rows, and their instants over a reboot.
import WakeModel

/// Something of a handler that a row of the database contains.
package protocol RowEntry: Sendable {
    /// Its row, beside the boot and the moment of storing it.
    static var shape: RowShape<Self> { get }
    /// Otherwise its row is good in every boot.
    static var hasInstants: Bool { get }
    /// With values that the row replaces; nil where the row cannot be read.
    init?(key: AgendaKey, row: JSONValue)
    var key: AgendaKey { get }
    /// As ``BootShift/zero``: its instants wait for a synchronized clock.
    var assumedZero: WallTime? { get set }
    /// Otherwise its row is erased.
    var isWorthStoring: Bool { get }
    mutating func shift(by span: TimeSpan)
    /// Its instants are of the boot in which it was stored, and become instants of this one.
    mutating func carry(over shift: BootShift, isAnchorAssumed: Bool)
    /// A synchronized clock shows the real place of its assumed instants.
    mutating func mend(by span: TimeSpan)
    /// An earlier life of the bridge may have ended before it had raised the event.
    mutating func settleRestored()
}

/// It is raised as an event, one occasion at a time.
package protocol TriggerEntry: RowEntry {
    var delivery: DeliveryState { get set }
}

extension RowEntry {
    package static var hasInstants: Bool { true }
    package var assumedZero: WallTime? {
        get { nil }
        set {}
    }
    package var isWorthStoring: Bool { true }
    package mutating func shift(by span: TimeSpan) {}
    package mutating func carry(over shift: BootShift, isAnchorAssumed: Bool) {
        self.shift(by: shift.by)
        assumedZero = shift.zero
    }
    package mutating func mend(by span: TimeSpan) {
        shift(by: span)
        assumedZero = nil
    }
    package mutating func settleRestored() {}

    func row(_ step: AgendaStep) -> AgendaRow {
        let value = JSONWriter.whole { writer in
            if Self.hasInstants {
                BootAnchor(step, zero: assumedZero).write(into: &writer)
            } else {
                writer.field("boot", step.bootID)
            }
            Self.shape.write(self, into: &writer)
        }
        return AgendaRow(key: key, value: value)
    }

    /// The entry, and whether its instants are others in this boot; nil where the row cannot be read.
    static func read(_ row: AgendaRow, _ step: AgendaStep) -> (entry: Self, isMoved: Bool)? {
        guard let value = try? JSONValue(parsing: row.value), var entry = Self(key: row.key, row: value),
            shape.read(value, of: row.key.handler, into: &entry)
        else { return nil }
        entry.settleRestored()
        guard hasInstants else { return (entry, false) }
        guard let anchor = BootAnchor(value) else { return nil }
        entry.carry(over: anchor.shift(to: step), isAnchorAssumed: anchor.isAssumed)
        return (entry, anchor.bootID != step.bootID)
    }
}

package struct EntryStore<Entry: TriggerEntry>: Sendable {
    private var entries: [AgendaKey: Entry] = [:]
    private var keys: [HandlerID: Set<AgendaKey>] = [:]
    package var index = EntryIndex()
    /// Entries whose instants wait for a synchronized clock.
    private var assumed: Set<AgendaKey> = []
    private var wallOffset = WallOffset()

    package init() {}

    /// To set it changes a known entry, and stores nothing.
    package subscript(key: AgendaKey) -> Entry? {
        get { entries[key] }
        set { entries[key] = newValue }
    }

    package var isEmpty: Bool { entries.isEmpty }
    package var all: [AgendaKey: Entry].Values { entries.values }
    package func keys(of handler: HandlerID) -> [AgendaKey] { (keys[handler] ?? []).sorted() }
    package func entries(of handler: HandlerID) -> [Entry] { keys(of: handler).compactMap { entries[$0] } }

    package func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        index.key(of: sequence).flatMap { $0.handler == handler ? $0 : nil }
    }

    package func raised(for handler: HandlerID) -> [Sequence] { entries(of: handler).compactMap(\.delivery.sequence) }

    // MARK: Changes

    /// It is looked at in this step, and stored.
    package mutating func put(_ entry: Entry) {
        keep(entry)
        index.save(entry.key)
    }

    /// It is known from now on, and not stored.
    package mutating func keep(_ entry: Entry) {
        entries[entry.key] = entry
        keys[entry.key.handler, default: []].insert(entry.key)
    }

    /// Changes one entry, and looks at it in this step.
    package mutating func change(_ key: AgendaKey, _ body: (inout Entry) -> Void) {
        guard var entry = entries[key] else { return }
        body(&entry)
        entries[key] = entry
        index.touch(key)
    }

    /// The entry is gone, with its row. Its event is not.
    @discardableResult
    package mutating func remove(_ key: AgendaKey, _ step: inout AgendaStep) -> Entry? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        keys[key.handler]?.remove(key)
        if keys[key.handler]?.isEmpty == true { keys[key.handler] = nil }
        index.forget(entry.delivery.sequence)
        index.remove(key, &step)
        assumed.remove(key)
        step.emit(.erase(key))
        return entry
    }

    /// False where nothing was asked for.
    @discardableResult
    package mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: AgendaStep) -> Bool {
        guard var entry = entries[key], entry.delivery.phase == .raising else { return false }
        entry.delivery.phase = .raised(sequence)
        entry.delivery.isRunning = step.isAwake(key.handler)
        index.number(key, sequence)
        put(entry)
        return true
    }

    /// Its event is over, and its number means nothing any more.
    package mutating func conclude(_ entry: inout Entry) {
        index.forget(entry.delivery.sequence)
        entry.delivery = DeliveryState()
    }

    // MARK: Rows

    /// False where the row cannot be read.
    package mutating func restore(_ row: AgendaRow, _ step: AgendaStep) -> Bool {
        guard let (entry, isMoved) = Entry.read(row, step) else { return false }
        keep(entry)
        if let sequence = entry.delivery.sequence { index.number(row.key, sequence) }
        if entry.assumedZero != nil { assumed.insert(row.key) }
        isMoved ? index.save(row.key) : index.touch(row.key)
        return true
    }

    /// Corrects assumed instants once the clock is synchronized. True where the clock was set: all is stored anew then.
    package mutating func correctInstants(_ step: AgendaStep) -> Bool {
        if step.stamp.isClockSynchronized {
            for key in assumed.sorted() {
                guard let zero = entries[key]?.assumedZero else { continue }
                entries[key]?.mend(by: BootShift.mending(zero, step))
                index.save(key)
            }
            assumed = []
        }
        let isMoved = wallOffset.hasMoved(step)
        guard step.changes.clock else { return false }
        for key in entries.keys { isMoved && Entry.hasInstants ? index.save(key) : index.touch(key) }
        return isMoved
    }

    /// Stores what changed in this step.
    package mutating func save(_ step: inout AgendaStep) {
        for key in index.removeUnsaved() {
            guard let entry = entries[key] else { continue }
            step.emit(entry.isWorthStoring ? .store(entry.row(step)) : .erase(key))
        }
    }
}

/// A book with one store of entries, which does what all of them do.
package protocol StoredBook: AgendaBook {
    associatedtype Entry: TriggerEntry
    var store: EntryStore<Entry> { get set }
    /// Facts of the handler changed, such as whether it is awake.
    mutating func meet(_ handler: HandlerID, _ step: inout AgendaStep)
    /// Brings one entry up to date.
    mutating func look(at key: AgendaKey, _ step: inout AgendaStep)
    /// Decides between entries that wait for each other, once all have been looked at.
    mutating func arbitrate(_ step: inout AgendaStep)
    /// The wall clock was set.
    mutating func followClock(_ step: AgendaStep)
}

extension StoredBook {
    package var nextBoottime: Instant? { store.index.next }
    package var hasStoredEntries: Bool { !store.isEmpty }
    package func key(of sequence: Sequence, for handler: HandlerID) -> AgendaKey? {
        store.key(of: sequence, for: handler)
    }
    package func raised(for handler: HandlerID) -> [Sequence] { store.raised(for: handler) }
    package mutating func restore(_ row: AgendaRow, _ step: inout AgendaStep) -> Bool { store.restore(row, step) }
    package mutating func recordRaised(_ key: AgendaKey, as sequence: Sequence, _ step: inout AgendaStep) {
        store.recordRaised(key, as: sequence, step)
    }
    package mutating func meet(_ handler: HandlerID, _ step: inout AgendaStep) {
        for key in store.keys(of: handler) { store.index.touch(key) }
    }
    package mutating func arbitrate(_ step: inout AgendaStep) {}
    package mutating func followClock(_ step: AgendaStep) {}
    package mutating func advance(_ step: inout AgendaStep) {
        if store.correctInstants(step) { followClock(step) }
        for handler in step.changes.handlers.sorted() { meet(handler, &step) }
        for key in store.index.removeTouched(step) { look(at: key, &step) }
        arbitrate(&step)
        store.save(&step)
    }
}
