// The turns of devices to be called: an adapter pages one device at a time, so its calls follow one after the other.
import WakeModel

/// Pure. Each call has a number of its own.
struct CallTurns {
    /// A device that bluetoothd is ordered to connect.
    struct Turn: Hashable {
        var path: String
        var number: Int
        var askedAt: Instant
    }

    /// The longest waiting comes first.
    private var waiting: [(path: String, number: Int)] = []
    /// By adapter. It stays busy with a call that was given up, until that is answered.
    private var asked: [String: Turn] = [:]

    var isAnybodyWaiting: Bool { !waiting.isEmpty }

    mutating func add(_ path: String, _ number: Int) { waiting.append((path, number)) }

    /// Begins the calls whose turn has come: the first of each adapter that has no request under way.
    mutating func begin(at now: Instant) -> [Turn] {
        var begun: [Turn] = []
        for (path, number) in waiting where asked[path.parent] == nil {
            let turn = Turn(path: path, number: number, askedAt: now)
            asked[path.parent] = turn
            begun.append(turn)
        }
        for turn in begun { giveUp(turn.number) }
        return begun
    }

    /// It waits no longer.
    mutating func giveUp(_ number: Int) { waiting.removeAll { $0.number == number } }

    /// It was answered. False for a turn that has ended already.
    mutating func end(_ turn: Turn) -> Bool {
        guard asked[turn.path.parent] == turn else { return false }
        asked[turn.path.parent] = nil
        return true
    }

    /// It is connected, or cannot be any more, whatever was requested.
    mutating func end(_ path: String) {
        waiting.removeAll { $0.path == path }
        if asked[path.parent]?.path == path { asked[path.parent] = nil }
    }

    /// Bluetoothd is gone and answers none of them.
    mutating func endAll() -> [Turn] {
        defer { asked = [:] }
        return asked.values.sorted { $0.number < $1.number }
    }
}
