// An open evdev node: simultaneous events are one message, and events that the kernel dropped are reported as a loss.
import WakeModel
import WakeSystem

/// The source of input events.
protocol InputFeed: AnyObject {
    var raw: Int32 { get }
    func read(after rest: inout [UInt8]) throws(SystemError) -> NodeReading<[InputEvent]>
    func state() throws(SystemError) -> InputState
    func write(_ events: [InputEvent]) throws(SystemError) -> WriteResult
}

extension InputHandle: InputFeed {
    var raw: Int32 { node.raw }
    func read(after rest: inout [UInt8]) throws(SystemError) -> NodeReading<[InputEvent]> {
        try node.read(after: &rest)
    }
    func state() throws(SystemError) -> InputState { try node.state() }
    func write(_ events: [InputEvent]) throws(SystemError) -> WriteResult { try node.write(events) }
}

final class InputNode: OpenNode {
    private let feed: any InputFeed
    private var rest: [UInt8] = []
    private var batches: EvdevBatches
    /// Nil unless the device types.
    private var typed: TypedLine?

    init(_ feed: any InputFeed, typingPause: TimeSpan?, at now: Instant) throws(SystemError) {
        self.feed = feed
        typed = typingPause.map { TypedLine(pause: $0) }
        batches = EvdevBatches(known: try feed.state(), at: now)
    }

    var raw: Int32 { feed.raw }
    var untoldSince: Instant? { [batches.untoldSince, typed?.untoldSince].compactMap { $0 }.min() }
    var deadline: Instant? { [batches.stateDue, typed?.deadline].compactMap { $0 }.min() }

    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> NodeDrain {
        for _ in 1...DrainLimit.reads {
            switch try feed.read(after: &rest) {
            case .content(let events): raise(batches.apply(events), tell)
            case .wouldBlock: return .empty
            case .closed: return .gone
            }
        }
        return .more
    }

    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) {
        if let due = typed?.deadline, due <= now {
            _ = try drain(at: now, tell)
            raise(typed?.tick(at: now), tell)
        }
        try resynchronize(at: now, tell)
    }

    /// After a loss: reads its present state, and raises the events that lead there.
    private func resynchronize(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) {
        guard let due = batches.stateDue, due <= now else { return }
        let (batches, loss) = batches.resynchronize(with: try feed.state(), at: now)
        if let loss {
            raise(typed?.end(), tell)
            tell(.loss(from: loss.from, to: loss.to), now)
        }
        raise(batches, tell)
    }

    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {
        raise(typed?.end(), tell)
        if let loss = batches.giveUp(at: now) { tell(.loss(from: loss.from, to: loss.to), now) }
    }

    private func raise(_ batches: [InputBatch], _ tell: (NodeWord, Instant) -> Void) {
        for batch in batches {
            guard typed != nil else {
                tell(.data(.input, EvdevBatches.bytes(of: batch.events)), batch.time)
                continue
            }
            for line in typed?.append(batch, readBy: SystemClock.monotonic()) ?? [] { raise(line, tell) }
        }
    }

    private func raise(_ line: TypedLine.Line?, _ tell: (NodeWord, Instant) -> Void) {
        if let line { tell(.data(.input, line.bytes), line.at) }
    }

    /// Whole events of 8 bytes, as they are raised; the report's end is added.
    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        guard channel == nil || channel == .input else { return .refused("it has one stream, \"input\"") }
        guard bytes.count % 8 == 0, !bytes.isEmpty else {
            return .refused("events have 8 bytes each: type, code and value, the lowest byte of each first")
        }
        var events = EvdevBatches.events(of: bytes)
        if events.last?.isReport != true {
            events.append(InputEvent(type: InputType.synchronization, code: 0, value: 0, time: .zero))
        }
        switch try feed.write(events) {
        // A driver takes them one by one, and never only some.
        case .wrote: return .wrote(bytes.count)
        case .wouldBlock: return .wouldBlock
        case .closed: return .gone
        }
    }
}
