// Decides the rights of a client: by its user on the control socket, by its token over TCP.
import CMicrohttpd
import Glibc
import WakeLoop
import WakeModel
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

/// The other end of a connection, as the kernel reports it; nil where it does not.
enum Client: Hashable {
    case local(Peer?)
    case network(NetworkAddress?, own: NetworkAddress?)

    /// How the kernel reports that it has gone: one that only stops sending is still there on a Unix socket.
    var hangup: Readiness {
        switch self {
        case .local: .hangup
        case .network: [.hangup, .endOfInput]
        }
    }

    var user: UInt32 { if case .local(let peer?) = self { peer.user } else { .max } }
    var address: NetworkAddress? { if case .network(let address, _) = self { address } else { nil } }
    /// The network by which its connections are counted; empty where they are not.
    var network: [UInt8] { address?.network ?? [] }
}

/// Headers of a request that identify its client.
struct RequestHead: Hashable {
    var hosts: [String] = []
    var origins: [String] = []
    var authorization: String?
    var cookies: [String] = []
    /// The last component of a web hook's address.
    var hookToken: String?
}

enum Verdict: Hashable {
    /// - Parameter holder: whose token it was.
    case admitted(Access?, holder: String?)
    case refused(ControlRefusal)
    /// A refusal that comes later, so that guessing takes long.
    case slowed(ControlRefusal)
}

enum Admission {
    case local(LocalAdmission)
    case web(WebDoor)

    /// The components of a path that a proxy may leave in front.
    var pathPrefix: [String] {
        switch self {
        case .local: []
        case .web(let door): door.pathPrefix
        }
    }

    func redirect(from address: String) -> ControlContent? {
        switch self {
        case .local: nil
        case .web(let door): door.redirect(from: address)
        }
    }

    var identity: TLSIdentity? {
        switch self {
        case .local: nil
        case .web(let door): door.settings.identity
        }
    }

    func client(of descriptor: Int32) -> Client {
        switch self {
        case .local: .local(Peer(of: descriptor))
        case .web:
            .network(NetworkSocket.peer(of: descriptor), own: NetworkSocket.ownEnd(of: descriptor))
        }
    }

    /// The network by which a peer's connections are counted before its first request; empty for a proxy.
    func network(of peer: Client) -> [UInt8] {
        switch self {
        case .local: []
        case .web(let door): door.settings.isProxy(peer.address) ? [] : peer.network
        }
    }

    /// The client of a request, or the one that a proxy of the settings forwards for.
    func origin(of peer: Client, forwardedFor headers: [String]) -> Client {
        guard case .web(let door) = self, case .network(let address, let own) = peer else { return peer }
        return .network(door.settings.origin(of: address, forwardedFor: headers), own: own)
    }

    /// - Parameter route: nil where the API has no such address.
    func admit(_ client: Client, _ head: RequestHead, to route: Route?) -> Verdict {
        switch (self, client) {
        case (.local(let admission), .local(let peer)): admission.admit(peer)
        case (.web(let door), .network(let address, let own)): door.admit(address, at: own, head, to: route)
        case (.local(let admission), .network): admission.admit(nil)
        case (.web(let door), .local): door.admit(nil, at: nil, head, to: route)
        }
    }
}

/// Root, the daemon's own user, and one group. The socket's mode refuses all others first; this check also holds where the mode
/// was opened wider.
struct LocalAdmission: Sendable {
    var daemonUser: UInt32
    var group: UInt32?
    /// The role of the group's members.
    var groupRole = AccessRole.pair

    func role(of peer: Peer) -> AccessRole? {
        if peer.user == 0 || peer.user == daemonUser { return .pair }
        guard let group, peer.groups.contains(group) else { return nil }
        return groupRole
    }

    func admit(_ peer: Peer?) -> Verdict {
        guard let peer, let role = role(of: peer) else { return .refused(refusal(of: peer)) }
        return .admitted(.role(role), holder: nil)
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
