// The conditions that an entry or a gate may wait for: their words, and what is particular to each.
import WakeModel

public enum Condition: Hashable, Sendable {
    case power, steady, network, unmetered, idle, storage, cool
    case timeSynced
    /// A path.
    case mount(String)
    /// A path, and the handler whose user must be able to read it; nil in a word, which covers every handler.
    case unlocked(String, by: HandlerID? = nil)

    /// As manifests, orders and `pending` write it: `time-synced`, `mount:/data`.
    public var word: String {
        switch self {
        case .power: "power"
        case .steady: "steady"
        case .network: "network"
        case .unmetered: "unmetered"
        case .idle: "idle"
        case .storage: "storage"
        case .cool: "cool"
        case .timeSynced: "time-synced"
        case .mount(let path): "mount:\(path)"
        case .unlocked(let path, _): "unlocked:\(path)"
        }
    }

    /// The same condition, bound to one handler.
    func asked(by handler: HandlerID) -> Condition {
        if case .unlocked(let path, _) = self { .unlocked(path, by: handler) } else { self }
    }

    /// The condition as its word names it, the same for all handlers.
    public var ofAnyHandler: Condition {
        if case .unlocked(let path, _) = self { .unlocked(path) } else { self }
    }

    /// The handler whose user decides; nil where the condition is the same for all.
    private var reader: HandlerID? { if case .unlocked(_, let reader) = self { reader } else { nil } }

    /// The conditions without a path.
    public static let plain: [Condition] = [
        .power, .steady, .network, .unmetered, .idle, .storage, .timeSynced, .cool,
    ]

    /// A deadline waives the others.
    public var isHard: Bool {
        switch self {
        case .timeSynced, .mount, .unlocked, .cool: true
        case .power, .steady, .network, .unmetered, .idle, .storage: false
        }
    }

    /// For how long it must have been true before it counts.
    public var settle: TimeSpan {
        switch self {
        case .power: .seconds(120)
        case .steady: .seconds(10)
        case .network, .unmetered: .seconds(3)
        case .mount, .unlocked: .seconds(1)
        case .idle, .storage, .timeSynced, .cool: .zero
        }
    }

    /// For how long it must have been false before what runs is pressed, or what is queued withdrawn.
    public static let loss = TimeSpan.seconds(10)
}

extension Condition: Comparable {
    /// Sorts by word, so that lists have a fixed order.
    public static func < (left: Condition, right: Condition) -> Bool {
        (left.word, left.reader?.rawValue ?? 0) < (right.word, right.reader?.rawValue ?? 0)
    }
}
