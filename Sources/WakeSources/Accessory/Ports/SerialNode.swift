// A serial line that stands open, with its bytes cut into messages.
import WakeModel
import WakeSystem

final class SerialNode: OpenNode {
    private let port: SerialPort
    private var framer: Framer

    init(opening path: String, _ plan: AccessoryPlan) throws(SystemError) {
        port = try SerialPort(opening: path, plan.line, isExclusive: plan.sharing == .exclusive)
        framer = Framer(plan.framing, limit: plan.frameLimit)
    }

    var raw: Int32 { port.raw }
    var remarks: [String] { port.deviations.map(\.description) }
    var deadline: Instant? { framer.deadline }

    /// All that one drain brings goes to the framer together: without framing that is one message.
    func drain(at now: Instant, _ tell: (NodeWord, Instant) -> Void) throws(SystemError) -> Bool {
        var bytes: [UInt8] = []
        // Also what was read before a read that fails.
        defer { take(bytes, at: now, tell) }
        while bytes.count < DrainLimit.bytes {
            switch try port.read() {
            case .content(let more): bytes += more
            case .wouldBlock: return true
            case .closed: return false
            }
        }
        return true
    }

    private func take(_ bytes: [UInt8], at now: Instant, _ tell: (NodeWord, Instant) -> Void) {
        guard !bytes.isEmpty else { return }
        for frame in framer.take(bytes[...], at: now) { tell(Self.word(frame), now) }
    }

    func tick(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {
        for frame in framer.tick(at: now) { tell(Self.word(frame), now) }
    }

    func end(at now: Instant, _ tell: (NodeWord, Instant) -> Void) {
        for frame in framer.end() { tell(Self.word(frame), now) }
    }

    private static func word(_ frame: Frame) -> NodeWord {
        switch frame {
        case .message(let bytes): .data(.serial, bytes)
        case .fragment(let bytes, let fault): .spoilt(.serial, bytes, why: fault.description)
        }
    }

    func write(_ bytes: ArraySlice<UInt8>, to channel: Channel?) throws(SystemError) -> NodeWriting {
        guard channel == nil || channel == .serial else { return .refused("it has one stream, \"serial\"") }
        return NodeWriting(try port.write(bytes))
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
