// Records until when devices were received before the bridge restarted: only the journal knows when it ended.
import WakeJournal
import WakeModel
import WakeSources

extension Bridge {
    /// Recorded at the start: the bridge writes the journal from here on, whether it watches these devices or not. Where the last
    /// life lost events, the gap that reports it covers the time until now, and the gap of the link begins there.
    static func endListening(
        in journal: Journal, of recovery: inout Recovery, _ aliveUntil: WallTime, _ sources: [any RegisteredSource.Type]
    ) {
        let lastWords = lastWords(recovery)
        for (id, device) in journal.devices() {
            let known = journal.listening(to: device.uri)
            // A link may outlive the bridge, and the disk may lack its record. Other devices sent nothing to this
            // bridge then.
            guard known != nil || device.kind.session == .trusted else { continue }
            // Also of a source that is switched off now: it may have been on when the bridge ended.
            let unnoticed =
                (sources + SourceRegistry.all).first { $0.kind == device.kind }?.unnoticedEnd(of: device) ?? .zero
            let until = heardUntil(known, lastWords[id], aliveUntil, unnoticed: unnoticed)
            recovery.lost?.since[id] = until
            journal.record(.until(max(until, recovery.lost?.to ?? until)), of: device.uri)
        }
    }

    private static func lastWords(_ recovery: Recovery) -> [EventOrigin: WallTime] {
        var lastWords: [EventOrigin: WallTime] = [:]
        for event in recovery.pending.values.joined() {
            guard case .data = event.content else { continue }
            lastWords[event.origin] = max(lastWords[event.origin] ?? event.stamp.wall, event.stamp.wall)
        }
        return lastWords
    }

    /// A link that was up may have been dead for as long as that goes `unnoticed`.
    static func heardUntil(
        _ known: Listening?, _ lastWord: WallTime?, _ aliveUntil: WallTime, unnoticed: TimeSpan
    ) -> WallTime {
        let sure = aliveUntil - unnoticed
        let until =
            switch known {
            case .until(let time): time
            case .since(let time): max(time, lastWord ?? sure, sure)
            case nil: max(lastWord ?? sure, sure)
            }
        return min(until, aliveUntil)
    }
}
