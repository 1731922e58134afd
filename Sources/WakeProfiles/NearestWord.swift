// The word a person probably meant: the nearest known one by edit distance.

/// The nearest of `known` by Damerau-Levenshtein distance (optimal alignment), where it is near enough to be a slip.
public func nearestWord(to word: String, among known: some Sequence<String>) -> String? {
    // A key of a megabyte is nobody's slip, and would cost a megabyte times every known word.
    guard word.utf8.count <= 64 else { return nil }
    let allowance = max(1, word.utf8.count / 3)
    let ranked = known.map { (distance: editDistance(word.lowercased(), $0.lowercased()), word: $0) }
    guard let best = ranked.min(by: { ($0.distance, $0.word) < ($1.distance, $1.word) }) else { return nil }
    return best.distance <= allowance ? best.word : nil
}

private func editDistance(_ left: String, _ right: String) -> Int {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for (row, leftByte) in left.enumerated() {
        var current = [row + 1]
        for (column, rightByte) in right.enumerated() {
            let substitution = last[column] + (leftByte == rightByte ? 0 : 1)
            var best = min(substitution, last[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, leftByte == right[column - 1], left[row - 1] == rightByte {
                best = min(best, beforeLast[column - 1] + 1)
            }
            current.append(best)
        }
        (beforeLast, last) = (last, current)
    }
    return last[right.count]
}
