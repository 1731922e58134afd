// Tracks which connections owe a whole request, and since when: slow senders are cut, and make room for new
// connections.
import WakeModel

struct OwedRequests<Connection: Hashable> {
    /// A request must be whole so long after its connection was made, or after the answer before it.
    static var patience: TimeSpan { .seconds(15) }

    private enum State {
        case owes(since: Instant)
        /// The token was wrong; its refusal is delayed, so that guessing takes long.
        case awaitsRefusal(since: Instant)
        case isAnswered
    }

    private struct Entry {
        var state: State
        /// The network by which the connection is counted; empty where it is not.
        let peer: [UInt8]
        /// The network of the client behind a proxy, for one request.
        var origin: [UInt8]?
        /// Whether it has sent no request yet.
        var isNew = true

        var network: [UInt8] { origin ?? peer }
        var owedSince: Instant? { if case .owes(let since) = state { since } else { nil } }
        var refusedSince: Instant? { if case .awaitsRefusal(let since) = state { since } else { nil } }
    }

    private var entries: [Connection: Entry] = [:]

    var count: Int { entries.count }

    /// How many connections wait for a delayed refusal.
    var held: Int { entries.values.count { $0.refusedSince != nil } }

    /// When the first one is overdue; nil where no connection owes a request.
    var due: Instant? { entries.values.compactMap(\.owedSince).min().map { $0 + Self.patience } }

    mutating func begin(_ connection: Connection, from network: [UInt8], at now: Instant) {
        entries[connection] = Entry(state: .owes(since: now), peer: network)
    }

    /// Its first request has come.
    mutating func welcome(_ connection: Connection) { entries[connection]?.isNew = false }

    /// Counts its current request for this network behind a proxy; the next request may come from another one.
    mutating func attribute(_ connection: Connection, to network: [UInt8]) { entries[connection]?.origin = network }

    /// The next request is owed from now on.
    mutating func expect(_ connection: Connection, from now: Instant) {
        entries[connection]?.state = .owes(since: now)
        entries[connection]?.origin = nil
    }

    /// Its request is whole, and the answer may last.
    mutating func settle(_ connection: Connection) { entries[connection]?.state = .isAnswered }

    /// Delays its refusal; until then this connection is the first to make room.
    mutating func hold(_ connection: Connection, at now: Instant) {
        entries[connection]?.state = .awaitsRefusal(since: now)
    }

    mutating func end(_ connection: Connection) { entries[connection] = nil }

    func overdue(at now: Instant) -> [Connection] {
        entries.filter { _, entry in entry.owedSince.map { now - $0 >= Self.patience } ?? false }.map(\.key)
    }

    /// The connection that must close for the newest one to stay, of the same network or of all; nil while there is
    /// room.
    func excess(over newest: Connection, mostOfNetwork: Int, most: Int) -> Connection? {
        let network = entries[newest]?.network ?? []
        let neighbours = entries.filter { $0.value.network == network }
        if !network.isEmpty, neighbours.count > mostOfNetwork { return worst(of: neighbours, but: newest) }
        return entries.count > most ? worst(of: entries, but: newest) : nil
    }

    /// The slowest connection without a request, of the network that has most of them; nil while there are few.
    func excessNewcomer(most: Int) -> Connection? {
        let newcomers = entries.filter { $0.value.isNew && $0.value.owedSince != nil }
        guard newcomers.count > most else { return nil }
        let networks = Dictionary(grouping: newcomers.values, by: \.network)
        guard let largest = networks.max(by: { $0.value.count < $1.value.count })?.key else { return nil }
        return Self.earliest(of: newcomers.filter { $0.value.network == largest }, by: \.owedSince)
    }

    /// A connection that awaits its refusal goes first, then the slowest sender; the newest where all others are being
    /// answered.
    private func worst(of some: [Connection: Entry], but newest: Connection) -> Connection {
        let others = some.filter { $0.key != newest }
        return Self.earliest(of: others, by: \.refusedSince) ?? Self.earliest(of: others, by: \.owedSince) ?? newest
    }

    private static func earliest(of some: [Connection: Entry], by since: (Entry) -> Instant?) -> Connection? {
        some.compactMap { connection, entry in since(entry).map { (connection, $0) } }.min { $0.1 < $1.1 }?.0
    }
}
