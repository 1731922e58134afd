// An open socket: its descriptor, and the watch that reports each arrival without reading anything.
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
    /// The progress of the look that the kernel is asked for.
    private enum Look {
        case none
        case asked
        /// Something arrived since: it is asked again.
        case askedAgain
        /// The handler may have read since: it is asked again, and this answer does not count.
        case outdated
    }

    let rule: SocketRule
    let number: Int32
    /// In the daemon; closed by ``SocketClosings``, or with the process.
    let raw: Int32
    /// Its handler, by the name under which its sockets are kept.
    let owner: String
    /// Numbers all sockets that the daemon has held, for answers that come later.
    let serial: Int
    /// Its handler sleeps: what waits is reported.
    var isWatched = false
    /// The agenda waits for what arrives, also while the handler is awake and reads it.
    var reportsTraffic = false
    /// The name under which the service manager keeps it; nil where it does not.
    var keptAs: String?
    /// Nil where it has none, or it is not known whose it is.
    var file: SocketFile?
    private var watch: (watch: Watch, readiness: Readiness)?
    private var gauge = ArrivalGauge()
    private var look = Look.none

    init(_ descriptor: consuming FileDescriptor, _ rule: SocketRule, _ number: Int32, of owner: String, serial: Int) {
        raw = descriptor.release()
        (self.rule, self.number, self.owner, self.serial) = (rule, number, owner, serial)
    }

    /// A watch ends before what it watches is closed.
    deinit { stopListening() }

    func stopListening() {
        watch?.watch.cancel()
        watch = nil
    }

    /// Calls `body` at each arrival for as long as it is watched or reports traffic; at once where something waits already.
    /// A socket that reports traffic calls it for sent data too, which ``hasArrival(_:)`` filters.
    func listen<Owner: AnyObject>(
        on loop: EventLoop, of owner: Owner, _ body: @escaping (Owner) -> Void
    ) throws(SystemError) {
        guard isWatched || reportsTraffic else { return stopListening() }
        let readiness: Readiness = reportsTraffic ? .traffic : .arrival
        guard watch?.readiness != readiness else { return }
        stopListening()
        gauge = ArrivalGauge()
        watch = (try loop.watch(raw, for: readiness, cause: .socket, of: owner, body), readiness)
    }

    /// Whether data came since the look before. What came while the handler sleeps is still there; an end is no data.
    func hasArrival(_ found: SocketLook) -> Bool {
        let mayBeRead = !isWatched && !found.hasEnded
        return gauge.hasArrival(found, at: raw) && (found.unread > 0 || mayBeRead)
    }

    /// The data that waits in it now.
    func traffic(_ found: SocketLook) -> SocketTraffic {
        var traffic = SocketTraffic(unread: found.unread, volume: found.volume)
        traffic.taken = found.received.map { max(0, $0 - found.unread) }
        if rule.isConnection, found.hasEnded { traffic.end = found.hasFailed ? .reset : .peer }
        return traffic
    }

    /// True where the kernel is to be asked now.
    func beginLook() -> Bool {
        switch look {
        case .none:
            look = .asked
            return true
        case .asked: look = .askedAgain
        case .askedAgain, .outdated: break
        }
        return false
    }

    /// An answer that is still to come is of the time before.
    func outdateLook() {
        switch look {
        case .none, .outdated: break
        case .asked, .askedAgain: look = .outdated
        }
    }

    /// The kernel has answered.
    func endLook() -> (counts: Bool, isDueAgain: Bool) {
        defer { look = .none }
        return switch look {
        case .none, .asked: (true, false)
        case .askedAgain: (true, true)
        case .outdated: (false, true)
        }
    }
}
