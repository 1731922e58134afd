// Udev between the loop and its source: what is attached at first, what is announced, and all of it anew where some was lost.
import WakeLoop
import WakeModel
import WakeSystem

public final class UdevFeed {
    public enum Event {
        case record(UdevRecord)
        /// All that is attached.
        case snapshot([UdevRecord])
    }

    private var monitor: UdevMonitor?
    private var lookup: UdevLookup?
    /// When it was last told that messages were lost.
    private var lossToldAt: Instant?
    private var watch: Watch?
    /// While there is no udevd.
    private var arrival: DirectoryWatch?
    private var arrivalWatch: Watch?
    private let loop: EventLoop
    private let tell: (Event) -> Void
    private let log = Log("accessories")

    /// Messages in one go: a storm must not keep all else waiting.
    private static let messagesAtOnce = 256

    public init(on loop: EventLoop, _ tell: @escaping (Event) -> Void) throws(SystemError) {
        self.loop = loop
        self.tell = tell
        let look = { () throws(SystemError) in try Udev.enumerate() }
        lookup = try UdevLookup(on: loop, look) { tell(.snapshot($0)) }
        guard !Udev.isRunning else {
            try begin()
            return
        }
        log.warning(
            "udevd is not running, so no accessory is announced here, as in most containers; run the bridge where udevd is, "
                + "or start systemd-udevd: it is taken up when it is there")
        try awaitUdev()
    }

    /// The monitor first, so that nothing comes between it and what is found.
    private func begin() throws(SystemError) {
        arrivalWatch?.cancel()
        arrivalWatch = nil
        arrival = nil
        let made = try UdevMonitor()
        let raw = made.raw
        monitor = consume made
        watch = try loop.watch(raw, for: .readable) { [unowned self] _ in receive() }
        lookup?.request()
    }

    private func awaitUdev() throws(SystemError) {
        let folder = File.exists("/run/udev") ? "/run/udev" : "/run"
        let made = try DirectoryWatch(folder, seesNew: true)
        let raw = made.raw
        arrivalWatch?.cancel()
        arrival = consume made
        arrivalWatch = try loop.watch(raw, for: .readable) { [unowned self] _ in noteArrival() }
        // It may have come between the last look and this watch.
        if Udev.isRunning { try begin() }
    }

    private func noteArrival() {
        do throws(SystemError) {
            try arrival?.drain()
            if Udev.isRunning {
                log.notice("udevd is there")
                try begin()
            } else {
                try awaitUdev()
            }
        } catch {
            log.error("\(error.description); accessories are not watched until the bridge is started anew")
        }
    }

    private func receive() {
        for _ in 1...Self.messagesAtOnce {
            switch monitor?.receive() {
            case .record(let record): tell(.record(record))
            case .irrelevant: continue
            case .overflow: return recover()
            case .nothing, nil: return
            }
        }
    }

    private func recover() {
        monitor?.discard()
        let now = SystemClock.monotonic()
        if lossToldAt.map({ now - $0 >= .seconds(10) }) ?? true {
            lossToldAt = now
            log.notice("some of udev's messages were lost; what is attached is looked up anew")
        }
        lookup?.request()
    }
}
