// Which connections owe a whole request, and since when: slow senders are cut, and the slowest makes room for the next.
import WakeModel

struct OwedRequests<Connection: Hashable> {
    /// A request must be whole so long after its connection was made, or after the answer before it.
    static var patience: TimeSpan { .seconds(15) }

    private struct Entry {
        /// Nil while it is answered.
        var since: Instant?
        /// All of one address; empty on the control socket.
        var address: [UInt8]
    }

    private var entries: [Connection: Entry] = [:]

    var count: Int { entries.count }

    /// When the first is overdue; nil where none owes anything.
    var due: Instant? { entries.values.compactMap(\.since).min().map { $0 + Self.patience } }

    mutating func begin(_ connection: Connection, from address: [UInt8], at now: Instant) {
        entries[connection] = Entry(since: now, address: address)
    }

    /// The next request is owed from now on.
    mutating func expect(_ connection: Connection, from now: Instant) { entries[connection]?.since = now }

    /// Its request is whole, and the answer may last.
    mutating func settle(_ connection: Connection) { entries[connection]?.since = nil }

    mutating func end(_ connection: Connection) { entries[connection] = nil }

    func overdue(at now: Instant) -> [Connection] {
        entries.filter { _, entry in entry.since.map { now - $0 >= Self.patience } ?? false }.map(\.key)
    }

    /// Which connection has to go for the newest to stay: the slowest of the same address, or of all; nil while there is room.
    func excess(over newest: Connection, mostOfAddress: Int, most: Int) -> Connection? {
        let address = entries[newest]?.address ?? []
        let neighbours = entries.filter { $0.value.address == address }
        if !address.isEmpty, neighbours.count > mostOfAddress { return slowest(of: neighbours, but: newest) }
        return entries.count > most ? slowest(of: entries, but: newest) : nil
    }

    /// The newest itself where all others are being answered.
    private func slowest(of some: [Connection: Entry], but newest: Connection) -> Connection {
        let waiting = some.compactMap { connection, entry in
            connection == newest ? nil : entry.since.map { (connection, $0) }
        }
        return waiting.min { $0.1 < $1.1 }?.0 ?? newest
    }
}
