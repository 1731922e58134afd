// Admission to the control socket: root, the daemon's own user, and one group. The socket's mode refuses all others first;
// this check also holds where the mode was opened wider.
import CMicrohttpd
import Glibc
import WakeSystem

/// The user at the other end of a connection.
struct Peer: Hashable, Sendable {
    var user: UInt32
    var groups: Set<UInt32>

    /// Nil where the kernel does not report it; such a client is refused.
    init?(of descriptor: Int32) {
        guard let credentials = try? PeerCredentials(of: descriptor) else { return nil }
        var further = [gid_t](repeating: 0, count: Int(WAKE_PEER_GROUPS_LIMIT))
        let count = wake_peer_groups(descriptor, &further)
        guard count >= 0 else { return nil }
        self.init(user: credentials.user, groups: Set(further.prefix(Int(count))).union([credentials.group]))
    }

    init(user: UInt32, groups: Set<UInt32>) {
        self.user = user
        self.groups = groups
    }
}

struct Admission: Sendable {
    var daemonUser: UInt32
    var group: UInt32?

    func admits(_ peer: Peer) -> Bool {
        if peer.user == 0 || peer.user == daemonUser { return true }
        guard let group else { return false }
        return peer.groups.contains(group)
    }

    func refusal(of peer: Peer?) -> ControlRefusal { .stranger(peer?.user, daemonUser: daemonUser, group: group) }
}

extension ControlRefusal {
    /// The answer to a user who may not use the socket; `user` is nil where the kernel does not report one.
    public static func stranger(_ user: UInt32?, daemonUser: UInt32, group: UInt32?) -> ControlRefusal {
        let client = user.map { "user \($0)" } ?? "a user that the kernel would not name"
        let members = group.map { "group \($0)" } ?? "the group that control_group in wakebridge.json5 names"
        return ControlRefusal(
            .forbidden, code: "forbidden", message: "\(client) may not use this bridge's control socket",
            advice: "use sudo, or be user \(daemonUser) or a member of \(members)")
    }
}
