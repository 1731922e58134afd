// The events of sockets for their handlers, and the state of each that outlives a restart.
import WakeModel

extension SocketEntry {
    func occasion(of news: News) -> Occasion {
        switch news {
        case .opened: occasion("opened") { writeNumber(into: &$0) }
        case .closed(let reason): occasion("closed") { $0.field("reason", reason) }
        }
    }

    var occasionOfTraffic: Occasion {
        occasion("readable") { writer in
            writeNumber(into: &writer)
            writer.key(named: isCountedInBytes ? "bytes" : "connections")
            writer.integer(unread.latest.unread)
        }
    }

    func occasionOfKeepalive(at now: Instant) -> Occasion {
        occasion("keepalive") { writer in
            writeNumber(into: &writer)
            let left = keepalive.endsAt.map { max(.zero, $0 - now) } ?? .zero
            writer.field("within_s", left.wholeMilliseconds / 1_000)
        }
    }

    /// A socket that listens for connections has connections waiting, not bytes.
    private var isCountedInBytes: Bool { rule.isConnection || rule.isDatagram }

    func amount(of traffic: SocketTraffic) -> String {
        Int(traffic.unread).counted(isCountedInBytes ? "byte" : "connection")
    }

    /// A passed socket has a number that only the handler knows.
    private func writeNumber(into writer: inout JSONWriter) {
        if isPassed { writer.field("passed", true) } else { writer.field("fd", Int64(number)) }
    }

    private func occasion(_ word: String, _ write: (inout JSONWriter) -> Void) -> Occasion {
        let payload = JSONWriter.whole { writer in
            writer.field("socket", key.id)
            write(&writer)
        }
        return Occasion(name: "socket.\(word)", budgetClass: .data, payload: payload)
    }
}

extension SocketRule {
    var isDatagram: Bool { if case .udp = place { true } else { false } }
}

/// The stored state of a socket: whether its handler believes it to be open, and when its peer last received a packet.
struct SocketMemory: Hashable, Sendable {
    var bootID = ""
    var address = ""
    var isOpen = false
    /// That the handler ordered; nil where the manifest's counts.
    var period: TimeSpan?
    var heardAt: Instant?

    init(_ entry: SocketEntry, _ step: AgendaStep) {
        (bootID, address) = (step.bootID, entry.rule.address)
        (isOpen, heardAt) = (entry.isOpen, entry.keepalive.heardAt)
        period = entry.keepalive.period == entry.rule.keepalive ? nil : entry.keepalive.period
    }

    init() {}
}

extension SocketMemory: RowObject {
    static let shape = RowShape<SocketMemory>([
        .required("boot", \.bootID), .required("address", \.address), .required("open", \.isOpen),
        .optional("every_ns", \.period), .optional("heard_ns", \.heardAt),
    ])

    /// Nil where the row cannot be read.
    init?(_ row: AgendaRow) {
        guard let value = try? JSONValue(parsing: row.value), let memory = Self.read(value, of: row.key.handler) else {
            return nil
        }
        self = memory
    }

    func row(_ key: AgendaKey) -> AgendaRow {
        var writer = JSONWriter()
        write(into: &writer)
        return AgendaRow(key: key, value: writer.bytes)
    }
}
