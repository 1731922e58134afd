// The daemon's answer to a line that it could not use, or to a request that failed.

/// The daemon's answer to a line that it could not use, or to a request that failed.
public struct BridgeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, for programs.
    public let code: Code
    /// The fault, as one sentence.
    public let sentence: String
    /// The remedy, as one sentence.
    public let advice: String

    /// Both sentences, for a log.
    public var description: String { "\(sentence) \(advice)" }

    /// The codes of the daemon, and ``closed`` of this library.
    public enum Code: BridgeWord {
        /// A line is no JSON object with one verb, or a value in it is of the wrong kind.
        case malformed
        /// A key, or a word, is none of the known ones.
        case unknownKey, unknownToken
        /// A line, a text or a value is over its limit.
        case tooLong
        /// The event was never given to this process.
        case notDelivered
        /// The event was given to an earlier process, or is settled: there is nothing to do.
        case staleLease
        /// No task now: the pool is used up, memory is short, or the machine is too hot.
        case noExtensionLeft
        /// 64 tasks are open, a task of that name is open, or none is.
        case tooManyTasks, alreadyOpen, notOpen
        /// The handler writes more lines than it needs.
        case tooFast
        /// The daemon knows no device of that name, or the manifest does not watch it.
        case noSuchDevice, notPermitted
        /// The manifest requires bonded devices, and this one has no bond.
        case notBonded
        /// The device is not connected: ask again after its next `connected`.
        case notConnected
        /// The device or the system refused; the sentence has its words.
        case deviceFailed
        /// A replay has no device to write to or read from.
        case replayed
        /// As many are pending as may be: cancel one first.
        case tooMany
        /// The manifest declares no job, or no alarms, of that name.
        case notRegistered
        /// It cannot be had now.
        case unavailable
        /// It contradicts something that is there already, or itself.
        case conflict
        /// Its time is over.
        case tooLate
        /// Input ended before the daemon answered.
        case closed
        /// A code of a later version.
        case other(String)

        public static let known: [Code] = [
            .malformed, .unknownKey, .unknownToken, .tooLong, .notDelivered, .staleLease, .noExtensionLeft,
            .tooManyTasks, .alreadyOpen, .notOpen, .tooFast, .noSuchDevice, .notPermitted, .notBonded, .notConnected,
            .deviceFailed, .replayed, .tooMany, .notRegistered, .unavailable, .conflict, .tooLate, .closed,
        ]

        public var word: String {
            switch self {
            case .malformed: "malformed"
            case .unknownKey: "unknown-key"
            case .unknownToken: "unknown-token"
            case .tooLong: "too-long"
            case .notDelivered: "not-delivered"
            case .staleLease: "stale-lease"
            case .noExtensionLeft: "no-extension-left"
            case .tooManyTasks: "too-many-tasks"
            case .alreadyOpen: "already-open"
            case .notOpen: "not-open"
            case .tooFast: "too-fast"
            case .noSuchDevice: "no-such-device"
            case .notPermitted: "not-permitted"
            case .notBonded: "not-bonded"
            case .notConnected: "not-connected"
            case .deviceFailed: "device-failed"
            case .replayed: "replayed"
            case .tooMany: "too-many"
            case .notRegistered: "not-registered"
            case .unavailable: "unavailable"
            case .conflict: "conflict"
            case .tooLate: "too-late"
            case .closed: "closed"
            case .other(let word): word
            }
        }
    }
}

extension BridgeError {
    static let noEvent = BridgeError(
        code: .malformed, sentence: "A line on stdin is no event of the protocol; it was passed over.",
        advice: "Send one JSON object a line.")

    static let inputEnded = BridgeError(
        code: .closed, sentence: "The daemon closed the handler's input before it answered this request.",
        advice: "Ask again in the next process.")

    /// - Parameter work: the id of the alarm or the job.
    static func noLongerHeld(_ work: String, _ sequence: UInt64) -> BridgeError {
        BridgeError(
            code: .staleLease,
            sentence:
                "The work on \"\(work)\", event \(sequence), was finished before, or the daemon has taken it back.",
            advice: "Finish it once; one that was taken back comes again.")
    }
}
