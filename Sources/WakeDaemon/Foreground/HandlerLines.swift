// A foreground handler's output for the person at the terminal.
import WakeCore
import WakeEngine
import WakeModel

/// Passes a handler's log on, and what the core decides about it out of the ordinary.
final class HandlerLines: HandlerLog, DecisionListener {
    private let print: (String) -> Void
    var say: (String) -> Void = { _ in }
    /// The line that a handler wrote to stderr last; nil if none.
    private(set) var lastError: String?

    init(_ print: @escaping (String) -> Void) { self.print = print }

    func handler(_ id: HandlerID, logged line: String, as voice: LogVoice) {
        // The bridge's own lines are on standard error already.
        guard voice != .bridge else { return }
        if voice == .handler(.errors) { lastError = line }
        print(line)
    }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        if let sentence = decision.sentence { say("handler: \(sentence)") }
    }
}
