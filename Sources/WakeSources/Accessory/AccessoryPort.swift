// Owns one node between the loop and its accessory. The opener opens it; the port reads when it is ready, writes when
// there is room, and closes it when it is gone.
import WakeLoop
import WakeModel
import WakeSystem

final class AccessoryPort {
    enum Event {
        case opened
        /// The open failed; the port is of no further use.
        case refused(PortRefusal)
        case word(NodeWord, Instant)
        /// The outcome of the write of a question.
        case asked(Int, TalkFailure?)
        /// The device went; the node is closed.
        case gone
        /// When something is due has changed.
        case deadline
    }

    private struct Pending {
        var bytes: ArraySlice<UInt8>
        var channel: Channel?
        var answer: (TalkFailure?) -> Void
    }

    private typealias Writing = BackgroundJob<Result<WriteResult, SystemError>>

    private let plan: AccessoryPlan
    private let loop: EventLoop
    private let tell: (Event) -> Void
    private var opening: NodeOpening?
    private var node: (any OpenNode)?
    private var watch: Watch?
    private var writing: Writing?
    private var writingWatch: Watch?
    private var pending: [Pending] = []
    private var toldDeadline: Instant?
    /// When nothing was left to be read the last time.
    private var emptyAt: Instant

    /// Written and not yet taken by the device, at most.
    private static let pendingBytes = 64 << 10

    /// Begins to open the node. Closed before it is open, it is closed as soon as it is.
    init(
        opening place: String, _ plan: AccessoryPlan, by opener: any NodeOpener, on loop: EventLoop, at now: Instant,
        _ tell: @escaping (Event) -> Void
    ) throws(PortRefusal) {
        self.plan = plan
        self.loop = loop
        self.tell = tell
        emptyAt = now
        opening = try opener.open(place, plan) { [unowned self] in begin($0) }
    }

    private func begin(_ opened: Result<any NodeHandle, PortRefusal>) {
        opening = nil
        switch opened {
        case .failure(let refusal): return tell(.refused(refusal))
        case .success(let handle):
            do throws(SystemError) { try begin(handle) } catch { return tell(.refused(PortRefusal(error))) }
        }
        tell(.opened)
    }

    private func begin(_ handle: any NodeHandle) throws(SystemError) {
        emptyAt = SystemClock.monotonic()
        let node = try handle.begin(plan, at: emptyAt)
        watch = try loop.watch(node.raw, for: .readable, cause: .accessory) { [unowned self] ready in serve(ready) }
        self.node = node
    }

    /// Deviations from the profile's settings.
    var remarks: [String] { node?.remarks ?? [] }

    /// All that came until then was raised.
    var raisedUntil: Instant { min(node?.untoldSince ?? emptyAt, emptyAt) }

    /// Reports all whole messages that came.
    func readOut() { if let node { _ = try? drain(node) } }

    /// Raises all that came, even part of a message: bytes after the close are not received.
    func conclude() {
        guard let node else { return }
        readOut()
        node.end(at: SystemClock.monotonic()) { tell(.word($0, $1)) }
    }

    /// Drops the descriptor, and fails pending writes.
    func close() {
        opening = nil
        if let node { finish(node) }
    }

    private func finish(_ node: any OpenNode) {
        // Before the descriptor is closed, which the last reference to the node does.
        watch?.cancel()
        watch = nil
        self.node = nil
        // A write under way keeps the node open until the device has answered, or has gone.
        writingWatch?.cancel()
        writingWatch = nil
        writing = nil
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
            if ready.contains(.writable) { tryFlush(node) }
            guard try drain(node) != .gone else { return lose(node) }
            reportDeadline()
        } catch {
            Log("accessories").warning("\(error.description); the node is closed and opened again")
            lose(node)
        }
    }

    private func drain(_ node: any OpenNode) throws(SystemError) -> NodeDrain {
        let now = SystemClock.monotonic()
        let drain = try node.drain(at: now) { tell(.word($0, $1)) }
        if drain == .empty { emptyAt = now }
        return drain
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
            Log("accessories").warning("\(error.description); the node is closed and opened again")
            lose(node)
        }
        toldDeadline = deadline
    }

    private func reportDeadline() {
        guard deadline != toldDeadline else { return }
        toldDeadline = deadline
        tell(.deadline)
    }

    // MARK: Writing

    func ask(_ asked: AskedQuestion) {
        write(asked.question.bytes, to: asked.question.to) { [tell] in tell(.asked(asked.number, $0)) }
    }

    /// `answer` is called once, when the system has taken all of it, or with why it did not.
    func write(_ bytes: [UInt8], to channel: Channel?, _ answer: @escaping (TalkFailure?) -> Void) {
        guard let node else { return answer(.notConnected) }
        guard pending.reduce(bytes.count, { $0 + $1.bytes.count }) <= Self.pendingBytes else {
            return answer(.refused("it has not taken yet what was written before"))
        }
        pending.append(Pending(bytes: bytes[...], channel: channel, answer: answer))
        tryFlush(node)
    }

    /// Answers the failed write with its error, and continues with the next one.
    private func tryFlush(_ node: any OpenNode) {
        do throws(SystemError) {
            try flush(node)
        } catch {
            guard !pending.isEmpty else { return }
            pending.removeFirst().answer(.refused(error.description))
            tryFlush(node)
        }
    }

    private func flush(_ node: any OpenNode) throws(SystemError) {
        while writing == nil, let first = pending.first {
            switch try node.write(first.bytes, to: first.channel) {
            case .wrote(let count): removeWritten(count)
            case .underWay(let job): return try follow(job)
            case .wouldBlock: return try watch?.setReadiness([.readable, .writable]) ?? ()
            // Reading finds that out too, and receives the last bytes.
            case .gone: return failPending()
            case .refused(let why): pending.removeFirst().answer(.refused(why))
            }
        }
        try watch?.setReadiness(.readable)
    }

    private func removeWritten(_ count: Int) {
        pending[0].bytes = pending[0].bytes.dropFirst(count)
        if pending[0].bytes.isEmpty { pending.removeFirst().answer(nil) }
    }

    private func follow(_ job: Writing) throws(SystemError) {
        writingWatch = try loop.watch(job.raw, for: .readable, cause: .accessory) { [unowned self] _ in finishWriting()
        }
        writing = job
    }

    private func finishWriting() {
        guard let node, let answer = writing?.removeResult() else { return }
        writingWatch?.cancel()
        writingWatch = nil
        writing = nil
        switch answer {
        case .success(.wrote(let count)): removeWritten(count)
        case .success(.wouldBlock): break
        case .success(.closed): return failPending()
        case .failure(let error): pending.removeFirst().answer(.refused(error.description))
        }
        tryFlush(node)
    }
}
