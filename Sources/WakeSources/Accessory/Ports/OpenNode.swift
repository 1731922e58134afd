// A node that stands open: what comes by it in words that handlers understand, and what is written to it.
import WakeModel
import WakeSystem

/// What came by a node.
enum NodeWord: Hashable, Sendable {
    case data(Channel, [UInt8])
    /// Data that is no message of its framing, and why.
    case spoilt(Channel, [UInt8], why: String)
    /// Events that nobody can count were lost between the two instants.
    case loss(from: Instant, to: Instant)
}

/// How a node took what was written to it.
enum NodeWriting: Hashable, Sendable {
    case wrote(Int)
    /// Wait until it is writable.
    case wouldBlock
    case gone
    case refused(String)
}

protocol OpenNode: AnyObject {
    var raw: Int32 { get }
    /// What is otherwise than its profile asks, for the log.
    var remarks: [String] { get }
    /// Reads until nothing is left, or so much came that others must have their turn; false once the device is gone.
    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> Bool
    /// When ``tick(at:_:)`` is due.
    var deadline: Instant? { get }
    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError)
    /// What is left of a message when the node is closed.
    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void)
    /// Takes the front of `bytes`, as much as there is room for.
    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting
}

extension OpenNode {
    var remarks: [String] { [] }
    var deadline: Instant? { nil }
    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {}
    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {}
}

/// At most so much in one go: a device that never pauses must not keep all others waiting.
enum DrainLimit {
    static let bytes = 64 << 10
    static let reads = 256
}
