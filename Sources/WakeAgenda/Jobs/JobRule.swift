// A job as a manifest declares it: its kind, its schedule, its conditions, and how long it may take.
import WakeModel

public struct JobRule: Hashable, Sendable {
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A short look for news.
        case refresh
        /// Long work in the background.
        case processing
        /// Long work that a person began, and waits for.
        case continued

        /// It has a standing lease, and takes one of the bridge's slots.
        public var isWork: Bool { self != .refresh }
        var defaultDeadline: TimeSpan { self == .processing ? .seconds(7 * 86_400) : .seconds(86_400) }
        /// How many of one handler may be pending.
        var mostPending: Int { self == .refresh ? 1 : 10 }
    }

    public enum DeadlinePolicy: String, Hashable, Sendable, CaseIterable { case run, skip }

    public var id: String
    public var kind: Kind
    /// The period of its own schedule; nil where it is only submitted.
    public var every: TimeSpan?
    public var require: [Condition] = []
    /// How long after it is due its soft conditions are waived.
    public var deadline: TimeSpan
    public var onDeadline = DeadlinePolicy.run
    public var maxRun = TimeSpan.seconds(600)
    /// Otherwise it goes along with a wake that something else causes.
    public var wakes = true

    public init(id: String, kind: Kind) {
        (self.id, self.kind, deadline) = (id, kind, kind.defaultDeadline)
    }

    public static let shortestPeriod = TimeSpan.seconds(60)
    public static let longestRun = TimeSpan.seconds(6 * 3600)
    private static let example = "{\"id\":\"backup\",\"kind\":\"processing\",\"every\":\"1d\"}"

    private static let keys = ["id", "kind", "require", "on_deadline", "wake"]
    private static let spans = ["every", "deadline", "max_run"]
    /// The keys of the manifest's `jobs`.
    package static let manifestKeys = keys + spans

    public init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(value, owner: "a job", keys: Self.keys, spans: Self.spans, example: Self.example)
        let id = try object.identifier("id")
        guard let kind: Kind = object.word("kind") else {
            try object.conclude()
            throw .malformed(
                "The job \"\(id)\" lacks \"kind\".", advice: "Write \(Kind.allCases.map(\.rawValue).listed).")
        }
        self.init(id: id, kind: kind)
        every = object.span("every", from: Self.shortestPeriod)
        require = object.conditions("require") ?? []
        deadline = object.span("deadline", from: .seconds(1)) ?? deadline
        onDeadline = object.word("on_deadline") ?? .run
        wakes = object.flag("wake") ?? true
        let longest = object.span("max_run", from: .seconds(1), to: Self.longestRun)
        try object.conclude()
        try refuseContradictions(longest)
        maxRun = longest ?? maxRun
    }

    private func refuseContradictions(_ longest: TimeSpan?) throws(ProtocolFault) {
        if kind == .continued, every != nil {
            throw ProtocolFault(
                .conflict, "The job \"\(id)\" is continued, which a person begins, and has \"every\".",
                advice: "Leave \"every\" out, or make it a processing job.")
        }
        if kind == .refresh, longest != nil {
            throw ProtocolFault(
                .conflict, "The job \"\(id)\" is a refresh, which has 30 s, and has \"max_run\".",
                advice: "Leave \"max_run\" out, or make it a processing job.")
        }
    }

    /// The manifest's `jobs`.
    public static func list(_ value: JSONValue) throws(ProtocolFault) -> [JobRule] {
        let rules = try value.rules(of: "jobs", as: "a list of jobs", advice: "Write [\(example)].") {
            (value, others: [JobRule]) throws(ProtocolFault) in
            let rule = try JobRule(value)
            guard !others.contains(where: { $0.id == rule.id }) else {
                throw ProtocolFault(
                    .conflict, "The job \"\(rule.id)\" is twice in \"jobs\".", advice: "Give one another id.")
            }
            return rule
        }
        try refuseTooMany(rules)
        return rules
    }

    private static func refuseTooMany(_ rules: [JobRule]) throws(ProtocolFault) {
        for kind in Kind.allCases {
            let scheduled = rules.count { $0.kind == kind && $0.every != nil }
            guard scheduled > kind.mostPending else { continue }
            throw ProtocolFault(
                .tooMany, "\"jobs\" schedules \(scheduled) \(kind.rawValue) jobs; the limit is \(kind.mostPending).",
                advice: "Take \"every\" out of some, and do their work in another.")
        }
    }
}
