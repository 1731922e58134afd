// The adapters that stopped scanning after a failed connection, and when to reset them; pure. The controller may give
// up an attempt (LE Connection Complete with a status). Kernel 6.1 then believes that it still runs, and neither scans
// nor connects on that adapter until it is switched off. An adapter that scans again is left alone.
import WakeModel

struct StallLedger: Hashable, Sendable {
    private struct Stall: Hashable {
        /// When the last one failed; nil once the adapter has scanned again.
        var since: Instant?
        /// In a row, without a link between.
        var failures = 0
    }

    private var stalls: [String: Stall] = [:]
    /// When links were ended last for its sake.
    private var disturbances: [String: Instant] = [:]

    var isEmpty: Bool { stalls.isEmpty }
    var adapters: [String] { stalls.filter { $0.value.since != nil }.keys.sorted() }

    mutating func fail(_ adapter: String, at now: Instant) {
        stalls[adapter, default: Stall()].failures += 1
        stalls[adapter]?.since = now
    }

    /// It scans.
    mutating func recover(_ adapter: String) { stalls[adapter]?.since = nil }

    /// - Parameter links: those that end with it.
    mutating func restart(_ adapter: String, carrying links: Int, at now: Instant) {
        recover(adapter)
        if links > 0 { disturbances[adapter] = now }
    }

    /// A link came up on it, as bluetoothd reports: another connection may have failed since.
    mutating func succeed(_ adapter: String) {
        guard let stall = stalls[adapter] else { return }
        stalls[adapter] = stall.since.map { Stall(since: $0, failures: 1) }
    }

    mutating func forget(_ adapter: String) { stalls[adapter] = nil }

    /// - Parameter links: those of this adapter that are up, and would end with its being switched off.
    func due(_ adapter: String, carrying links: Int, _ patience: LinkTimeouts) -> Instant? {
        guard let stall = stalls[adapter], let since = stall.since else { return nil }
        let soon = patience.stalled + (stall.failures > 1 ? patience.backOff(after: stall.failures) : .zero)
        guard links > 0 else { return since + soon }
        let late = since + max(soon, patience.stalledBesideOthers)
        return disturbances[adapter].map { max(late, $0 + patience.undisturbed) } ?? late
    }
}
