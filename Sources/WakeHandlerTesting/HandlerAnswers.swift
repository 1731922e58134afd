// The answers of a handler to a recording: all that it acknowledged, ordered and logged.
import WakeHandler

/// All that a handler did with a recording.
public struct HandlerAnswers: Hashable, Sendable {
    /// An acknowledgement.
    public struct Acknowledgement: Hashable, Sendable {
        /// The event that it names.
        public let sequence: UInt64
        /// ``WorkResult/useful``, ``WorkResult/nothing`` or ``WorkResult/failed``; nil where the handler names none.
        public let result: WorkResult?
        /// All events that it settles, in the order of delivery: the named one comes last.
        public let settled: [UInt64]
    }

    /// A refusal: the event came again, after that long in the time of the recording.
    public struct Retry: Hashable, Sendable {
        /// The event that came again.
        public let sequence: UInt64
        /// Nil where the handler leaves the wait to the daemon.
        public let after: Duration?

        /// Makes the retry that a test expects.
        public init(sequence: UInt64, after: Duration?) { (self.sequence, self.after) = (sequence, after) }
    }

    /// An occasion that was handed back.
    public struct HandedBack: Hashable, Sendable {
        /// The event that is handed back. It does not come again in the recording.
        public let sequence: UInt64
        /// The conditions that must be true first, in the daemon's words.
        public let until: [String]

        /// Makes the occasion that a test expects.
        public init(sequence: UInt64, until: [String]) { (self.sequence, self.until) = (sequence, until) }
    }

    /// A report of how far long work is.
    public struct Progress: Hashable, Sendable {
        /// The event of the work.
        public let sequence: UInt64
        /// As the handler counts.
        public let done: Int
        /// Nil where the handler reports none.
        public let total: Int?

        /// Makes the progress that a test expects.
        public init(sequence: UInt64, done: Int, total: Int? = nil) {
            (self.sequence, self.done, self.total) = (sequence, done, total)
        }
    }

    /// An order of an alarm, a job or the poll.
    public struct Order: Hashable, Sendable {
        /// `alarm`, `cancel`, `pending`, `poll`, `register` or `submit`.
        public let verb: String
        /// The value as JSON text.
        public let value: String

        /// Makes the order that a test expects.
        public init(verb: String, value: String) { (self.verb, self.value) = (verb, value) }
    }

    /// A `write` or `read`.
    public struct Request: Hashable, Sendable {
        /// As the handler wrote it.
        public let device: String
        /// The characteristic or stream; nil where the handler names none.
        public let channel: String?
        /// Empty for a read.
        public let bytes: [UInt8]

        /// Makes the request that a test expects.
        public init(device: String, channel: String?, bytes: [UInt8]) {
            (self.device, self.channel, self.bytes) = (device, channel, bytes)
        }
    }

    /// The handler's acknowledgements, in the order of its lines.
    public internal(set) var acknowledgements: [Acknowledgement] = []
    /// The handler's temporary refusals, in the order of its lines.
    public internal(set) var retries: [Retry] = []
    /// The occasions that the handler handed back, in the order of its lines.
    public internal(set) var handedBack: [HandedBack] = []
    /// The jobs that the daemon took back, since what they relied on had gone.
    public internal(set) var takenBack: [UInt64] = []
    /// How far long work was, in the order of the handler's lines.
    public internal(set) var progress: [Progress] = []
    /// The handler's orders, also where they were refused.
    public internal(set) var orders: [Order] = []
    /// All texts of ``BackgroundSession/checkpoint(_:)``; the last one is kept.
    public internal(set) var checkpoints: [String] = []
    /// The writes that the handler requested, also where they were refused.
    public internal(set) var writes: [Request] = []
    /// The reads that the handler requested, also where they were refused.
    public internal(set) var reads: [Request] = []
    /// The names of all tasks that were begun.
    public internal(set) var tasks: [String] = []
    /// The tasks that were never ended: the daemon would end the process for them.
    public internal(set) var openTasks: [String] = []
    /// The lines that ``BackgroundSession/log(_:)`` wrote.
    public internal(set) var log: [String] = []
    /// The daemon's refusals, as its sentences.
    public internal(set) var refusals: [String] = []
    /// The events that came and were not settled: the daemon would deliver them again.
    public internal(set) var unanswered: [UInt64] = []
    /// The lines that the handler was given.
    public internal(set) var deliveredLines: [String] = []
    /// The lines that the handler wrote to descriptor 3.
    public internal(set) var replyLines: [String] = []
}
