// Sockets that are held for handlers: opened without a wait, in the handler's name, looked at without a read, and asked whether their
// peer is there.
import CLinux
import Glibc

extension NetworkSocket {
    private static let mostAddresses = 8

    /// The addresses of a name. It may take long, so it is done on a thread.
    public static func addresses(of host: String, port: UInt16, forDatagrams: Bool) -> [NetworkAddress] {
        if let bytes = NetworkAddress.bytes(of: host) { return [NetworkAddress(bytes: bytes, port: port)] }
        let room = Int(CLINUX_ADDRESS_BYTES)
        var lengths = [UInt8](repeating: 0, count: mostAddresses)
        var bytes = [UInt8](repeating: 0, count: mostAddresses * room)
        let answer = attemptC { clinux_resolve(host, forDatagrams, &lengths, &bytes, mostAddresses) }
        guard case .value(let count) = answer else { return [] }
        return (0..<count).map { place in
            let first = place * room
            return NetworkAddress(bytes: Array(bytes[first..<first + Int(lengths[place])]), port: port)
        }
    }

    /// Begins to connect; the socket is writable once ``outcome(of:)`` is known.
    public static func connect(
        to address: NetworkAddress, forDatagrams: Bool
    ) throws(SystemError) -> FileDescriptor {
        let answer = attemptC {
            clinux_connect_network(address.bytes, address.bytes.count, address.port, forDatagrams)
        }
        return FileDescriptor(owning: Int32(try answer.get("connect to", address.description)))
    }

    /// Nil where it is connected by now.
    public static func outcome(of raw: Int32) -> Errno? {
        if case .failure(let errno) = attemptC({ clinux_connect_outcome(raw) }) { errno } else { nil }
    }

    /// A socket that takes datagrams at an address, which need not be this machine's yet.
    public static func bind(at address: NetworkAddress) throws(SystemError) -> FileDescriptor {
        let answer = attemptC { clinux_bind_network(address.bytes, address.bytes.count, address.port) }
        return FileDescriptor(owning: Int32(try answer.get("take datagrams at", address.description)))
    }

    /// Whether packets to the peer of a connection leave this machine from the connection's own address; nil where no way leads there.
    public static func isOnItsWay(_ raw: Int32) -> Bool? {
        guard let own = ownEnd(of: raw), let peer = peer(of: raw) else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(CLINUX_ADDRESS_BYTES))
        guard case .value(let count) = attemptC({ clinux_way_to(peer.bytes, peer.bytes.count, &bytes) }) else {
            return nil
        }
        return Array(bytes.prefix(count)) == own.bytes
    }

    /// The kernel probes the peer at short intervals, or as rarely again as usual. If the peer is gone, the connection
    /// fails.
    public static func probe(_ raw: Int32, _ isProbed: Bool) throws(SystemError) {
        _ = try attemptC { clinux_probe_peer(raw, isProbed) }.get("ask the peer of", "socket \(raw)")
    }
}

/// With an account, the kernel does as it would for that user, and shows that user to the other end. Only root can ask for it.
extension UnixSocket {
    /// Connects, non-blocking from then on.
    public static func connect(to path: String, as account: Account?) throws(SystemError) -> FileDescriptor {
        let (identity, groups) = rights(of: account)
        let answer = attemptC { clinux_connect_unix(path, identity, groups, groups.count) }
        let advice = "let that user write to the socket, and reach its folder"
        let raw = try answer.get("connect to", subject(path, account)) { $0 == .denied ? advice : nil }
        return FileDescriptor(owning: Int32(raw))
    }

    /// Listens at `path`, in a file that has `mode` from its first moment. An existing socket is replaced only if no process
    /// answers on it.
    public static func listen(
        at path: String, mode: UInt32, as account: Account?
    ) throws(SystemError) -> FileDescriptor {
        let (identity, groups) = rights(of: account)
        let answer = attemptC { clinux_listen_unix(path, mode, identity, groups, groups.count) }
        let raw = try answer.get("listen at", subject(path, account)) { adviceToListen($0) }
        return FileDescriptor(owning: Int32(raw))
    }

    /// Removes the file of a socket that listened.
    public static func remove(_ path: String, as account: Account?) throws(SystemError) {
        let (identity, groups) = rights(of: account)
        let answer = attemptC { clinux_remove_unix(path, identity, groups, groups.count) }
        _ = try answer.get("remove", subject(path, account))
    }

    private static func adviceToListen(_ errno: Errno) -> String? {
        switch errno {
        case .exists: "it is no socket; move it away"
        case .addressInUse: "another program answers there"
        case .denied, .notPermitted: "name a path in a folder that this user may write to"
        case .noEntry: "make its folder"
        default: nil
        }
    }

    private static func subject(_ path: String, _ account: Account?) -> String {
        account.map { "\(path) as user \($0.name)" } ?? path
    }

    /// Without groups they are this process's own.
    private static func rights(of account: Account?) -> (clinux_identity, groups: [UInt32]) {
        (clinux_identity(user: account?.user ?? 0, group: account?.group ?? 0), account?.groups ?? [])
    }
}

/// The unread contents of a socket, and whether it has ended. To look reads nothing.
public struct SocketLook: Hashable, Sendable {
    /// Bytes; of one that listens, connections.
    public let unread: Int64
    /// The same in a unit that only grows while nothing is read.
    public let volume: Int64
    /// Bytes in all since it was opened; nil where the kernel does not count them.
    public let received: Int64?
    public let hasEnded: Bool
    /// It was reset, or its peer cannot be reached.
    public let hasFailed: Bool

    public init(at raw: Int32) throws(SystemError) {
        var look = clinux_socket_look()
        _ = try attemptC { clinux_look_at_socket(raw, &look) }.get("look at", "socket \(raw)")
        (unread, volume) = (look.unread, look.volume)
        received = look.received < 0 ? nil : look.received
        (hasEnded, hasFailed) = (look.ended, look.failed)
    }
}

/// Knows whether something arrived in a socket that another process reads, and may have read by now.
public struct ArrivalGauge {
    private enum Mark: Hashable {
        /// All that came since it was opened.
        case bytes(Int64)
        /// When the datagram came that was read last, in nanoseconds since 1970.
        case datagram(Int64)
        /// The kernel keeps neither for Unix sockets.
        case none

        func isLater(than before: Mark) -> Bool {
            switch (before, self) {
            case (.bytes(let before), .bytes(let now)), (.datagram(let before), .datagram(let now)): now > before
            case (.bytes, _), (.datagram, _), (.none, _): true
            }
        }
    }

    private var latest: Mark?

    public init() {}

    /// Whether something arrived since the call before. A Unix socket that is open is taken to have brought something.
    public mutating func hasArrival(_ look: SocketLook, at raw: Int32) -> Bool {
        let mark = Self.mark(look, raw)
        let before = latest
        latest = mark
        guard case .datagram = mark, look.unread > 0 else {
            return before.map(mark.isLater) ?? (look.unread > 0)
        }
        // The mark covers the waiting datagrams: reading them is no new arrival.
        latest = .datagram(SystemClock.wall().microseconds * 1000)
        return true
    }

    private static func mark(_ look: SocketLook, _ raw: Int32) -> Mark {
        if let received = look.received { return .bytes(received) }
        var arrival: Int64 = 0
        guard case .value = attemptC({ clinux_latest_datagram(raw, &arrival) }) else { return .none }
        return .datagram(arrival)
    }
}
