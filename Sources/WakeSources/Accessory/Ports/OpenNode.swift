// An open node: its input as words that handlers understand, and writes to it.
import WakeModel
import WakeSystem

/// Input of a node.
enum NodeWord: Hashable, Sendable {
    case data(Channel, [UInt8])
    /// Data that is no message of its framing, and why.
    case spoilt(Channel, [UInt8], why: String)
    /// An unknown number of events was lost between the two instants.
    case loss(from: Instant, to: Instant)
}

/// The result of a write to a node.
enum NodeWriting: Sendable {
    case wrote(Int)
    /// A thread waits for the device to take it; nothing else is written until it has answered.
    case underWay(BackgroundJob<Result<WriteResult, SystemError>>)
    /// Wait until it is writable.
    case wouldBlock
    case gone
    case refused(String)
}

/// How far a node was read.
enum NodeDrain: Hashable, Sendable {
    /// Until nothing was left.
    case empty
    /// Stopped at the limit: others must have their turn.
    case more
    /// Until its device was gone.
    case gone
}

protocol OpenNode: AnyObject {
    var raw: Int32 { get }
    /// Deviations from the profile's settings, for the log.
    var remarks: [String] { get }
    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> NodeDrain
    /// Since when half a message or a loss is not reported yet.
    var untoldSince: Instant? { get }
    /// When ``tick(at:_:)`` is due.
    var deadline: Instant? { get }
    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError)
    /// Reports the rest of a message when the node is closed.
    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void)
    /// Takes the front of `bytes`, as much as there is room for.
    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting
}

extension OpenNode {
    var remarks: [String] { [] }
    var untoldSince: Instant? { nil }
    var deadline: Instant? { nil }
    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {}
    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {}
}

/// The most that one drain reads: a device that never pauses must not keep all others waiting.
enum DrainLimit {
    static let bytes = 64 << 10
    static let reads = 256
}
