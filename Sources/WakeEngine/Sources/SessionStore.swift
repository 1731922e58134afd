// The operator's switch of each device's session, kept over restarts in one small file of the state directory.
import WakeModel
import WakeSources
import WakeSystem

/// A line a device: `closed /bluetooth/C0:F1:F2:F3:F4:01`. A device without a line is open. `open` is a device that was opened
/// and is not trusted again yet.
package final class SessionStore {
    private enum Entry: Hashable {
        case switched(LinkSession)
        /// Closed because the last handler that watched it was stopped, until one of those is started.
        case stopped

        init?(word: String) {
            if word == "stopped" {
                self = .stopped
            } else {
                guard let session = LinkSession(rawValue: word) else { return nil }
                self = .switched(session)
            }
        }

        var word: String {
            switch self {
            case .switched(let session): session.rawValue
            case .stopped: "stopped"
            }
        }

        var session: LinkSession {
            switch self {
            case .switched(let session): session
            case .stopped: .closed
            }
        }
    }

    private var file: LineFileStore
    private var entries: [String: Entry] = [:]

    init(in directory: String) {
        file = LineFileStore(directory + "/sessions", Log("sessions"))
        var read: [String: Entry] = [:]
        file.read("every session counts as open") { line in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1)
            guard words.count == 2, let entry = Entry(word: String(words[0])) else {
                return "it is not 'open', 'paused', 'closed' or 'stopped' and a device's source"
            }
            read[String(words[1])] = entry
            return nil
        }
        entries = read
    }

    subscript(uri: String) -> LinkSession { entries[uri]?.session ?? .open }

    func isStopped(_ uri: String) -> Bool { entries[uri] == .stopped }

    func awaitsTrust(_ uri: String) -> Bool { entries[uri] == .switched(.open) }

    /// A device that is opened and `needsTrust` awaits it until ``settle(_:)``.
    func set(_ session: LinkSession, of uri: String, needsTrust: Bool) throws(SystemError) {
        try keep(session == .open && !needsTrust ? nil : .switched(session), for: uri)
    }

    /// The session is open and needs nothing more; so is that of the next device of this URI.
    package func settle(_ uri: String) throws(SystemError) { try keep(nil, for: uri) }

    func stop(_ uri: String) throws(SystemError) { try keep(.stopped, for: uri) }

    private func keep(_ entry: Entry?, for uri: String) throws(SystemError) {
        guard entries[uri] != entry else { return }
        var next = entries
        next[uri] = entry
        try file.write(next.sorted { $0.key < $1.key }.map { "\($0.value.word) \($0.key)" })
        // Not before it is written: a switch that could not be kept must not hold until the next start only.
        entries = next
    }
}
