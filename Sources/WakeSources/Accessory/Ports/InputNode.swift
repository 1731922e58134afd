// An evdev node that stands open: what happened together is one message, and what the kernel dropped is told.
import WakeModel
import WakeSystem

final class InputNode: OpenNode {
    private let handle: InputHandle
    private var rest: [UInt8] = []
    private var batches: EvdevBatches

    init(_ handle: InputHandle, at now: Instant) throws(SystemError) {
        self.handle = handle
        batches = EvdevBatches(known: try handle.node.state(), at: now)
    }

    var raw: Int32 { handle.node.raw }
    var untoldSince: Instant? { batches.untoldSince }
    var deadline: Instant? { batches.stateDue }

    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> NodeDrain {
        for _ in 1...DrainLimit.reads {
            switch try handle.node.read(after: &rest) {
            case .content(let events): raise(batches.apply(events), tell)
            case .wouldBlock: return .empty
            case .closed: return .gone
            }
        }
        return .more
    }

    /// After a loss: how it stands now, and what leads there.
    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) {
        guard let due = batches.stateDue, due <= now else { return }
        let (batches, loss) = batches.resynchronize(with: try handle.node.state(), at: now)
        if let loss { tell(.loss(from: loss.from, to: loss.to), now) }
        raise(batches, tell)
    }

    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {
        if let loss = batches.giveUp(at: now) { tell(.loss(from: loss.from, to: loss.to), now) }
    }

    private func raise(_ batches: [InputBatch], _ tell: (NodeWord, Instant) -> Void) {
        for batch in batches { tell(.data(.input, EvdevBatches.bytes(of: batch.events)), batch.time) }
    }

    /// Whole events of 8 bytes, as they are told; the report's end is added.
    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        guard channel == nil || channel == .input else { return .refused("it has one stream, \"input\"") }
        guard bytes.count % 8 == 0, !bytes.isEmpty else {
            return .refused("events have 8 bytes each: type, code and value, the lowest byte of each first")
        }
        var events = EvdevBatches.events(of: bytes)
        if events.last?.isReport != true {
            events.append(InputEvent(type: InputType.synchronization, code: 0, value: 0, time: .zero))
        }
        switch try handle.node.write(events) {
        // A driver takes them one by one, and never only some.
        case .wrote: return .wrote(bytes.count)
        case .wouldBlock: return .wouldBlock
        case .closed: return .gone
        }
    }
}
