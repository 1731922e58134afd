// The last changes of one entry, in sentences for `why` and `pending`.
import WakeModel

package struct ChangeHistory: RowPart, Hashable {
    static let longest = 32
    package private(set) var changes: [PendingEntry.Change] = []

    /// A sentence that repeats the last one is kept once, with its first time.
    mutating func add(_ sentence: String, _ step: AgendaStep) {
        guard changes.last?.sentence != sentence else { return }
        changes.append(PendingEntry.Change(at: step.wall, sentence: sentence))
        if changes.count > Self.longest { changes.removeFirst(changes.count - Self.longest) }
    }

    package func write(into writer: inout JSONWriter) {
        writer.list("history", changes) { writer, change in
            writer.beginArray()
            writer.integer(change.at.microseconds)
            writer.string(change.sentence)
            writer.endArray()
        }
    }

    init() {}

    /// An entry that cannot be read is left out: it decides nothing.
    package init(_ row: JSONValue) {
        changes = (row["history"]?.array ?? []).suffix(Self.longest).compactMap { pair in
            guard let parts = pair.array, parts.count == 2, let at = parts[0].integer, let text = parts[1].string
            else { return nil }
            return PendingEntry.Change(at: WallTime(microseconds: at), sentence: text)
        }
    }
}
