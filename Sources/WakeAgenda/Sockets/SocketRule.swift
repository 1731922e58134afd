// A socket as a manifest declares it: its name, where it leads, and who keeps it alive.
import WakeModel

public struct SocketRule: Hashable, Sendable {
    public enum Side: String, Hashable, Sendable, CaseIterable { case connect, listen }

    /// How a connection that comes while the process runs gets into it.
    public enum Passing: String, Hashable, Sendable, CaseIterable {
        /// The process is restarted, and inherits it.
        case inherit
        /// By SCM_RIGHTS, over a socket that only the daemon sends on.
        case pass
    }

    public var name: String
    public var side: Side
    public var place: SocketPlace
    /// Nil where the handler is not called to keep it alive.
    public var keepalive: TimeSpan?
    public var passing = Passing.inherit
    /// The handler uses TLS over it: the keys end with the process, and with them the connection.
    public var isTLS = false

    /// The most sockets of one handler.
    public static let limit = 8
    /// A process inherits them under numbers behind those of the descriptors that every handler has.
    public static let firstNumber: Int32 = 4
    /// The channel that passes later sockets to it, if its manifest requires that.
    public static let channelNumber = firstNumber + Int32(limit)
    public static let shortestKeepalive = TimeSpan.seconds(600)
    private static let example = "{\"name\":\"sip\",\"connect\":\"tcp:sip.example.org:5060\",\"keepalive\":\"10m\"}"
    static let manifestExample = "\"sockets\":[\(example)]"
    private static let keys = ["name", "connect", "listen", "fds", "tls"]
    private static let spans = ["keepalive"]
    /// The keys of the manifest's `sockets`.
    package static let manifestKeys = keys + spans

    /// The address as the manifest has it, which identifies an open socket as this one.
    public var address: String { "\(side.rawValue) \(place.word)" }
    /// A peer is at its other end.
    public var isConnection: Bool { side == .connect }

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "a socket", keys: Self.keys, spans: Self.spans, example: Self.example)
        name = try object.socketName()
        (side, place) = try Self.place(in: object, of: name)
        keepalive = object.span("keepalive", from: Self.shortestKeepalive)
        passing = object.word("fds") ?? .inherit
        isTLS = object.flag("tls") ?? false
        try object.conclude()
        try refuseContradictions()
    }

    private static func place(
        in object: RuleObject, of name: String
    ) throws(ProtocolFault) -> (Side, SocketPlace) {
        switch (object["connect"], object["listen"]) {
        case (let value?, nil): return (.connect, try SocketPlace(value, .connect, of: name))
        case (nil, let value?): return (.listen, try SocketPlace(value, .listen, of: name))
        case (nil, nil):
            throw .malformed(
                "The socket \"\(name)\" lacks \"connect\" and \"listen\".", advice: "Write one, as in \(example).")
        case (_?, _?):
            throw ProtocolFault(
                .conflict, "The socket \"\(name)\" holds both \"connect\" and \"listen\".",
                advice: "Keep one of them, and make two sockets of it where you need both.")
        }
    }

    private func refuseContradictions() throws(ProtocolFault) {
        if side == .listen, keepalive != nil {
            throw ProtocolFault(
                .conflict, "The socket \"\(name)\" listens, and has \"keepalive\".",
                advice: "Leave it out: nothing ends a socket that listens.")
        }
        guard isTLS else { return }
        guard case .tcp = place, side == .connect else {
            throw ProtocolFault(
                .conflict, "The socket \"\(name)\" has \"tls\", and is no TCP connection to a peer.",
                advice: "Leave \"tls\" out.")
        }
    }

    /// The manifest's `sockets`.
    public static func list(_ value: JSONValue) throws(ProtocolFault) -> [SocketRule] {
        let count = value.array?.count ?? 0
        guard count <= limit else {
            throw ProtocolFault(
                .tooMany, "\"sockets\" holds \(count), and \(limit) are the most.",
                advice: "Leave some out, or give them to another handler.")
        }
        return try value.rules(of: "sockets", advice: "Write [\(example)].") {
            (value, others: [SocketRule]) throws(ProtocolFault) in
            let rule = try SocketRule(value)
            if others.contains(where: { $0.name == rule.name }) {
                throw ProtocolFault(
                    .conflict, "Two sockets have the name \"\(rule.name)\".", advice: "Give each a name of its own.")
            }
            if rule.side == .listen, others.contains(where: { $0.address == rule.address }) {
                throw ProtocolFault(
                    .conflict, "Two sockets listen at \"\(rule.place.word)\".", advice: "Keep one of them.")
            }
            return rule
        }
    }
}

extension RuleObject {
    /// It goes between `=` and `,` of an environment variable, so it contains neither.
    fileprivate func socketName() throws(ProtocolFault) -> String {
        let name = try identifier("name")
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        guard isPlain else {
            throw .malformed(
                "\"name\" of a socket must be letters, digits, '-', '_' and '.'; got \(JSONValue.string(name).excerpt).",
                advice: "Write a short word, such as \"sip\".")
        }
        return name
    }
}
