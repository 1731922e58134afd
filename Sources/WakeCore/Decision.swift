// The core's decisions and their reasons, in one written form: the decision log, `why`, and the tests read the same
// words.
import WakeModel

/// The states of docs/dev/invariants.md; `held` overlays idle and suspended.
public enum HandlerState: String, Hashable, Sendable, CaseIterable {
    case stopped, idle, launching, active, expiring, suspending, suspended, terminating, held, quarantined
}

/// Why a process ended, or had to.
public enum EndReason: Hashable, Sendable {
    case exit(ExitStatus)
    case launchTimeout
    case launchFailed(String)
    /// The machine had no room, memory, descriptor or process left to start it with.
    case exhausted(String)
    case overrun
    case taskLeak
    /// It wrote too much to descriptor 3 for too long.
    case flood
    /// It sent WATCHDOG=trigger.
    case watchdog
    case lockHeld
    case escaped
    case unfreezable
    case reclaimed
    case idle
    case stopped
    case reconfigured
    case finished
    case killedByOperator
    case restarted
    /// A oneshot at its deadline.
    case deadline
    /// A task was still open when its time under memory pressure was over.
    case memory
    /// The same, for the machine's heat.
    case thermal
    /// A long job made no progress for a minute, or took longer than it may.
    case stalled
    /// Frozen, it held a socket that others may connect to or call, which its manifest refuses.
    case listensAsleep

    public var wireName: String {
        switch self {
        case .exit(.exited(let code)): "exit-\(code)"
        case .exit(.signalled(let number)): "signal-\(number)"
        case .launchTimeout: "launch-timeout"
        case .launchFailed: "launch-failed"
        case .exhausted: "out-of-resources"
        case .overrun: "overrun"
        case .taskLeak: "task-leak"
        case .flood: "flood"
        case .watchdog: "watchdog"
        case .lockHeld: "lock-held"
        case .escaped: "escaped"
        case .unfreezable: "unfreezable"
        case .reclaimed: "reclaimed"
        case .idle: "idle"
        case .stopped: "stopped"
        case .reconfigured: "reconfigured"
        case .finished: "finished"
        case .killedByOperator: "operator"
        case .restarted: "restarted"
        case .deadline: "deadline"
        case .memory: "memory"
        case .thermal: "thermal"
        case .stalled: "stalled"
        case .listensAsleep: "listens-asleep"
        }
    }
}

/// Why an event that arrived did not wake its handler at once.
public enum NotWoken: String, Hashable, Sendable {
    case awake = "it is awake already"
    case stopped = "it was stopped; only start wakes it"
    case quarantined = "it is quarantined after crashing; only start or a changed manifest wakes it"
    case held = "it is held by a penalty"
    case subscription = "its subscription says wake: false"
    case coalescing =
        "its subscription lets data wait for company (max_latency; advertisements 5 s unless it says otherwise)"
    case nacked = "the device is held back by a nack"
    case resting = "it rests after its awake window"
    case makingWay = "it was frozen for want of memory, and rests for a moment"
    case systemSleep = "the machine is going to sleep; it is woken after that"
    case gated = "it waits for its gates, which its manifest names in after"
    case power = "the machine runs on battery, and its manifest says require: [\"power\"]"
    case ending = "its process is ending"
    case finishing = "the bridge is ending"
    case dropped = "its subscription's policy let the event go"
}

public enum Decision: Hashable, Sendable {
    case moved(from: HandlerState, to: HandlerState, because: String)
    case delivered(first: Sequence, last: Sequence, count: Int)
    case acknowledged(through: Sequence, count: Int, as: Reply.Result?)
    case refused(Sequence, until: Instant)
    case handedBack(Sequence, until: [String])
    /// It was removed from the queue, or the handler was requested to end it.
    case withdrawn(Sequence, Withdrawal)
    /// It was taken out of the queue, for it was cancelled or has to wait.
    case recalled(Sequence)
    /// Its maker ended it.
    case released(Sequence)
    case advanced(Sequence, done: Int64)
    case charged(Sequence, charges: UInt8)
    case deadLettered(Sequence)
    case lost(EventOrigin, GapCause, gap: Sequence)
    /// - Parameter misdirects: it writes its answers to standard output.
    case struck(strikes: Int, misdirects: Bool)
    case held(until: Instant, because: String)
    case began(String)
    case ended(String)
    case faulted(String)
    case throttled
    case misdirected
    case notWoken(Sequence, NotWoken)

    /// The change that a handler with misdirected answers needs, as a sentence.
    public static let misdirection = "it wrote an acknowledgement to stdout, which is its log; write it to descriptor 3"

    /// The decision as a line, without its instant and its handler's name.
    public var wireName: String {
        switch self {
        case .moved(let from, let to, let because): "\(from.rawValue) -> \(to.rawValue) \(because)"
        case .delivered(let first, let last, let count): "deliver \(first.rawValue)..\(last.rawValue) count=\(count)"
        case .acknowledged(let through, let count, let result):
            "ack \(through.rawValue) count=\(count)" + (result.map { " result=\($0.rawValue)" } ?? "")
        case .refused(let sequence, let until): "nack \(sequence.rawValue) until=\(until.nanoseconds / 1000)"
        case .handedBack(let sequence, let words):
            "hand-back \(sequence.rawValue) until=\(words.joined(separator: ","))"
        case .withdrawn(let sequence, .condition): "withdraw \(sequence.rawValue)"
        case .withdrawn(let sequence, let reason): "withdraw \(sequence.rawValue) \(reason.rawValue)"
        case .recalled(let sequence): "recall \(sequence.rawValue)"
        case .released(let sequence): "release \(sequence.rawValue)"
        case .advanced(let sequence, let done): "progress \(sequence.rawValue) done=\(done)"
        case .charged(let sequence, let charges): "charge \(sequence.rawValue) charges=\(charges)"
        case .deadLettered(let sequence): "dead-letter \(sequence.rawValue)"
        case .lost(let device, let cause, let gap): "gap \(gap.rawValue) device=\(device.rawValue) \(cause.rawValue)"
        case .struck(let strikes, _): "strike \(strikes)"
        case .held(let until, let because): "held until=\(until.nanoseconds / 1000) \(because)"
        case .began(let name): "begin \(name)"
        case .ended(let name): "end \(name)"
        case .faulted(let code): "fault \(code)"
        case .throttled: "throttled"
        case .misdirected: "misdirected"
        case .notWoken(let sequence, let why): "not-woken \(sequence.rawValue) \(why.rawValue)"
        }
    }
}
