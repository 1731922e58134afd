// The kinds that this process knows, and indexes of their words for lines and events, which are read often.
import Synchronization

struct TriggerRegistry: Sendable {
    private(set) var kinds: [TriggerKind] = []
    private(set) var orders: [String: OrderShape] = [:]
    /// Reasons of wakes; an ``Occasion/Reason`` is a place in it.
    private(set) var reasons: [String] = []
    /// Places of reasons by the names of events.
    private(set) var reasonsByEvent: [String: Int] = [:]

    private static let shared = Mutex(TriggerRegistry(TriggerKind.known))

    private init(_ known: [TriggerKind]) {
        for order in OrderShape.ofAnyKind { orders[order.verb.rawValue] = order }
        for kind in known { add(kind) }
    }

    static func read<Value>(_ value: (borrowing TriggerRegistry) -> Value) -> sending Value {
        shared.withLock { value($0) }
    }

    static func add(_ kind: TriggerKind) { shared.withLock { $0.add(kind) } }

    private mutating func add(_ kind: TriggerKind) {
        guard !kinds.contains(where: { $0.word == kind.word }) else { return }
        kinds.append(kind)
        for order in kind.orders { orders[order.verb.rawValue] = order }
        for event in kind.events { reasonsByEvent[event.name] = place(of: event.reason) }
    }

    private mutating func place(of reason: String) -> Int {
        if let known = reasons.firstIndex(of: reason) { return known }
        reasons.append(reason)
        return reasons.count - 1
    }
}
