// Until when each device was followed, kept over restarts. A gap reports the time behind it.
import WakeModel

extension Journal {
    /// Keyed by the device's URI, which stays the same when its number changes. Goes with the next commit of the run
    /// database. The disk gets it with its next other commit, because a commit of its own would wait for the medium.
    /// Until then the time of its last write serves as well.
    public func record(_ listening: Listening, of uri: String) {
        guard self.listening[uri] != listening else { return }
        self.listening[uri] = listening
        let (name, text) = (listening.name(of: uri), listening.text)
        (run ?? disk).perform(.fact(name, text))
        if run != nil { disk.deferFact(name, text) }
    }

    /// Nil where none was recorded.
    public func listening(to uri: String) -> Listening? { listening[uri] }

    func rewriteListening(in store: EventStore) {
        for (uri, listening) in listening { store.perform(.fact(listening.name(of: uri), listening.text)) }
    }
}

extension StartFacts {
    /// By URI, as the session before left it: the run database was written first.
    var listening: [String: Listening] {
        var found: [String: Listening] = [:]
        for (name, text) in disk.merging(run, uniquingKeysWith: { $1 }) where name.hasPrefix(Listening.prefix) {
            found[String(name.dropFirst(Listening.prefix.count))] = Listening(text: text)
        }
        return found
    }
}

extension Listening {
    fileprivate static let prefix = "listening."
    fileprivate func name(of uri: String) -> String { Self.prefix + uri }

    fileprivate var text: String {
        switch self {
        case .until(let time): "until \(time.microseconds)"
        case .since(let time): "since \(time.microseconds)"
        }
    }

    fileprivate init?(text: String) {
        let pair = text.split(separator: " ")
        guard pair.count == 2, let microseconds = Int64(pair[1]) else { return nil }
        switch pair[0] {
        case "until": self = .until(WallTime(microseconds: microseconds))
        case "since": self = .since(WallTime(microseconds: microseconds))
        default: return nil
        }
    }
}
