// How faults of the protocol are worded: excerpts of what was written, and the nearest word that is known.

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
            .unknownKey, "\(shown) is no key of \(owner); the nearest is \"\(nearest(to: name, in: known))\".",
            advice: "Use the keys \(known.listed).")
    }
}

extension JSONValue {
    var text: String {
        var writer = JSONWriter()
        writer.value(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// The JSON text, cut where a sentence would lose its reader.
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

/// The known word with the fewest slips (a letter more, less, other, or two swapped) from `word`; the first of equals.
func nearest(to word: String, in known: [String]) -> String {
    // The length of a line is the sender's choice, the time for an answer is not.
    let letters = Array(word.utf8.prefix(64))
    let distances = known.map { (name: $0, slips: slips(from: letters, to: Array($0.utf8))) }
    return distances.min { $0.slips < $1.slips }?.name ?? ""
}

/// Optimal string alignment, three rows at a time.
private func slips(from left: [UInt8], to right: [UInt8]) -> Int {
    var older: [Int] = []
    var previous = Array(0...right.count)
    for row in left.indices {
        var current = [row + 1]
        for column in right.indices {
            let isSame = left[row] == right[column]
            var best = min(previous[column + 1] + 1, current[column] + 1, previous[column] + (isSame ? 0 : 1))
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                best = min(best, older[column - 1] + 1)
            }
            current.append(best)
        }
        (older, previous) = (previous, current)
    }
    return previous.last ?? left.count
}
