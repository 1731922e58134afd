// How far devices were listened to when an earlier life ended: its last moment is known from the journal alone.
import WakeJournal
import WakeModel
import WakeSources

extension Bridge {
    /// Noted at once, since this life writes the journal from here on, whether it comes to watch them or not.
    static func endListening(
        in journal: Journal, of recovered: some Swift.Sequence<RecoveredEvent>, _ aliveUntil: WallTime
    ) {
        var lastWords: [EventOrigin: WallTime] = [:]
        for event in recovered {
            guard case .data = event.content else { continue }
            lastWords[event.origin] = max(lastWords[event.origin] ?? event.stamp.wall, event.stamp.wall)
        }
        for (id, device) in journal.devices() {
            let known = journal.listening(to: device.uri)
            guard known != nil || device.kind == .bluetoothCentral else { continue }
            let until = heardUntil(known, lastWords[id], aliveUntil, unnoticed: device.unnoticedEnd)
            journal.record(.until(until), of: device.uri)
        }
    }

    /// What was up may have been dead for as long as that goes `unnoticed`.
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

extension Device {
    /// A radio link outlives the last answer for a while; what stands in a node was read as soon as it came.
    fileprivate var unnoticedEnd: TimeSpan {
        if kind == .bluetoothCentral { return LinkPatience().supervision }
        return Device.bluetoothAddress(in: uri) != nil ? PortPatience.calling.unnoticedEnd : .zero
    }
}
