// The conditions `unlocked:PATH`: whether a handler's user can read the path.
import WakeLoop
import WakeModel
import WakeSystem

/// A key that unlocks files in place (fscrypt) changes no folder and no mount, so all paths are also looked at once a
/// minute.
final class UnlockedSource {
    private let looks: PathLooks
    private var listeners: [HandlerID: [String: ConditionWatch]] = [:]

    init(on loop: EventLoop, _ places: ConditionPlaces) {
        let (every, users) = (places.intervals, places.readers)
        looks = PathLooks(
            on: loop, seesWrites: false, users: users,
            PathLooks.Pace(together: every.together, pause: every.pause, again: every.look))
    }

    /// Whether a handler waits for a path.
    var isNeeded: Bool { !listeners.isEmpty }
    /// Whether the kernel watches any path.
    var isOpen: Bool { looks.isOpen }

    /// Reports the path as locked until a look has found otherwise.
    func join(_ path: String, for handler: HandlerID, _ listener: ConditionWatch) throws(SystemError) {
        if !looks.isListened { try looks.listen(of: self) { $0.attend() } }
        let paths = Set((listeners[handler] ?? [:]).keys).union([path])
        try looks.set(paths.sorted(), of: handler)
        listeners[handler, default: [:]][path] = listener
        listener.report(false)
    }

    func leave(_ path: String, for handler: HandlerID) {
        guard listeners[handler]?.removeValue(forKey: path) != nil else { return }
        let left = (listeners[handler] ?? [:]).keys.sorted()
        if left.isEmpty { listeners[handler] = nil }
        // If this fails, the look that comes once a minute still covers the paths.
        try? looks.set(left, of: handler)
    }

    func mountsChanged() { looks.setDue() }

    private func attend() {
        for found in looks.advance() {
            let waiting = listeners[found.handler] ?? [:]
            guard let findings = found.findings else {
                for listener in waiting.values { listener.report(false) }
                continue
            }
            for finding in findings { waiting[finding.path]?.report(finding.isReadable) }
        }
    }
}
