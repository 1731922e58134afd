// The sockets of a replay: each opens at once, stays open while the bridge begins again, and is read empty by a handler that is awake.
import WakeAgenda
import WakeModel

struct ReplayedSockets {
    private struct Held {
        var unread: Int64 = 0
        /// Its handler sleeps.
        var isWatched = false
    }

    private var held: [AgendaKey: Held] = [:]

    mutating func perform(_ command: SocketCommand, of key: AgendaKey, _ report: (SocketReport) -> Void) {
        switch command {
        case .open:
            let wasHeld = held.updateValue(Held(unread: held[key]?.unread ?? 0), forKey: key) != nil
            report(wasHeld ? .held(.inherited) : .opened(.inherited))
        case .close: held[key] = nil
        case .watch:
            held[key]?.isWatched = true
            look(at: key, report)
        case .unwatch: if held[key] != nil { held[key] = Held() }
        case .look: look(at: key, report)
        case .probe, .warn: break
        }
    }

    /// Where its handler is awake, that reads it at once.
    mutating func setUnread(_ bytes: Int64, in key: AgendaKey, _ report: (SocketReport) -> Void) {
        guard held[key]?.isWatched == true else { return }
        held[key]?.unread = bytes
        look(at: key, report)
    }

    private func look(at key: AgendaKey, _ report: (SocketReport) -> Void) {
        if let socket = held[key] { report(.traffic(SocketTraffic(unread: socket.unread))) }
    }
}
