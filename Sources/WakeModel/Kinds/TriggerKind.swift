// A kind of event that no device sends, and every word by which manifests, lines, the API and the tool name it.

/// It has all that surfaces need of a kind and nothing that decides, so that no list of kinds is written a second time. A class, for
/// look-ups by word would copy every list of a struct.
public final class TriggerKind: Sendable {
    public struct Traits: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `pending` lists its entries.
        public static let isPending = Traits(rawValue: 1)
        /// `scheduled` of a handler's status counts its entries.
        public static let isScheduled = Traits(rawValue: 2)
        /// The database has its entries, and they survive a reboot.
        public static let isStored = Traits(rawValue: 4)
        /// Its events come by the manifest alone: the handler need order nothing.
        public static let comesUnasked = Traits(rawValue: 8)
        /// A handler that gives its event back with `until` gets that event again.
        public static let returnsUntil = Traits(rawValue: 16)
        /// All of a handler's entries share one origin, so that their events come in one order.
        public static let sharesOrigin = Traits(rawValue: 32)
        /// Handlers take entries back with `cancel`.
        public static let isCancellable = Traits(rawValue: 64)
    }

    /// The `source` of its entries, and the first part of their URIs.
    public let word: String
    /// The name of several of its events, in sentences.
    public let nouns: String
    public let manifestKey: String
    public let events: [EventShape]
    public let orders: [OrderShape]
    /// Reasons to wait that entries of this kind alone have.
    public let waits: [WaitReason]
    public let traits: Traits
    /// The verb of a sentence on an entry that runs.
    public let activity: String

    /// - Parameter word: of a-z, 0-9 and `-`.
    public init(
        _ word: String, nouns: String, manifestKey: String, events: [EventShape], orders: [OrderShape] = [],
        waits: [WaitReason] = [], traits: Traits = [], activity: String = "runs"
    ) {
        (self.word, self.nouns, self.manifestKey) = (word, nouns, manifestKey)
        (self.events, self.orders, self.waits, self.traits) = (events, orders, waits, traits)
        self.activity = activity
    }

    /// The kind of its entries where they are listed beside devices.
    public var source: SourceKind { SourceKind(word, uriPrefix: "/\(word)/") }

    /// All kinds, in the order in which surfaces list them.
    public static var all: [TriggerKind] { TriggerRegistry.read { $0.kinds } }

    /// A kind of another module makes itself known, once, before anything is read that names it.
    public static func register(_ kind: TriggerKind) { TriggerRegistry.add(kind) }

    /// Nil for a word that no registered kind has.
    public static func named(_ word: String) -> TriggerKind? { all.first { $0.word == word } }

    public static func all(_ traits: Traits) -> [TriggerKind] { all.filter { $0.traits.isSuperset(of: traits) } }

    /// The names of several events of these kinds, as a part of a sentence.
    public static func nouns(_ traits: Traits) -> String { all(traits).map(\.nouns).joinedByAnd }
}

/// A type of event.
public struct EventShape: Hashable, Sendable {
    /// The CloudEvents type without `wakebridge.`, such as `alarm.fired`.
    public let name: String
    /// Why its handler is woken.
    public let reason: String

    /// - Parameter reason: nil for the part of the name before the dot.
    public init(_ name: String, reason: String? = nil) {
        self.name = name
        self.reason = reason ?? String(name.prefix { $0 != "." })
    }
}

/// A verb of descriptor 3 that handlers write about a kind.
public struct OrderShape: Hashable, Sendable {
    public let verb: HandlerOrder.Verb
    /// The members of its value, where some are secret.
    public let members: [String]
    /// Members whose values no record may contain.
    public let secrets: [String]

    public init(_ verb: HandlerOrder.Verb, members: [String] = [], secrets: [String] = []) {
        (self.verb, self.members, self.secrets) = (verb, members, secrets)
    }

    static let ofAnyKind = [OrderShape(.cancel), OrderShape(.pending)]
}

/// Something that an entry waits for and that is no condition: a word of `waits_for`, and what follows "waits for" in a sentence.
public struct WaitReason: Hashable, Sendable {
    public let word: String
    public let phrase: String

    public init(_ word: String, _ phrase: String) { (self.word, self.phrase) = (word, phrase) }

    public static var all: [WaitReason] { ofAnyKind + TriggerKind.all.flatMap(\.waits) }

    /// The phrase of a word of `waits_for`; a condition is its own phrase.
    public static func phrase(of word: String) -> String { all.first { $0.word == word }?.phrase ?? word }
}
