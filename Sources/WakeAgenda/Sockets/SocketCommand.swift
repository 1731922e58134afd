// The agenda's commands to the holders of sockets, and their reports.
import WakeModel

/// For those who hold the sockets of handlers.
public enum SocketCommand: TriggerAction {
    public static let kind = TriggerKind.socket

    /// Answered with ``SocketReport/held``, `opened` or `failed`. The process inherits it under this number.
    case open(SocketRule, number: Int32)
    /// Its descriptor is closed; its peer notices.
    case close
    /// The handler sleeps: unread bytes are reported now and whenever more arrive.
    case watch
    /// The handler is awake, and reads itself.
    case unwatch
    /// Report the unread bytes again, once.
    case look
    /// Whether the kernel probes the peer.
    case probe(Bool)
    /// An operator should look at it: what is wrong, as the end of a sentence.
    case warn(sentence: String)
}

public enum SocketReport: Hashable, Sendable {
    /// It was open before the bridge began, and still is.
    case held(SocketEntrance)
    case opened(SocketEntrance)
    /// Why it could not be opened, as a word of ``SocketFailure``.
    case failed(SocketFailure)
    case traffic(SocketTraffic)
    /// The machine reaches the peer by another way than before.
    case wayChanged
    /// The process that had it has ended.
    case orphaned
}

/// How a new connection gets into the handler's process.
public enum SocketEntrance: Hashable, Sendable {
    /// It has none: the next one inherits it.
    case inherited
    /// By SCM_RIGHTS.
    case passed
    /// Only another process can have it.
    case afterRestart
}

/// Why a socket is not open.
public enum SocketFailure: String, Hashable, Sendable, CaseIterable {
    /// The name of the host has no address.
    case unresolved
    /// No program listens there.
    case refused
    /// No way leads there.
    case unreachable
    case timeout
    /// Another program listens at the address.
    case taken
    /// The kernel refused for another reason, which the log contains.
    case failed
}
