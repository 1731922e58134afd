// Who may use the control socket: root, the daemon's own user, and one group, by the kernel's word on who connected.
import CMicrohttpd
import Glibc
import WakeSystem

/// Who is at the other end of a connection.
struct Peer: Hashable, Sendable {
    var user: UInt32
    var groups: Set<UInt32>

    /// Nil where the kernel would not say; nobody is let in on a guess.
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

    func refusal(of peer: Peer?) -> ControlRefusal {
        let who = peer.map { "user \($0.user)" } ?? "somebody the kernel would not name"
        let members = group.map { "a member of group \($0)" } ?? "a member of the group that is configured for it"
        return ControlRefusal(
            .forbidden, code: "forbidden", message: "\(who) may not use this bridge's control socket",
            advice: "be root, user \(daemonUser), or \(members)")
    }
}
