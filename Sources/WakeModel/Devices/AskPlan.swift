// The requests that a device gets: once when its link is armed, and repeatedly while a handler may want the answer.

public struct AskPlan: Hashable, Sendable {
    /// Bytes that are written to a characteristic or a line.
    public struct Question: Hashable, Sendable {
        public var to: Channel
        public var bytes: [UInt8]

        public init(to channel: Channel, bytes: [UInt8]) { (to, self.bytes) = (channel, bytes) }
    }

    public struct Poll: Hashable, Sendable {
        public enum When: String, Hashable, Sendable, CaseIterable {
            /// While a handler of the device is awake.
            case awake
            case always
        }

        public var question: Question
        public var every: TimeSpan
        public var when: When

        public init(_ question: Question, every: TimeSpan, when: When = .awake) {
            (self.question, self.every, self.when) = (question, every, when)
        }
    }

    /// In this order, after arming.
    public var start: [Question] = []
    public var poll: [Poll] = []

    public init(start: [Question] = [], poll: [Poll] = []) { (self.start, self.poll) = (start, poll) }

    public var isEmpty: Bool { start.isEmpty && poll.isEmpty }
    /// Whether it matters which handlers are awake.
    public var needsWanted: Bool { poll.contains { $0.when == .awake } }
}
