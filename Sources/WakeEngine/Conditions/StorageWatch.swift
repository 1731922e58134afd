// The condition `storage`: the file system of the state directory has room. Nothing reports that, so it is polled.
import WakeLoop
import WakeModel
import WakeSystem

final class StorageWatch: ConditionWatch {
    private let directory: String
    private let interval: TimeSpan
    private var timer: Timer?

    init(on loop: EventLoop, _ places: ConditionPlaces) throws(SystemError) {
        directory = places.stateDirectory
        interval = places.intervals.look
        super.init()
        report(try StorageSpace(of: directory).hasRoom)
        timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        timer?.arm(at: SystemClock.monotonic() + interval)
    }

    private func look() {
        timer?.arm(at: SystemClock.monotonic() + interval)
        if let space = try? StorageSpace(of: directory) { report(space.hasRoom) }
    }
}
