// Requests of a page beyond the daemon's state: histories, findings, what is near, a pairing, a recording, a replay.
import WakeModel

public enum WatchingCall: Hashable, Sendable {
    /// A device's values and gaps.
    case history(device: String, HistorySpan)
    /// When a handler was awake, frozen or held.
    case timeline(handler: String, HistorySpan)
    /// The findings of the doctor.
    case findings
    /// Devices near by, as they appear.
    case neighbours
    case pair(PairingOrder)
    case answerPairing(PairingAnswer)
    /// A trace of a device, as it happens.
    case record(device: String)
    /// Plays a trace to a process of its own of the handler's program.
    case replay(handler: String, trace: String)
}

/// How far back an answer reaches.
public enum HistorySpan: String, Hashable, Sendable, CaseIterable {
    case quarterHour = "15m"
    case day = "24h"
    case week = "7d"

    /// Handlers have no longer timeline.
    static let ofTimelines: [HistorySpan] = [.quarterHour, .day]
}

public struct PairingOrder: Hashable, Sendable {
    public var device: String
    /// Nil for the name that the tool makes of profile and address.
    public var alias: String?

    public init(device: String, alias: String? = nil) { (self.device, self.alias) = (device, alias) }
}

/// An answer to what the pairing asked last.
public struct PairingAnswer: Hashable, Sendable {
    public enum Word: Hashable, Sendable {
        case passkey(String)
        case agrees(Bool)
    }

    public var pairing: Int64
    public var word: Word

    public init(pairing: Int64, _ word: Word) { (self.pairing, self.word) = (pairing, word) }
}
