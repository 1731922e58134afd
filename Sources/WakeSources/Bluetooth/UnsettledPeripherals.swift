// Peripherals whose latest changes from bluetoothd wait to be handled, so that many changes of one cost one look at it.
import WakeLoop
import WakeModel
import WakeSystem

/// A peripheral that changes its name or characteristics without a pause costs at most 50 looks a second. A change
/// after a pause waits until the bus is drained, at most 20 ms. Changes of links and bonds do not wait here.
struct UnsettledPeripherals {
    /// Each later case includes the earlier one.
    enum Change: Int, Hashable {
        case database, identity
    }

    /// By the peripheral's path.
    private var changes: [String: Change] = [:]
    private var isAwaited = false
    private var settledAt: Instant?
    /// The owner settles the changes when either one fires.
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

    /// Removes and returns the change of one peripheral, to be handled at once; nil where it has none.
    mutating func take(_ path: String) -> Change? { changes.isEmpty ? nil : changes.removeValue(forKey: path) }

    /// Removes and returns all changes, sorted by path.
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
