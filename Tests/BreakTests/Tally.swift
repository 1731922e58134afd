// What rounds came to, added up for the report.

struct Tally {
    var events = 0
    var seconds = 0.0
    var faults: [String: Int] = [:]
    /// Deliveries, deliveries again, gaps, dead letters and so on, as the reckoning counted them.
    private(set) var counts: [String: Int] = [:]
    var complaints: [String] = []

    /// Lines of the reckoning: `count NAME N`, or what it complains of.
    mutating func take(_ output: String) {
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == "count", words.count == 3, let number = Int(words[2]) {
                counts[String(words[1]), default: 0] += number
            } else {
                complaints.append(String(line))
            }
        }
    }

    mutating func add(_ other: Tally) {
        events += other.events
        seconds += other.seconds
        faults.merge(other.faults, uniquingKeysWith: +)
        counts.merge(other.counts, uniquingKeysWith: +)
        complaints += other.complaints
    }

    var faultCount: Int { faults.values.reduce(0, +) }

    func count(_ name: String) -> Int { counts[name] ?? 0 }

    /// One line for a person.
    var line: String {
        let kept = ["deliveries", "redeliveries", "gaps", "dead-letters", "missing"].map { "\($0) \(count($0))" }
        return "\(faultCount) faults, events \(events), \(kept.joined(separator: ", ")), \(Int(seconds)) s"
    }
}
