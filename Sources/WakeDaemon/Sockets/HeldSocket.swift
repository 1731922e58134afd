// One open socket: its descriptor, and the watch that tells of each arrival without reading anything.
import WakeAgenda
import WakeLoop
import WakeModel
import WakeSystem

/// The file of a socket that listens, which the daemon made in the name of a user; nil for its own.
struct SocketFile {
    let path: String
    let account: Account?

    /// Only what that user may remove.
    func remove() { try? UnixSocket.remove(path, as: account) }
}

final class HeldSocket {
    let rule: SocketRule
    let number: Int32
    private let descriptor: FileDescriptor
    /// Its handler sleeps: what waits is reported.
    var isWatched = false
    /// A flow of its handler goes by what arrives, also while the handler is awake and reads it.
    var feedsFlow = false
    /// The name under which the service manager keeps it; nil where it does not.
    var keptAs: String?
    /// Nil where it has none, or it is not known whose it is.
    var file: SocketFile?
    private var watch: (watch: Watch, readiness: Readiness)?
    private var gauge = ArrivalGauge()

    var raw: Int32 { descriptor.raw }

    init(_ descriptor: consuming FileDescriptor, _ rule: SocketRule, _ number: Int32) {
        self.descriptor = descriptor
        (self.rule, self.number) = (rule, number)
    }

    /// A watch ends before what it watches is closed.
    deinit { watch?.watch.cancel() }

    /// Calls `body` at each arrival for as long as it is watched or feeds a flow; at once where something waits already. Where
    /// it feeds a flow, calls for what is sent too: ``hasArrival(_:)`` tells.
    func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        guard isWatched || feedsFlow else {
            watch?.watch.cancel()
            watch = nil
            return
        }
        let readiness: Readiness = feedsFlow ? .traffic : .arrival
        guard watch?.readiness != readiness else { return }
        watch?.watch.cancel()
        (watch, gauge) = (nil, ArrivalGauge())
        watch = (try loop.watch(raw, for: readiness, of: owner, body), readiness)
    }

    /// Whether data came since the look before. What came while the handler sleeps is still there; an end is no data.
    func hasArrival(_ found: SocketLook) -> Bool {
        let mayBeRead = !isWatched && !found.hasEnded
        return gauge.hasArrival(found, at: raw) && (found.unread > 0 || mayBeRead)
    }

    /// What waits in it now.
    func traffic(_ found: SocketLook) -> SocketTraffic {
        var traffic = SocketTraffic(unread: found.unread, volume: found.volume)
        traffic.taken = found.received.map { max(0, $0 - found.unread) }
        if rule.isConnection, found.hasEnded { traffic.end = found.hasFailed ? .reset : .peer }
        return traffic
    }

    /// Its peer notices, whatever other process has it.
    func end() {
        watch = nil
        NetworkSocket.end(raw)
    }
}
