// An event that no device sends, of a kind of the table: its maker decides when it comes, and handlers get it like any other event.

/// How long a process may stay awake for an occasion.
public enum BudgetClass: Hashable, Sendable {
    /// The time for a device's data: the manifest's `budget`, 10 s where the manifest has none.
    case data
    /// 30 s, or the manifest's `budget` where that is longer.
    case content
    /// As long as its progress grows within 60 s, and `longest` in all; beside what else the handler is given.
    case work(longest: TimeSpan)
    /// Until its maker ends it, `idle` after the last data, beside what else the handler is given.
    case openEnded(idle: TimeSpan)

    /// Whether it is beside the batch: only an acknowledgement that names it closes it.
    public var isStanding: Bool {
        switch self {
        case .work, .openEnded: true
        case .data, .content: false
        }
    }
}

public struct Occasion: Hashable, Sendable {
    /// The name of an ``EventShape``, such as `alarm.fired`.
    public var name: String
    public var budgetClass: BudgetClass
    /// The `data` of its line: a JSON object.
    public var payload: [UInt8]

    public init(name: String, budgetClass: BudgetClass, payload: [UInt8]) {
        (self.name, self.budgetClass, self.payload) = (name, budgetClass, payload)
    }

    /// The text between the braces of the payload.
    var members: ArraySlice<UInt8> { payload.dropFirst().dropLast() }

    /// Nil for one of a later version.
    public var reason: Reason? { Reason(event: name) }
}

extension Occasion {
    /// Why a handler is woken for an occasion: a word of ``EventShape/reason``.
    public struct Reason: RawRepresentable, Hashable, Sendable, CaseIterable {
        /// Its place among the known ones: the core keeps one with each event, and a text would be larger.
        private let place: UInt8

        private init(place: Int) { self.place = UInt8(place) }

        public init?(rawValue: String) {
            guard let place = TriggerRegistry.read({ $0.reasons.firstIndex(of: rawValue) }) else { return nil }
            self.init(place: place)
        }

        /// An event of a later version has the reason that its first word is.
        fileprivate init?(event name: String) {
            if let place = TriggerRegistry.read({ $0.reasonsByEvent[name] }) {
                self.init(place: place)
            } else {
                self.init(rawValue: String(name.prefix { $0 != "." }))
            }
        }

        public var rawValue: String { TriggerRegistry.read { $0.reasons[Int(place)] } }
        public static var allCases: [Reason] { TriggerRegistry.read { $0.reasons.indices }.map(Reason.init(place:)) }
    }
}

/// How the handler ended with an occasion.
public enum Conclusion: Hashable, Sendable {
    /// Acknowledged, with the judgement that the handler gave.
    case acknowledged(Reply.Result?)
    /// Handed back: it is to come again when all of these conditions are true.
    case handedBack(until: [String])
    /// It left the queue, or the handler was asked to end it and did not do so in time.
    case withdrawn
    /// Its maker ended it after its handler had got it.
    case ended
    /// It did not end in its time; it comes again unless it is dead-lettered.
    case overrun
    /// The process ended over it; it comes again unless it is dead-lettered.
    case crashed
    /// It waits for its handler again, and nothing is charged for it: refused, where it rests until an instant of CLOCK_BOOTTIME;
    /// otherwise its process ended for another cause.
    case givenBack(until: Instant?)
    case deadLettered
    /// Lost in a gap: the handler was stopped, or its queue was full.
    case dropped

    /// Whether the core will not deliver the occasion again by itself.
    public var isFinal: Bool {
        switch self {
        case .acknowledged, .handedBack, .withdrawn, .ended, .deadLettered, .dropped: true
        case .overrun, .crashed, .givenBack: false
        }
    }
}

/// Why a handler is asked to end an occasion that it has. Nothing is charged for it.
public enum Withdrawal: String, Hashable, Sendable, CaseIterable {
    /// A condition that it relies on is not true any more.
    case condition
    /// It makes no progress, and another one waits for its place.
    case stalled
    /// A person has cancelled it.
    case cancelled
}

/// A verb of descriptor 3 that is not about an event: for the agenda, which alone reads its value.
public struct HandlerOrder: Hashable, Sendable {
    public struct Verb: RawRepresentable, Hashable, Sendable, CaseIterable {
        public let rawValue: String

        init(_ word: String) { rawValue = word }

        /// Nil for a word that is no order of a registered kind.
        public init?(rawValue: String) {
            guard TriggerRegistry.read({ $0.orders[rawValue] != nil }) else { return nil }
            self.init(rawValue)
        }

        public static var allCases: [Verb] {
            TriggerRegistry.read { $0.orders.values.map(\.verb) }.sorted { $0.rawValue < $1.rawValue }
        }
    }

    public var verb: Verb
    public var value: JSONValue

    public init(_ verb: Verb, _ value: JSONValue) { (self.verb, self.value) = (verb, value) }

    /// For a record, with empty texts in place of secrets. Nil for one that would be refused.
    public var withoutSecrets: HandlerOrder? {
        guard let shape = TriggerRegistry.read({ $0.orders[verb.rawValue] }), !shape.secrets.isEmpty else {
            return self
        }
        guard case .object(let members) = value, Set(members.map(\.name)) == Set(shape.members) else { return nil }
        let kept = shape.members.map { name in
            JSONValue.Member(name: name, value: shape.secrets.contains(name) ? .string("") : value[name] ?? .null)
        }
        return HandlerOrder(verb, .object(kept))
    }
}
