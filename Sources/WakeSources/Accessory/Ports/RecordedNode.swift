// Messages of an accessory that was recorded elsewhere, made of its bytes as an open node makes them.
import WakeModel
import WakeSystem

public struct RecordedNode: Sendable {
    private enum Making: Sendable {
        case framed(Framer)
        case typed(TypedLine)
    }

    private var making: Making

    /// Nil if the plan makes a message of bytes that came together.
    public init?(_ plan: AccessoryPlan) {
        switch plan.node {
        case .serial, .rfcomm:
            guard plan.framing != .none else { return nil }
            making = .framed(Framer(plan.framing, limit: plan.frameLimit, trial: plan.trial))
        case .input:
            guard let pause = plan.typingPause else { return nil }
            making = .typed(TypedLine(pause: pause))
        case .hid, .none: return nil
        }
    }

    /// The messages that these bytes, and the silence before them, end. An input device sends one batch of events.
    public mutating func append(_ bytes: [UInt8], at now: Instant) -> [(channel: Channel, bytes: [UInt8])] {
        switch making {
        case .framed(var framer):
            defer { making = .framed(framer) }
            let silent = framer.deadline.map { $0 <= now } ?? false ? framer.tick(at: now) : []
            return (silent + framer.append(bytes[...], at: now, readBy: now)).map(Self.told)
        case .typed(var line):
            defer { making = .typed(line) }
            let batch = InputBatch(events: EvdevBatches.events(of: bytes[...]), time: now)
            return ([line.tick(at: now)].compactMap { $0 } + line.append(batch, readBy: now)).map { (.input, $0.bytes) }
        }
    }

    /// The rest as the recording ends. Silence follows it.
    public mutating func end() -> [(channel: Channel, bytes: [UInt8])] {
        switch making {
        case .framed(var framer):
            defer { making = .framed(framer) }
            return ((framer.deadline.map { framer.tick(at: $0) } ?? []) + framer.end()).map(Self.told)
        case .typed(var line):
            defer { making = .typed(line) }
            return [line.end()].compactMap { $0 }.map { (.input, $0.bytes) }
        }
    }

    private static func told(_ frame: Frame) -> (channel: Channel, bytes: [UInt8]) {
        switch frame {
        case .message(let bytes): (.serial, bytes)
        case .fragment(let bytes, let fault): (.fragment(fault.fragment), bytes)
        }
    }
}
