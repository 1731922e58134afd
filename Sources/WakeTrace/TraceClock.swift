// The time of a trace: the clocks that its operations' offsets determine.
import WakeModel

/// Follows the operations in their order.
public struct TraceClock: Hashable, Sendable {
    /// The wall clock at offset zero, by its present setting.
    private var wallAtStart: WallTime
    private var rested = TimeSpan.zero

    public init(start: WallTime) { wallAtStart = start }

    /// Since the trace's start, with the time that the machine slept or was off.
    public func elapsed(at offset: TimeSpan) -> TimeSpan { offset + rested }
    public func wall(at offset: TimeSpan) -> WallTime { wallAtStart + elapsed(at: offset) }

    public mutating func follow(_ operation: TraceOperation) {
        guard case .machine(let change) = operation.subject else { return }
        switch change {
        case .clock(let step): wallAtStart = wallAtStart + step
        case .sleep(let span), .reboot(let span): rested = rested + span
        case .condition, .synchronized, .zone, .restart: break
        }
    }
}
