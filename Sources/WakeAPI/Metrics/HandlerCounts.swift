// Counts of one handler while it works, since nothing else remembers them until a scrape.
import WakeCore
import WakeModel

final class HandlerCounts {
    private(set) var wakeLatency = DurationHistogram(.wakes)
    private(set) var budgetUsed = DurationHistogram(.budgets)
    private(set) var overruns: UInt64 = 0
    private(set) var holds: UInt64 = 0
    private(set) var refused: UInt64 = 0
    private(set) var faults: UInt64 = 0
    private(set) var deadLettered: UInt64 = 0
    /// By reason, of a fixed set: exits but 0 share one, and so do signals.
    private(set) var ends: [String: UInt64] = [:]
    /// When the present budget began; nil where nothing is delivered.
    private var budgetBegan: Instant?

    /// True where it is thawed by this move.
    func count(from: HandlerState, to: HandlerState, because reason: String, at now: Instant) -> Bool {
        switch (from, to) {
        case (.suspended, .active):
            // A thawed handler's open work has its whole budget again.
            if budgetBegan != nil { budgetBegan = now }
            return true
        case (.expiring, .suspending):
            if reason == EndReason.overrun.wireName { overruns += 1 }
        case (_, .terminating), (.launching, .idle), (.launching, .stopped), (.active, .idle), (.active, .stopped):
            budgetBegan = nil
            ends[Self.word(for: reason), default: 0] += 1
        case (_, _): break
        }
        return false
    }

    func countDelivery(at now: Instant) { budgetBegan = now }

    func countAcknowledgement(at now: Instant) {
        guard let began = budgetBegan else { return }
        budgetUsed.record(now - began)
        budgetBegan = now
    }

    func countThaw(after latency: TimeSpan) { wakeLatency.record(latency) }
    func countHold() { holds += 1 }
    func countRefusal() { refused += 1 }
    func countFault() { faults += 1 }
    func countDeadLetter() { deadLettered += 1 }

    private static func word(for reason: String) -> String {
        if reason.hasPrefix("signal-") { return "signal" }
        if reason.hasPrefix("exit-"), reason != "exit-0" { return "exit-failure" }
        return reason
    }
}
