// The known names nearest to a mistyped one, for every "unknown …" sentence.

/// The names within a third of `text`'s length in edits, and those that begin with it; nearest first, at most three.
package func nearestNames(to text: String, among names: [String]) -> [String] {
    let wanted = Array(text.lowercased().utf8.prefix(64))
    let limit = max(1, wanted.count / 3)
    let ranked = names.compactMap { name -> (distance: Int, name: String)? in
        let candidate = Array(name.lowercased().utf8.prefix(64))
        if wanted.count >= 2, candidate.starts(with: wanted) { return (0, name) }
        let distance = editDistance(wanted, candidate)
        return distance <= limit ? (distance, name) : nil
    }
    return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name)
}

/// The most probable name; nil where none is near.
package func nearestName(to text: String, among names: [String]) -> String? {
    nearestNames(to: text, among: names).first
}

/// ` Did you mean 'status'?`, or nothing where no name is near.
package func suggestion(for text: String, among names: [String]) -> String {
    let near = nearestNames(to: text, among: names).map { "'\($0)'" }
    return near.isEmpty ? "" : " Did you mean \(near.joined(separator: " or "))?"
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var earlier: [Int] = []
    var previous = Array(0...right.count)
    for row in 1...left.count {
        var current = [row]
        for column in 1...right.count {
            let replaced = previous[column - 1] + (left[row - 1] == right[column - 1] ? 0 : 1)
            var best = min(replaced, previous[column] + 1, current[column - 1] + 1)
            if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                best = min(best, earlier[column - 2] + 1)
            }
            current.append(best)
        }
        (earlier, previous) = (previous, current)
    }
    return previous[right.count]
}
