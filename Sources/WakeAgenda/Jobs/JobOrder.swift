// A handler's orders about its jobs: the values of `submit` and `cancel`.
import WakeModel

/// The value of `submit`.
struct JobOrder: Hashable, Sendable {
    enum Strategy: String, Hashable, Sendable, CaseIterable {
        /// It waits until it can start.
        case queue
        /// It is refused where it cannot start now.
        case fail
    }

    var job: String
    var notBefore = TimeSpan.zero
    /// Counted from the order; nil for that of the manifest, counted from the earliest begin.
    var deadline: TimeSpan?
    /// Replaces the manifest's conditions.
    var require: [Condition]?
    var strategy = Strategy.queue

    init(_ value: JSONValue) throws(ProtocolFault) {
        let object = try RuleObject(
            value, owner: "\"submit\"", keys: ["job", "require", "strategy"], spans: ["not_before", "deadline"],
            example: "{\"submit\":{\"job\":\"backup\"}}")
        job = try object.identifier("job")
        notBefore = object.span("not_before", from: .zero) ?? .zero
        deadline = object.span("deadline", from: .seconds(1))
        require = object.conditions("require")
        strategy = object.word("strategy") ?? .queue
        try object.conclude()
        if let deadline, deadline <= notBefore {
            throw ProtocolFault(
                .conflict, "\"submit\" of \"\(job)\" has its deadline at or before its earliest begin.",
                advice: "Both count from now: make \"deadline_s\" greater than \"not_before_s\".")
        }
        if strategy == .fail, notBefore > .zero {
            throw ProtocolFault(
                .conflict, "\"submit\" of \"\(job)\" is to fail unless it starts now, and is not to start now.",
                advice: "Leave out \"not_before_s\", or write \"strategy\":\"queue\".")
        }
    }

    /// The same with its conditions bound to the handler that orders it.
    func asked(by handler: HandlerID) -> JobOrder {
        var order = self
        order.require = require?.map { $0.asked(by: handler) }
        return order
    }
}
