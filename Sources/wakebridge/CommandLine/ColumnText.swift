// Help in 100 columns: long lines wrap between words, and go on below the place where their text began.

enum ColumnText {
    static let width = 100

    /// Paragraphs, filled again; a line that begins with two spaces stays as it is.
    static func paragraphs(_ text: String) -> String {
        var lines: [String] = []
        var words: [Substring] = []
        func fill() {
            if !words.isEmpty { lines += filled(words, width) }
            words = []
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("  ") || line.isEmpty {
                fill()
                lines.append(String(line))
            } else {
                words += line.split(separator: " ")
            }
        }
        fill()
        return lines.joined(separator: "\n")
    }

    /// Two columns, each row with its line end; the second column wraps.
    static func rows(_ rows: [(name: String, text: String)]) -> String {
        let margin = (rows.map(\.name.count).max() ?? 0) + 2
        return rows.map { row in
            let first = row.name + String(repeating: " ", count: margin - row.name.count)
            return first + hanging(row.text.split(separator: " "), below: margin) + "\n"
        }.joined()
    }

    /// A synopsis of a verb; breaks only between options, never in one.
    static func usage(_ start: String, _ synopsis: String, margin: Int) -> String {
        hanging([start[...]] + pieces(of: synopsis), below: margin, isFirstAtMargin: false)
    }

    private static func hanging(
        _ words: [Substring], below margin: Int, isFirstAtMargin: Bool = true
    ) -> String {
        let space = String(repeating: " ", count: margin)
        guard !isFirstAtMargin else { return filled(words, width - margin).joined(separator: "\n" + space) }
        // The first line begins at the left, so it has more room than those below.
        var first: [Substring] = []
        while first.count < words.count, (first + [words[first.count]]).joined(separator: " ").count <= width {
            first.append(words[first.count])
        }
        let rest = filled(Array(words[first.count...]), width - margin)
        return ([first.joined(separator: " ")] + rest.map { space + $0 }).joined(separator: "\n")
    }

    static func filled(_ words: [Substring], _ width: Int) -> [String] {
        var lines: [String] = []
        for word in words {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = last + " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    /// Brackets with their content are one piece, and so is an option with its value.
    private static func pieces(of synopsis: String) -> [Substring] {
        var pieces: [Substring] = []
        var depth = 0
        for word in synopsis.split(separator: " ") {
            let isValue = pieces.last?.hasPrefix("-") == true && !["[", "-", "|"].contains { word.hasPrefix($0) }
            if let last = pieces.last, depth > 0 || isValue {
                pieces[pieces.count - 1] = last + " " + word
            } else {
                pieces.append(word)
            }
            depth += word.count { $0 == "[" } - word.count { $0 == "]" }
        }
        return pieces
    }
}
