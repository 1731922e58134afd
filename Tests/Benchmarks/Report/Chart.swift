// What is drawn: bars on a logarithmic axis, or curves over one.

public struct Chart: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        case bars([Bar])
        case curves(over: String, [Curve])
    }

    /// The median, and the 99th percentile as a line beyond it.
    public struct Bar: Hashable, Sendable {
        public let name: String
        public let median: Double
        public let p99: Double
        /// Ours stand out.
        public let isOurs: Bool

        public init(_ name: String, median: Double, p99: Double, isOurs: Bool) {
            self.name = name
            self.median = median
            self.p99 = p99
            self.isOurs = isOurs
        }
    }

    public struct Curve: Hashable, Sendable {
        public struct Point: Hashable, Sendable {
            public let count: Int
            public let value: Double

            public init(count: Int, value: Double) {
                self.count = count
                self.value = value
            }
        }
        public let name: String
        public let points: [Point]

        public init(_ name: String, _ points: [Point]) {
            self.name = name
            self.points = points
        }
    }

    public let title: String
    /// What the values are, with their unit.
    public let axis: String
    public let content: Content

    public init(_ title: String, axis: String, _ content: Content) {
        self.title = title
        self.axis = axis
        self.content = content
    }
}
