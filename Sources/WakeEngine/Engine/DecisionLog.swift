// The decision log: one line a decision, with its instant since the start, byte for byte the same for the same trace.
import WakeAgenda
import WakeCore
import WakeModel

package final class DecisionLog: DecisionListener {
    private let start: Instant
    /// The names of handlers in the present life of the bridge.
    package var catalog: Catalog
    /// While true, the log writes no decisions.
    package var isSilent = false
    private let write: ([UInt8]) -> Void

    /// `start` is the instant shown as zero; `write` receives whole lines.
    package init(from start: Instant, naming catalog: Catalog, write: @escaping ([UInt8]) -> Void) {
        self.start = start
        self.catalog = catalog
        self.write = write
    }

    package func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        write(decision.wireName, of: handler, at: stamp)
    }

    package func hear(_ decision: AgendaDecision, of handler: HandlerID, at stamp: Stamp) {
        let entry = [decision.key.source.rawValue, decision.key.id].filter { !$0.isEmpty }.joined(separator: " ")
        write("\(entry) \(decision.wireName)", of: handler, at: stamp)
    }

    private func write(_ words: String, of handler: HandlerID, at stamp: Stamp) {
        guard !isSilent else { return }
        var line: [UInt8] = []
        line.appendDecimal((stamp.moment.monotonic - start).nanoseconds / 1000)
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: catalog.name(of: handler).utf8)
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: words.utf8)
        line.append(UInt8(ascii: "\n"))
        write(line)
    }
}
