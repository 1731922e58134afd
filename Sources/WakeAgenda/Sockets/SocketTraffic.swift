// The unread bytes of a socket, and when they wake the handler again: at once for new ones, more and more rarely for
// old ones.
import WakeModel

/// The finding of a look at a socket, without reading from it.
public struct SocketTraffic: Hashable, Sendable {
    /// How the connection ended.
    public enum End: String, Hashable, Sendable, CaseIterable {
        /// The peer has stopped sending.
        case peer
        /// It was broken off, or the peer cannot be reached any more.
        case reset
    }

    /// Bytes that wait to be read; of one that listens, connections that wait to be accepted.
    public var unread: Int64
    /// The same, in a unit in which it only grows while nothing is read.
    public var volume: Int64
    /// Bytes that were read from it since it was opened; nil where the kernel does not count them.
    public var taken: Int64?
    /// Nil while it is open.
    public var end: End?

    public init(unread: Int64, volume: Int64? = nil, taken: Int64? = nil, end: End? = nil) {
        (self.unread, self.volume, self.taken, self.end) = (unread, volume ?? unread, taken, end)
    }

    static let none = SocketTraffic(unread: 0)

    fileprivate func hasRead(since earlier: SocketTraffic) -> Bool {
        guard let taken, let before = earlier.taken else { return volume < earlier.volume }
        return taken > before
    }

    fileprivate func hasReadAll(of earlier: SocketTraffic) -> Bool {
        guard let taken, let before = earlier.taken else { return false }
        return taken >= before + earlier.unread
    }

    fileprivate func hasGrown(since earlier: SocketTraffic) -> Bool {
        guard let taken, let before = earlier.taken else { return volume > earlier.volume }
        return taken + volume > before + earlier.volume
    }
}

/// Rates each wake for unread bytes by its use.
struct UnreadBackOff: Hashable, Sendable {
    /// How long unread bytes do not wake the handler again; doubled with each wake in which it does not read.
    static let shortest = TimeSpan.seconds(1)
    static let longest = TimeSpan.seconds(60)
    /// The wakes without a read after which new bytes wait as well.
    static let patience = 3

    /// Wakes in a row in which nothing was read.
    private(set) var fruitless = 0
    /// When it wakes; nil where only something new does.
    private(set) var wakesAt: Instant?
    /// At the last look.
    private(set) var latest = SocketTraffic.none
    /// The handler was woken for it, and its reads are not known yet.
    private var isWoken = false

    /// The handler is woken for waiting bytes.
    mutating func wake() { (isWoken, wakesAt) = (true, nil) }

    /// True where patience is lost by this look.
    mutating func look(_ traffic: SocketTraffic, at now: Instant) -> Bool {
        let (before, wasWoken) = (latest, isWoken)
        (latest, isWoken) = (traffic, false)
        guard traffic.unread > 0 else {
            (fruitless, wakesAt) = (0, nil)
            return false
        }
        if before.unread == 0 || traffic.hasReadAll(of: before) {
            (fruitless, wakesAt) = (0, now)
        } else if traffic.hasRead(since: before) {
            (fruitless, wakesAt) = (0, now + Self.shortest)
        } else if wasWoken {
            fruitless += 1
            wakesAt = now + pause
            return fruitless == Self.patience
        } else if traffic.hasGrown(since: before), fruitless < Self.patience {
            wakesAt = now
        }
        return false
    }

    private var pause: TimeSpan {
        min(Self.longest, .seconds(1 << Int64(min(fruitless - 1, 6))))
    }

    /// Its state does not count for the next connection.
    mutating func reset() { self = UnreadBackOff() }
}
