// A transfer session as a manifest declares it: how many of its files move at once, their conditions, and when they are
// given up.
import WakeModel
import WakeTransfer

public struct TransferRule: Hashable, Sendable {
    public var session: String
    /// Its end wakes the handler; otherwise that goes along with a wake that something else causes.
    public var wakes = true
    /// Nil: a transfer is if it is ordered while no person has the handler.
    public var isDiscretionary: Bool?
    public var require: [Condition] = [.network]
    public var giveUp = TimeSpan.seconds(7 * 86_400)
    public var parallel = 4

    public init(session: String) { self.session = session }

    /// Sessions of one handler.
    static let limit = 16
    private static let keys = ["session", "wake", "discretionary", "require", "parallel"]
    private static let spans = ["give_up"]
    private static let example = "{\"session\":\"photos\"}"
    static let manifestExample = "\"transfers\":[\(example)]"
    /// The keys of the manifest's `transfers`.
    package static let manifestKeys = keys + spans

    public init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "a session of transfers", keys: Self.keys, spans: Self.spans, example: Self.example)
        let session = try object.identifier("session")
        guard !session.contains("/") else {
            throw .malformed(
                "The session \"\(session)\" has a slash in its name.",
                advice: "Leave it out: \"photos/17\" is how orders name the transfer 17 of the session photos.")
        }
        self.init(session: session)
        wakes = object.flag("wake") ?? true
        isDiscretionary = object.flag("discretionary")
        require = object.conditions("require") ?? require
        giveUp = object.span("give_up", from: .seconds(60)) ?? giveUp
        if let value = object["parallel"] {
            guard let count = value.integer, (1...16).contains(count) else {
                throw object.fault(
                    "parallel", takes: "a number from 1 to 16", value, advice: "Write 4, or leave it out.")
            }
            parallel = Int(count)
        }
        try object.conclude()
    }

    /// The manifest's `transfers`.
    public static func list(_ value: JSONValue) throws(ProtocolFault) -> [TransferRule] {
        let count = value.array?.count ?? 0
        guard count <= limit else {
            throw ProtocolFault(
                .tooMany, "\"transfers\" holds \(count) sessions, and \(limit) are the most.",
                advice: "Put more files into each.")
        }
        return try value.rules(of: "transfers", as: "a list of sessions", advice: "Write [\(example)].") {
            (value, others: [TransferRule]) throws(ProtocolFault) in
            let rule = try TransferRule(value)
            guard !others.contains(where: { $0.session == rule.session }) else {
                throw ProtocolFault(
                    .conflict, "The session \"\(rule.session)\" is twice in \"transfers\".",
                    advice: "Give one another name.")
            }
            return rule
        }
    }
}
