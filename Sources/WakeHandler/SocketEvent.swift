// An event of a socket that the daemon holds for the handler, as a plain value.

/// A socket of the manifest: opened, with traffic, closed, or to be kept alive.
public struct SocketEvent: Hashable, Sendable {
    /// The socket's change.
    public enum Kind: Hashable, Sendable {
        /// It is open from now on. ``SocketCenter/descriptor(of:)`` has its number.
        case opened
        /// Something waits to be read: so many bytes, or connections to be accepted. Read all of it before you finish the event.
        case readable(Int)
        /// It is gone, for this reason; close your descriptor. The daemon opens another connection by itself.
        case closed(SocketEndReason)
        /// Send your peer something within this time, or it may give you up.
        case keepAlive(within: Duration)
    }

    /// Its name in the manifest.
    public let name: String
    /// The change.
    public let kind: Kind
}

/// Why a socket is not open.
public enum SocketEndReason: BridgeWord {
    /// The peer sends no more.
    case peer
    /// It was broken off.
    case reset
    /// The machine reached its peer by another way, and the peer did not answer.
    case route
    /// The daemon was restarted, and the service manager did not keep the connection.
    case bridgeRestart
    /// It could not be opened: no such host, no program there, no way there, or no answer in time.
    case unresolved, refused, unreachable, timeout
    /// Another program listens at the address.
    case taken
    /// It could not be opened for another reason, which is in the daemon's log.
    case failed
    /// A word of a later version.
    case other(String)

    public static let known: [SocketEndReason] = [
        .peer, .reset, .route, .bridgeRestart, .unresolved, .refused, .unreachable, .timeout, .taken,
        .failed,
    ]

    public var word: String {
        switch self {
        case .peer: "peer"
        case .reset: "reset"
        case .route: "route"
        case .bridgeRestart: "bridge-restart"
        case .unresolved: "unresolved"
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .timeout: "timeout"
        case .taken: "taken"
        case .failed: "failed"
        case .other(let word): word
        }
    }
}
