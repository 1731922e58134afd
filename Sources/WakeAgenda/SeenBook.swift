// Until when the agenda ran in an earlier boot: without a true clock, only the time that it ran counts as passed.
import WakeModel

/// The one row for all books. It is stored when the bridge ends in order, and at intervals while the clock cannot be
/// trusted.
struct SeenBook: Sendable {
    struct Seen: Hashable, Sendable {
        var bootID: String
        var boottime: Instant
    }

    /// A boot without a true clock forgets no more than this of the time that it ran.
    static let interval = TimeSpan.seconds(600)
    /// Its handler number is 0, which no handler has.
    private static let key = AgendaKey(HandlerID(rawValue: 0), .seen, "")

    /// The row that an earlier life stored.
    private(set) var former: Seen?
    private var storedAt = Instant.zero
    /// On CLOCK_BOOTTIME; nil while the clock is true, for the row decides nothing then.
    private(set) var next: Instant?

    /// False where the row cannot be read.
    mutating func restore(_ row: AgendaRow) -> Bool {
        guard let value = try? JSONValue(parsing: row.value), let boot = value["boot"]?.string,
            let boottime = value.instant("at_ns")
        else { return false }
        former = Seen(bootID: boot, boottime: boottime)
        return true
    }

    /// Rows of an earlier boot are stored again now, and contain the time of that.
    mutating func begin(_ bootID: String, at now: Instant) {
        storedAt = former.flatMap { $0.bootID == bootID ? $0.boottime : nil } ?? now
    }

    /// - Parameter isNeeded: there is an entry that may go by it.
    mutating func advance(isNeeded: Bool, _ step: inout AgendaStep) {
        next = isNeeded && !step.stamp.isClockSynchronized ? storedAt + Self.interval : nil
        if let next, next <= step.boottime { store(&step) }
    }

    mutating func store(_ step: inout AgendaStep) {
        let value = JSONWriter.whole {
            $0.field("boot", step.bootID)
            $0.field("at_ns", step.boottime.nanoseconds)
        }
        step.emit(.store(AgendaRow(key: Self.key, value: value)))
        storedAt = step.boottime
        if next != nil { next = storedAt + Self.interval }
    }
}
