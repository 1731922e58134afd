// An evdev node that stands open: what happened together is one message, and what the kernel dropped is told.
import WakeModel
import WakeSystem

final class InputNode: OpenNode {
    private var node: EvdevNode
    private var batches: EvdevBatches

    init(opening path: String, isExclusive: Bool, at now: Instant) throws(SystemError) {
        node = try EvdevNode(opening: path, isExclusive: isExclusive)
        batches = EvdevBatches(known: try node.state(), at: now)
    }

    var raw: Int32 { node.raw }
    var deadline: Instant? { batches.stateDue }

    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> Bool {
        for _ in 1...DrainLimit.reads {
            switch try node.read() {
            case .content(let events): self.tell(batches.take(events), tell)
            case .wouldBlock: return true
            case .closed: return false
            }
        }
        return true
    }

    /// After a loss: how it stands now, and what leads there.
    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) {
        guard let due = batches.stateDue, due <= now else { return }
        let (batches, loss) = batches.resynchronize(with: try node.state(), at: now)
        if let loss { tell(.loss(from: loss.from, to: loss.to), now) }
        self.tell(batches, tell)
    }

    private func tell(_ batches: [InputBatch], _ tell: (NodeWord, Instant) -> Void) {
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
        switch try node.write(events) {
        // A driver takes them one by one, and never only some.
        case .wrote: return .wrote(bytes.count)
        case .wouldBlock: return .wouldBlock
        case .closed: return .gone
        }
    }
}
