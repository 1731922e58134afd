// One node between the loop and its accessory: read when it is ready, written as there is room, let go when it is gone.
import WakeLoop
import WakeModel
import WakeSystem

final class AccessoryPort {
    enum Event {
        case word(NodeWord, Instant)
        /// The device went; the node is closed.
        case gone
        /// When something is due has changed.
        case deadline
    }

    private struct Pending {
        var bytes: ArraySlice<UInt8>
        var channel: Channel?
        var answer: (NodeFailure?) -> Void
    }

    private var node: (any OpenNode)?
    private var watch: Watch?
    private let tell: (Event) -> Void
    private var pending: [Pending] = []
    private var toldDeadline: Instant?
    /// When it was read last: all that came until then was told.
    private(set) var readAt: Instant
    let remarks: [String]

    /// Written and not yet taken by the device, at most.
    private static let pendingBytes = 64 << 10

    init(
        opening path: String, _ plan: AccessoryPlan, on loop: EventLoop, at now: Instant,
        _ tell: @escaping (Event) -> Void
    ) throws(SystemError) {
        self.tell = tell
        readAt = now
        let node = try Self.open(path, plan, at: now)
        self.node = node
        remarks = node.remarks
        watch = try loop.watch(node.raw, for: .readable) { [unowned self] ready in serve(ready) }
    }

    private static func open(
        _ path: String, _ plan: AccessoryPlan, at now: Instant
    ) throws(SystemError) -> any OpenNode {
        switch plan.node {
        case .serial: try SerialNode(opening: path, plan)
        case .hid: try HidNode(opening: path, at: now)
        case .input: try InputNode(opening: path, isExclusive: plan.sharing == .exclusive, at: now)
        case .none: throw SystemError("open", path, .invalid, advice: "its profile opens no node")
        }
    }

    /// Tells all that came, also of a message that is not whole yet: what is said after the close is heard by nobody.
    func conclude() {
        guard let node else { return }
        _ = try? drain(node)
        node.end(at: SystemClock.monotonic()) { tell(.word($0, $1)) }
    }

    /// Lets the descriptor go, and fails what waits to be written.
    func close() { if let node { finish(node) } }

    private func finish(_ node: any OpenNode) {
        // Before the descriptor is closed, which the last reference to the node does.
        watch?.cancel()
        watch = nil
        self.node = nil
        failPending()
    }

    private func failPending() {
        let failed = pending
        pending = []
        for one in failed { one.answer(.notConnected) }
    }

    // MARK: Reading

    private func serve(_ ready: Readiness) {
        guard let node else { return }
        do throws(SystemError) {
            if ready.contains(.writable) { try flush(node) }
            guard try drain(node) else { return lose(node) }
            tellDeadline()
        } catch {
            Log("accessories").warning("\(error.description); the node is closed and opened anew")
            lose(node)
        }
    }

    private func drain(_ node: any OpenNode) throws(SystemError) -> Bool {
        let now = SystemClock.monotonic()
        defer { readAt = now }
        return try node.drain(at: now) { tell(.word($0, $1)) }
    }

    private func lose(_ node: any OpenNode) {
        guard self.node === node else { return }
        node.end(at: SystemClock.monotonic()) { tell(.word($0, $1)) }
        finish(node)
        tell(.gone)
    }

    // MARK: Time

    var deadline: Instant? { node?.deadline }

    func tick(at now: Instant) {
        guard let node else { return }
        do throws(SystemError) {
            try node.tick(at: now) { tell(.word($0, $1)) }
        } catch {
            Log("accessories").warning("\(error.description); the node is closed and opened anew")
            lose(node)
        }
        toldDeadline = deadline
    }

    private func tellDeadline() {
        guard deadline != toldDeadline else { return }
        toldDeadline = deadline
        tell(.deadline)
    }

    // MARK: Writing

    /// `answer` is called once, when the system has taken all of it, or with why it did not.
    func write(_ bytes: [UInt8], to channel: Channel?, _ answer: @escaping (NodeFailure?) -> Void) {
        guard let node else { return answer(.notConnected) }
        guard pending.reduce(bytes.count, { $0 + $1.bytes.count }) <= Self.pendingBytes else {
            return answer(.refused("it has not taken yet what was written before"))
        }
        pending.append(Pending(bytes: bytes[...], channel: channel, answer: answer))
        do throws(SystemError) {
            try flush(node)
        } catch {
            fail(error.description)
        }
    }

    private func flush(_ node: any OpenNode) throws(SystemError) {
        while let first = pending.first {
            switch try node.write(first.bytes, to: first.channel) {
            case .wrote(let count):
                pending[0].bytes = first.bytes.dropFirst(count)
                if pending[0].bytes.isEmpty { pending.removeFirst().answer(nil) }
            case .wouldBlock: return try watch?.setReadiness([.readable, .writable]) ?? ()
            // Reading finds that out too, and has what it still said.
            case .gone: return failPending()
            case .refused(let why): pending.removeFirst().answer(.refused(why))
            }
        }
        try watch?.setReadiness(.readable)
    }

    private func fail(_ why: String) {
        guard !pending.isEmpty else { return }
        pending.removeFirst().answer(.refused(why))
    }
}

/// Why something was not written.
enum NodeFailure: Error, Hashable, Sendable {
    case notConnected
    case refused(String)
}
