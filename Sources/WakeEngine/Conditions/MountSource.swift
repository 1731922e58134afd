// The conditions `mount:PATH`: something is mounted at the path. The kernel reports each change, and one look serves
// all conditions.
import WakeLoop
import WakeModel
import WakeSystem

final class MountSource {
    private let table: MountTable
    private let together: TimeSpan
    /// Watches on folders do not report what a mount covers or brings.
    private let unlocked: UnlockedSource
    private var watch: Watch?
    private var timer: Timer?
    private var listeners: [String: ConditionWatch] = [:]

    init(on loop: EventLoop, _ places: ConditionPlaces, _ unlocked: UnlockedSource) throws(SystemError) {
        table = try MountTable(places.mounts)
        (together, self.unlocked) = (places.intervals.together, unlocked)
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        watch = try loop.watch(table.raw, for: .priority, cause: .condition, of: self) { $0.lookSoon() }
    }

    /// Cancels the watch before the watched descriptor closes.
    deinit { watch?.cancel() }

    var isNeeded: Bool { !listeners.isEmpty || unlocked.isNeeded }

    func join(_ path: String, _ listener: ConditionWatch) throws(SystemError) {
        let isMounted = try table.mounted(among: [path]).contains(path)
        listeners[path] = listener
        listener.report(isMounted)
    }

    func leave(_ path: String) { listeners[path] = nil }

    /// Looks after a delay, since a user may mount and unmount without a pause.
    private func lookSoon() {
        guard timer?.armedAt == nil else { return }
        timer?.arm(at: SystemClock.monotonic() + together)
    }

    private func look() {
        unlocked.mountsChanged()
        guard !listeners.isEmpty, let mounted = try? table.mounted(among: listeners.keys) else { return }
        for (path, listener) in listeners { listener.report(mounted.contains(path)) }
    }
}
