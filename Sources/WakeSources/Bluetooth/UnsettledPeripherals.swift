// Peripherals of which bluetoothd has told something new that was not acted on yet: many changes of one are one look at it.
import WakeLoop
import WakeModel
import WakeSystem

/// Whoever changes its name or its characteristics without a pause costs a look each fiftieth of a second. What comes after a
/// pause waits until the bus is drained, and no longer than that. Links and bonds do not wait here.
struct UnsettledPeripherals {
    /// The later includes the earlier.
    enum Change: Int, Hashable {
        case database, identity
    }

    /// By path.
    private var changes: [String: Change] = [:]
    private var isAwaited = false
    private var settledAt: Instant?
    /// The owner settles them by either.
    private let whenDrained: Deferred
    private let atLatest: Timer
    private static let pause = TimeSpan.milliseconds(20)

    init<Owner: AnyObject>(
        of owner: Owner, on loop: EventLoop, settle: @escaping (Owner) -> Void
    ) throws(SystemError) {
        whenDrained = try loop.deferred(of: owner, settle)
        atLatest = try loop.timer(on: .monotonic, of: owner, settle)
    }

    mutating func mark(_ path: String, _ change: Change, at now: Instant) {
        if let known = changes[path], known.rawValue >= change.rawValue { return }
        changes[path] = change
        guard !isAwaited else { return }
        isAwaited = true
        let next = settledAt.map { $0 + Self.pause } ?? now
        if next <= now { whenDrained.schedule() }
        atLatest.arm(at: next > now ? next : now + Self.pause)
    }

    /// What is to be acted on at once, of this one; nil where nothing is.
    mutating func take(_ path: String) -> Change? { changes.isEmpty ? nil : changes.removeValue(forKey: path) }

    /// All of them, by path.
    mutating func takeAll(at now: Instant) -> [(path: String, change: Change)] {
        defer { forget() }
        settledAt = now
        return changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    mutating func forget() {
        changes = [:]
        isAwaited = false
        whenDrained.unschedule()
        atLatest.disarm()
    }
}
