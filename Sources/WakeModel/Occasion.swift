// An event of no device: an alarm, a poll or a job that is due, a region that is entered or left, a message, a flow that begins,
// a transfer that has ended, a socket with traffic. Its maker decides when; handlers get it like any other event.

/// How long a process may stay awake for an occasion.
public enum BudgetClass: Hashable, Sendable {
    /// As long as for what a device says: the manifest's `budget`, 10 s unless it says otherwise.
    case data
    /// 30 s, or the manifest's `budget` where that is longer.
    case content
    /// As long as its progress grows within 60 s, and `longest` in all; beside what else the handler is given.
    case work(longest: TimeSpan)
    /// As long as data flows, beside what else the handler is given: its maker ends it, `idle` after the last data.
    case flow(idle: TimeSpan)

    /// It stands beside the batch: only an acknowledgement that names it closes it.
    public var isStanding: Bool {
        switch self {
        case .work, .flow: true
        case .data, .content: false
        }
    }
}

public struct Occasion: Hashable, Sendable {
    /// Such as `alarm.fired`: the CloudEvents type without `wakebridge.`. The word before the dot is the reason of a wake.
    public var name: String
    public var budgetClass: BudgetClass
    /// The `data` of its line: a JSON object.
    public var payload: [UInt8]

    public init(name: String, budgetClass: BudgetClass, payload: [UInt8]) {
        (self.name, self.budgetClass, self.payload) = (name, budgetClass, payload)
    }

    /// What stands between the braces of the payload.
    var members: ArraySlice<UInt8> { payload.dropFirst().dropLast() }

    /// Why a handler is woken for it.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        case alarm, poll, job, region, message, flow, transfer, socket, keepalive
    }

    /// `alarm` of `alarm.fired`; nil for one of a later version.
    public var reason: Reason? {
        name == "socket.keepalive" ? .keepalive : Reason(rawValue: String(name.prefix { $0 != "." }))
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

    /// Nothing of it comes again by the core's own doing.
    public var isFinal: Bool {
        switch self {
        case .acknowledged, .handedBack, .withdrawn, .ended, .deadLettered, .dropped: true
        case .overrun, .crashed, .givenBack: false
        }
    }
}

/// Why a handler is asked to end an occasion that it has. Nothing is charged for it.
public enum Withdrawal: String, Hashable, Sendable, CaseIterable {
    /// What it relies on has gone.
    case condition
    /// It stands still, and another one waits for its place.
    case stalled
    /// A person wants no more of it.
    case cancelled
}

/// A verb of descriptor 3 that is not about an event: for the agenda, which alone reads its value.
public struct HandlerOrder: Hashable, Sendable {
    public enum Verb: String, Hashable, Sendable, CaseIterable {
        case alarm, cancel, flow, credential, keepalive, pending, poll, reconnect, register, resume, state, submit,
            transfer
    }

    public var verb: Verb
    public var value: JSONValue

    public init(_ verb: Verb, _ value: JSONValue) { (self.verb, self.value) = (verb, value) }
}
