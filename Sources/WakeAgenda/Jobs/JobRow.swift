// A job as its row in the database: written and read here alone.
import WakeModel

extension JobEntry {
    /// Its rule comes with the manifest.
    static let shape = RowShape<JobEntry>([
        .required("current", \.current), .optional("next", \.next), .optional("schedule", \.schedule),
        .optional("seq", \.delivery.sequence), .optional("slot", \.delivery.storedSlot),
        .optional("relied", \.delivery.storedReliance), .conditions("until", \.until),
        .count("handed_back", \.handBacks), .optional("returned", \.returned), .flag("cancelled", \.isCancelled),
        .flag("operated", \.isOperated), .count("failures", \.failures), .required("since_us", \.waitingSince),
        .part(\.history),
    ])
}

extension JobReturn: RowValue {}

extension JobRequest: RowObject {
    static let shape = RowShape<JobRequest>([
        .required("earliest_ns", \.earliest), .required("deadline_ns", \.deadline), .optional("require", \.require),
        .required("ordered", \.isOrdered), .flag("assumed", \.isAssumed),
    ])
}

extension JobSchedule: RowObject {
    static let shape = RowShape<JobSchedule>([
        .required("period_ns", \.period), .required("nominal_ns", \.nominal),
        .count("missed", \.missed), .flag("counted", \.isCounted), .flag("assumed", \.isAssumed),
    ])

    static func read(_ value: JSONValue, of handler: HandlerID) -> JobSchedule? {
        var found = JobSchedule()
        guard shape.read(value, of: handler, into: &found), found.period >= JobRule.shortestPeriod else { return nil }
        return found
    }
}
