// The user's switch of each device's session, kept over restarts in one small file of the state directory.
import WakeModel
import WakeSources
import WakeSystem

/// A line a device: `closed /bluetooth/C0:F1:F2:F3:F4:01`. What is not in it is open.
final class SessionBook {
    private let path: String
    private var sessions: [String: LinkSession] = [:]

    /// What cannot be read counts as open, and is told.
    init(in directory: String) {
        path = directory + "/sessions"
        guard File.exists(path) else { return }
        do throws(SystemError) {
            for line in String(decoding: try File.bytes(at: path, limit: 1 << 20), as: UTF8.self).split(separator: "\n")
            {
                let words = line.split(separator: " ", maxSplits: 1)
                guard words.count == 2, let session = LinkSession(rawValue: String(words[0])) else { continue }
                sessions[String(words[1])] = session
            }
        } catch {
            Log("sessions").error("\(error.description); every session counts as open")
        }
    }

    subscript(source: String) -> LinkSession { sessions[source] ?? .open }

    func set(_ session: LinkSession, of source: String) throws(SystemError) {
        var next = sessions
        next[source] = session == .open ? nil : session
        let lines = next.sorted { $0.key < $1.key }.map { "\($0.value.rawValue) \($0.key)\n" }.joined()
        try File.replace(path, with: Array(lines.utf8), mode: 0o600)
        // Not before it is kept: what could not be must not hold until the next start only.
        sessions = next
    }
}
