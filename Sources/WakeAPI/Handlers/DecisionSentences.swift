// Sentences for operators about decisions of core and agenda: the same in `why` and in a handler's log.
import WakeAgenda
import WakeCore
import WakeEngine
import WakeModel

extension Decision {
    /// Nil for the ordinary course of a wake, and for events that did not wake: their neighbours' sentences cover them.
    package var sentence: String? {
        switch self {
        case .held(_, let because): "held after: \(because)"
        case .struck(let strikes, misdirects: true):
            "strike \(strikes): its budget ended without an acknowledgement on descriptor 3; \(Self.misdirection)"
        case .struck(let strikes, misdirects: false):
            "strike \(strikes): its budget ended without an acknowledgement on descriptor 3; "
                + "for a program that cannot answer, say ack: \"delivery\" in its manifest"
        case .charged(let sequence, let charges):
            "event \(sequence.rawValue) was open when it died, for the \(charges). time"
        case .deadLettered(let sequence): "event \(sequence.rawValue) was dead-lettered"
        case .handedBack(let sequence, let words):
            "it gave event \(sequence.rawValue) back until there is: \(words.joined(separator: ", "))"
        case .withdrawn(let sequence, .condition):
            "event \(sequence.rawValue) was taken back, for what it relies on has gone; it comes again"
        case .withdrawn(let sequence, .stalled):
            "event \(sequence.rawValue) was taken back, for it stood still while another job waited; it comes again"
        case .withdrawn(let sequence, .cancelled):
            "event \(sequence.rawValue) was taken back, for its job was cancelled"
        case .recalled(let sequence):
            "event \(sequence.rawValue) was taken out of its queue: what it came from was cancelled, or has to wait"
        case .refused(let sequence, _): "it gave event \(sequence.rawValue) back; its device waits"
        case .lost(_, let cause, let gap):
            "events are lost (\(cause.rawValue)); the gap with seq \(gap.rawValue) tells how many"
        case .moved(_, .stopped, because: "stopped"): "stopped by an operator; start lifts it"
        case .moved(_, .stopped, _): "stopped: its manifest says so, or is gone"
        case .moved(_, .quarantined, let because): "quarantined: \(because); start or a changed manifest lifts it"
        case .moved(_, .terminating, because: "flood"):
            "killed: it flooded descriptor 3 without a pause; write a line there only to answer an event or to ask for "
                + "something, and what is a log to stdout"
        case .moved(_, .terminating, because: "stalled"):
            "killed: its job made no progress for a minute, or took longer than max_run; write "
                + "{\"progress\":SEQ,\"done\":N} to descriptor 3 as it comes further"
        case .moved(_, .terminating, because: "listens-asleep"):
            "killed: it held a socket while it was frozen, which its manifest refuses (sleepers_listen)"
        case .moved(_, .terminating, because: "watchdog"): "killed: it gave itself up with WATCHDOG=trigger"
        case .throttled:
            "it says more on descriptor 3 than its events call for (\(LineAllowance.linesPerEvent) lines each, and "
                + "\(LineAllowance.linesPerSecond) a second beside): it is read slowly, and killed if it goes on"
        case .misdirected: Self.misdirection
        case .moved, .delivered, .acknowledged, .began, .ended, .released, .advanced, .faulted, .notWoken: nil
        }
    }
}

extension AgendaDecision {
    /// Nil for the ordinary course of an entry, which its own history records.
    package var sentence: String? {
        let words = wireName.split(separator: " ")
        switch words.first {
        case "drop": return "what was stored of \(entry) cannot be read, and is forgotten"
        case "skip": return "\(entry) was skipped: at its deadline it still waited for \(waitedFor)"
        case "skipped": return "\(entry) could not be raised in time, and counts as missed"
        case "folded": return "\(entry) was late and so near to the next one that it counts as missed with it"
        case "lost":
            let condition = words.dropFirst().joined(separator: " ")
            return "\(entry) lost \(condition), on which it relies; it comes back"
        case "undeclared": return gone
        case "unpermitted": return "\(entry) is gone, for the manifest permits no alarms any more"
        case "cancel" where words.dropFirst().first == "manifest": return gone
        case "cancel" where words.dropFirst().first == "operator": return "\(entry) was cancelled by an operator"
        case "makes": return "\(entry) stood still while another job waited: it makes way, and comes after that"
        case "too-many": return "\(entry) is not set: this handler has \(AlarmRule.limit) alarms already; cancel some"
        case "interrupt" where words.last == "group":
            return "\(entry) was interrupted, for another one of its group comes first"
        case "interrupt": return "\(entry) was interrupted (\(words.dropFirst().joined(separator: " ")))"
        case "dead-lettered": return "\(entry) was given up, and lies among the dead letters"
        default: return nil
        }
    }

    private var gone: String { "\(entry) is gone, for the manifest declares it no more" }

    private var waitedFor: Substring { wireName.drop { $0 != "=" }.dropFirst() }

    /// `job backup`, `the poll`, `message 17`.
    private var entry: String {
        if key.id.isEmpty { return "the \(key.source.rawValue)" }
        return "\(key.source == .inbox ? "message" : key.source.rawValue) \(key.id)"
    }
}
