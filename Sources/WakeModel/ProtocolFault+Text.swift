// The wording of protocol faults: excerpts of the line, and the nearest known word.

extension ProtocolFault {
    static let lineTooLong = ProtocolFault.tooLong(
        "The line", nil, limit: ReplyLine.lengthLimit, advice: "Write one JSON object a line, each ended by a newline.")

    static func malformed(
        _ sentence: String, advice: String = "Write one JSON object a line, such as {\"ack\":42}."
    ) -> ProtocolFault {
        ProtocolFault(.malformed, sentence, advice: advice)
    }

    static func tooLong(_ what: String, _ count: Int?, limit: Int, advice: String) -> ProtocolFault {
        let length = count.map { "\($0) bytes long" } ?? "too long"
        return ProtocolFault(.tooLong, "\(what) is \(length); the limit is \(limit) bytes.", advice: advice)
    }

    static func unknownKey(_ name: String, of owner: String, known: [String]) -> ProtocolFault {
        let shown = JSONValue.string(name).excerpt
        return ProtocolFault(
            .unknownKey, "\(shown) is no key of \(owner)\(nearest(to: name, in: known)).",
            advice: "Use the keys \(known.listed).")
    }
}

extension JSONValue {
    var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The JSON text, cut to fit into a sentence.
    var excerpt: String {
        let text = text
        return text.utf8.count <= 48 ? text : "\(text.prefix(40))…"
    }
}

extension [String] {
    /// `a, b or c`.
    var listed: String {
        guard let last, count > 1 else { return first ?? "" }
        return dropLast().joined(separator: ", ") + " or " + last
    }
}

/// `; the nearest is "ack"`, or nothing where no known word is near.
func nearest(to word: String, in known: [String]) -> String {
    nearestName(to: word, among: known).map { "; the nearest is \"\($0)\"" } ?? ""
}
