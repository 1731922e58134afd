// The user's switch of each device's session, kept over restarts in one small file of the state directory.
import WakeModel
import WakeSources
import WakeSystem

/// A line a device: `closed /bluetooth/C0:F1:F2:F3:F4:01`. What is not in it is open; `open` is what was opened and has not been
/// given the trust back that it was closed with.
final class SessionBook {
    private enum Entry: Hashable {
        case switched(LinkSession)
        /// Closed because whoever watched it was stopped, until one of those is started.
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

    private var book: LineBook
    private var entries: [String: Entry] = [:]

    init(in directory: String) {
        book = LineBook(directory + "/sessions", Log("sessions"))
        var read: [String: Entry] = [:]
        book.read("every session counts as open") { line in
            let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1)
            guard words.count == 2, let entry = Entry(word: String(words[0])) else {
                return "it is not 'open', 'paused', 'closed' or 'stopped' and a device's source"
            }
            read[String(words[1])] = entry
            return nil
        }
        entries = read
    }

    subscript(source: String) -> LinkSession { entries[source]?.session ?? .open }

    func isStopped(_ source: String) -> Bool { entries[source] == .stopped }

    func owesTrust(to source: String) -> Bool { entries[source] == .switched(.open) }

    /// One that is opened owes its trust until ``settle(_:)`` if it `needsTrust`.
    func set(_ session: LinkSession, of source: String, needsTrust: Bool) throws(SystemError) {
        try keep(session == .open && !needsTrust ? nil : .switched(session), for: source)
    }

    /// It is open, and trusted if it needs that; also whoever is called so next.
    func settle(_ source: String) throws(SystemError) { try keep(nil, for: source) }

    func stop(_ source: String) throws(SystemError) { try keep(.stopped, for: source) }

    private func keep(_ entry: Entry?, for source: String) throws(SystemError) {
        guard entries[source] != entry else { return }
        var next = entries
        next[source] = entry
        try book.write(next.sorted { $0.key < $1.key }.map { "\($0.value.word) \($0.key)" })
        // Not before it is kept: what could not be must not hold until the next start only.
        entries = next
    }
}
