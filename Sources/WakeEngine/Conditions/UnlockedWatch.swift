// The condition `unlocked:PATH`: those that wait for it can read what is there. Told by the folders on the way to it, and by mounts.
import WakeLoop
import WakeModel
import WakeSystem

/// A key that unlocks files in place (fscrypt) shows in neither, so it looks once a minute as well.
final class UnlockedWatch: ConditionWatch {
    private let path: String
    private let intervals: ConditionPlaces.Intervals
    private let readers: (any PathReaders)?
    private var way: PathWatch
    private let mounts: MountTable
    private var wayWatch: Watch?
    private var mountWatch: Watch?
    private var timer: Timer?

    init(
        on loop: EventLoop, _ path: String, _ places: ConditionPlaces, _ listener: @escaping (Bool) -> Void
    ) throws(SystemError) {
        self.path = path
        intervals = places.intervals
        readers = places.readers
        way = try PathWatch(seesWrites: false)
        mounts = try MountTable(places.mounts)
        super.init(listener)
        try way.renew([path])
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        wayWatch = try loop.watch(way.raw, for: .readable, of: self) { $0.lookSoon() }
        mountWatch = try loop.watch(mounts.raw, for: .priority, of: self) { $0.lookSoon() }
        look()
    }

    /// Before what they watch is closed.
    deinit {
        wayWatch?.cancel()
        mountWatch?.cancel()
    }

    /// Many files may come at once.
    private func lookSoon() {
        wayWatch?.disable()
        timer?.arm(at: SystemClock.monotonic() + intervals.together)
    }

    private func look() {
        // A watch that cannot be renewed leaves the look each minute.
        try? way.renew([path])
        wayWatch?.enable()
        timer?.arm(at: SystemClock.monotonic() + intervals.look)
        let readers = readers?.readers(of: path) ?? []
        report(File.canBeRead(path) && readers.allSatisfy { File.canBeRead(path, by: $0) })
    }
}
