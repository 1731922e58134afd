// How far each device was listened to, kept over restarts: what it said unheard before one is told after it.
import WakeModel

extension Journal {
    /// By the device's source, which outlives the numbers that devices have here. Part of the next commit of the run
    /// database; the disk, which waits for its medium, gets it with the next commit that it has anyway. Until then it was last
    /// written before this happened, which tells as much.
    public func note(_ listening: Listening, to source: String) {
        guard self.listening[source] != listening else { return }
        self.listening[source] = listening
        guard let run else { return disk.perform(.fact(listening.name(of: source), listening.words)) }
        run.perform(.fact(listening.name(of: source), listening.words))
        disk.carry(listening.name(of: source), listening.words)
    }

    /// Nil where that was never noted.
    public func listening(to source: String) -> Listening? { listening[source] }

    func restateListening(in store: EventStore) {
        for (source, listening) in listening { store.perform(.fact(listening.name(of: source), listening.words)) }
    }
}

extension StartFacts {
    /// By source, as the life before left it: the run database was told first.
    var listening: [String: Listening] {
        var found: [String: Listening] = [:]
        for (name, words) in disk.merging(run, uniquingKeysWith: { $1 }) where name.hasPrefix(Listening.prefix) {
            found[String(name.dropFirst(Listening.prefix.count))] = Listening(words: words)
        }
        return found
    }
}

extension Listening {
    fileprivate static let prefix = "listening."
    fileprivate func name(of source: String) -> String { Self.prefix + source }

    fileprivate var words: String {
        switch self {
        case .until(let time): "until \(time.microseconds)"
        case .since(let time): "since \(time.microseconds)"
        }
    }

    fileprivate init?(words: String) {
        let pair = words.split(separator: " ")
        guard pair.count == 2, let microseconds = Int64(pair[1]) else { return nil }
        switch pair[0] {
        case "until": self = .until(WallTime(microseconds: microseconds))
        case "since": self = .since(WallTime(microseconds: microseconds))
        default: return nil
        }
    }
}
