// The description of one metric: its name, its kind, its unit and its sentence for people.

struct MetricFamily: Hashable, Sendable {
    enum Kind: String, Sendable, CaseIterable {
        /// Grows, and begins at zero again with the daemon or its handler.
        case counter
        case gauge
        case histogram
        /// Always 1: its labels contain the information.
        case info
    }

    enum Unit: String, Sendable, CaseIterable { case seconds, bytes }

    /// Without what its kind adds to the names of its samples, such as `_total`; ends with its unit, where it has one.
    let name: String
    let kind: Kind
    let help: String

    init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    var unit: Unit? { Unit.allCases.first { name.hasSuffix("_\($0.rawValue)") } }

    /// The name in queries; a histogram's are made of this and `_bucket`, `_sum` and `_count`.
    var sampleName: String {
        switch kind {
        case .counter: name + "_total"
        case .info: name + "_info"
        case .gauge, .histogram: name
        }
    }
}
