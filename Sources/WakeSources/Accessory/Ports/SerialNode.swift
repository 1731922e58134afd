// An open serial line, with its bytes cut into messages.
import WakeModel
import WakeSystem

/// The source of a serial line's bytes.
protocol ByteLine: AnyObject {
    var raw: Int32 { get }
    /// Deviations from the profile's settings.
    var remarks: [String] { get }
    func read() throws(SystemError) -> NodeReading<[UInt8]>
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult
}

extension SerialHandle: ByteLine {
    var raw: Int32 { port.raw }
    var remarks: [String] { port.deviations.map(\.description) }
    func read() throws(SystemError) -> NodeReading<[UInt8]> { try port.read() }
    func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) -> WriteResult { try port.write(bytes) }
}

extension RfcommChannel: ByteLine {
    var remarks: [String] { [] }
}

final class SerialNode: OpenNode {
    private let line: any ByteLine
    private var framer: Framer

    init(_ line: any ByteLine, _ plan: AccessoryPlan) {
        self.line = line
        framer = Framer(plan.framing, limit: plan.frameLimit, trial: plan.trial)
    }

    var raw: Int32 { line.raw }
    var untoldSince: Instant? { framer.openSince }
    var remarks: [String] { line.remarks }
    var deadline: Instant? { framer.deadline }

    /// All that one drain brings goes to the framer together: without framing that is one message.
    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> NodeDrain {
        var bytes: [UInt8] = []
        var drain = NodeDrain.more
        // This includes bytes that were read before a read that fails.
        defer { frame(bytes, at: now, tell) }
        while drain == .more, bytes.count < DrainLimit.bytes {
            switch try line.read() {
            case .content(let more): bytes += more
            case .wouldBlock: drain = .empty
            case .closed: drain = .gone
            }
        }
        return drain
    }

    private func frame(_ bytes: [UInt8], at now: Instant, _ tell: (NodeWord, Instant) -> Void) {
        guard !bytes.isEmpty else { return }
        let frames = framer.append(bytes[...], at: now, readBy: SystemClock.monotonic())
        for frame in frames { tell(Self.word(frame), now) }
    }

    /// It was silent only where nothing waits to be read now: the bridge may be late itself.
    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) {
        _ = try drain(at: now, tell)
        for frame in framer.tick(at: now) { tell(Self.word(frame), now) }
    }

    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {
        for frame in framer.end() { tell(Self.word(frame), now) }
    }

    private static func word(_ frame: Frame) -> NodeWord {
        switch frame {
        case .message(let bytes): .data(.serial, bytes)
        case .fragment(let bytes, let fault): .spoilt(.fragment(fault.fragment), bytes, why: fault.description)
        }
    }

    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        guard channel == nil || channel == .serial else { return .refused("it has one stream, \"serial\"") }
        return NodeWriting(try line.write(bytes))
    }
}

extension NodeWriting {
    init(_ result: WriteResult) {
        switch result {
        case .wrote(let count): self = .wrote(count)
        case .wouldBlock: self = .wouldBlock
        case .closed: self = .gone
        }
    }
}
