// The known word that a mistyped one was probably meant to be.

/// ``; did you mean `data`?`` or, where nothing is near, the list of known words.
func suggestion(for word: String, among known: [String]) -> String {
    let ranked = known.map { (distance: editDistance(Array(word.utf8.prefix(64)), Array($0.utf8)), word: $0) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return "" }
    guard best.distance <= max(2, best.word.utf8.count / 2) else {
        return "; known are " + known.joined(separator: ", ")
    }
    return "; did you mean `\(best.word)`?"
}

private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (line, character) in left.enumerated() {
        var diagonal = row[0]
        row[0] = line + 1
        for (column, other) in right.enumerated() {
            let substituted = diagonal + (character == other ? 0 : 1)
            diagonal = row[column + 1]
            row[column + 1] = min(substituted, row[column] + 1, diagonal + 1)
        }
    }
    return row[right.count]
}
