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
        notBefore = try object.span("not_before", from: .zero) ?? .zero
        deadline = try object.span("deadline", from: .seconds(1))
        require = try object.conditions("require")
        strategy = try object.word("strategy") ?? .queue
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

/// The value of `cancel`.
enum Cancellation: Hashable, Sendable {
    case alarm(String)
    case alarms
    case job(String)
    case jobs
    case transfer(TransferName)
    case transfers

    private static let example = "{\"cancel\":{\"job\":\"backup\"}}"

    init(_ value: JSONValue) throws(ProtocolFault) {
        let keys = ["alarm", "alarms", "job", "jobs", "transfer", "transfers"]
        let object = try RuleObject(value, owner: "\"cancel\"", keys: keys, example: Self.example)
        let named = keys.filter { object[$0] != nil }
        guard let key = named.first, named.count == 1, let value = object[key] else {
            throw .malformed(
                "\"cancel\" names \(named.isEmpty ? "nothing" : named.listed); it takes one of \(keys.listed).",
                advice: "Write \(Self.example), or {\"cancel\":{\"jobs\":true}} for all.")
        }
        switch key {
        case "alarm": self = .alarm(try value.identifier(key, of: "\"cancel\""))
        case "job": self = .job(try value.identifier(key, of: "\"cancel\""))
        case "transfer": self = .transfer(try TransferName(value, of: "\"transfer\" of \"cancel\""))
        default:
            guard value.boolean == true else {
                throw object.fault(
                    key, takes: "true", value, advice: "Write {\"cancel\":{\"\(key)\":true}}, or name one of them.")
            }
            self = key == "alarms" ? .alarms : key == "jobs" ? .jobs : .transfers
        }
    }
}
