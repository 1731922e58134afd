// Udev between the loop and its source: the devices attached at first, announcements, and all devices again after a
// loss.
import WakeLoop
import WakeModel
import WakeSystem

public final class UdevFeed {
    public enum Event {
        case record(UdevRecord)
        /// All that is attached; `afterLoss` where some of udev's messages never came.
        case snapshot([UdevRecord], afterLoss: Bool)
    }

    private var monitor: UdevMonitor?
    private var lookup: UdevLookup?
    /// When it last reported lost messages.
    private var lossToldAt: Instant?
    /// They were, since the last look.
    private var hasLost = false
    private var watch: Watch?
    /// While there is no udevd.
    private var arrival: DirectoryWatch?
    private var arrivalWatch: Watch?
    private let loop: EventLoop
    private let subsystems: [String]
    private let tell: (Event) -> Void
    private let log = Log("accessories")

    /// Messages in one go: a storm must not keep all else waiting.
    private static let messagesAtOnce = 256

    /// - Parameter subsystems: of udev; changes in others do not wake the bridge.
    public init(
        on loop: EventLoop, hearing subsystems: [String], _ tell: @escaping (Event) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.subsystems = subsystems
        self.tell = tell
        let look = { () throws(SystemError) in try Udev.enumerate(subsystems: subsystems) }
        lookup = try UdevLookup(on: loop, look) { [unowned self] in handleFound($0) }
        guard !Udev.isRunning else {
            try begin()
            return
        }
        log.warning(
            "udevd is not running, so no accessory is announced here, as in most containers; run the bridge where udevd is, "
                + "or start systemd-udevd: it is taken up when it is there")
        try awaitUdev()
    }

    /// Before what they watch is closed.
    deinit {
        watch?.cancel()
        arrivalWatch?.cancel()
    }

    /// The monitor first, so that no change comes between it and the enumeration.
    private func begin() throws(SystemError) {
        arrivalWatch?.cancel()
        arrivalWatch = nil
        arrival = nil
        let made = try UdevMonitor(subsystems: subsystems)
        let raw = made.raw
        monitor = consume made
        watch = try loop.watch(raw, for: .readable, cause: .accessory) { [unowned self] _ in receive() }
        lookup?.request()
    }

    private func awaitUdev() throws(SystemError) {
        let folder = File.exists("/run/udev") ? "/run/udev" : "/run"
        let made = try DirectoryWatch(folder, seesNew: true)
        let raw = made.raw
        arrivalWatch?.cancel()
        arrival = consume made
        arrivalWatch = try loop.watch(raw, for: .readable, cause: .accessory) { [unowned self] _ in recordArrival() }
        // Either may have come between the last look and this watch.
        if Udev.isRunning { return try begin() }
        if folder == "/run", File.exists("/run/udev") { try awaitUdev() }
    }

    private func recordArrival() {
        do throws(SystemError) {
            try arrival?.drain()
            if Udev.isRunning {
                log.notice("udevd is there")
                try begin()
            } else {
                try awaitUdev()
            }
        } catch {
            log.error("\(error.description); accessories are not watched until the bridge is started again")
        }
    }

    private func handleFound(_ records: [UdevRecord]) {
        defer { hasLost = false }
        tell(.snapshot(records, afterLoss: hasLost))
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
        hasLost = true
        let now = SystemClock.monotonic()
        if lossToldAt.map({ now - $0 >= .seconds(10) }) ?? true {
            lossToldAt = now
            log.notice("some of udev's messages were lost; what is attached is looked up again")
        }
        lookup?.request()
    }
}
