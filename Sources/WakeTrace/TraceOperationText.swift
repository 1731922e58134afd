// An operation of a trace in a sentence for people.
import WakeModel

extension TraceOperation {
    /// Its line, its time, and its words; a long message is shortened.
    public func sentence(in header: TraceHeader) -> String {
        let words = words(in: header)
        let shown = words.count > 120 ? String(words.prefix(120)) + "…" : words
        return "line \(line), after \(offset.seconds) s: \(shown)"
    }

    /// The words of its line after the time.
    public func words(in header: TraceHeader) -> String {
        var bytes: [UInt8] = []
        var writer = TraceWriter(header: header)
        writer.write(TraceOperation(offset: .zero, subject: subject), to: &bytes)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line.drop { $0 != UInt8(ascii: " ") }.dropFirst(), as: UTF8.self)
    }
}
