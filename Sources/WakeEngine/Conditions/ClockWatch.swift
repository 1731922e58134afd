// The wall clock and the time zones: that the clock was set, that a zone's rules changed, and what those are.
import WakeLoop
import WakeModel
import WakeSystem

package final class ClockWatch {
    package enum Change: Hashable, Sendable {
        /// How far, forward being positive.
        case set(by: TimeSpan)
        /// The zone of a name that was asked for has other rules now; nil where it is gone.
        case zone(String, [UInt8]?)
    }

    private let loop: EventLoop
    private let files: ZoneFiles
    private var clock: WallClockWatch
    private var clockWatch: Watch?
    /// Nil until a zone is asked for.
    private var way: PathWatch?
    /// The kernel's numbers of the watches on the way to the zones.
    private var watched: Set<Int32> = []
    private var wayWatch: Watch?
    private var settle: Timer?
    private var zones: [String: [UInt8]?] = [:]
    private let log = Log("clock")

    /// A new version of all zones is copied file by file.
    private static let settleTime = TimeSpan.milliseconds(500)

    /// Counts changes from now on, and reports them once there is a listener.
    package init(on loop: EventLoop, zones files: ZoneFiles = ZoneFiles()) throws(SystemError) {
        self.loop = loop
        self.files = files
        clock = try WallClockWatch()
    }

    /// Before what they watch is closed.
    deinit {
        clockWatch?.cancel()
        wayWatch?.cancel()
    }

    /// Reports each change to the owner of this watch, from now on.
    package func listen<Owner: AnyObject>(
        of owner: Owner, _ report: @escaping (Owner, Change) -> Void
    ) throws(SystemError) {
        let reportToOwner: (Change) -> Void = { [unowned owner] in report(owner, $0) }
        clockWatch = try loop.watch(clock.raw, for: .readable, cause: .condition, of: self) {
            $0.hearClock(reportToOwner)
        }
        settle = try loop.timer(on: .monotonic, of: self) { $0.compare(reportToOwner) }
    }

    /// The bytes of the zone's TZif file, `localtime` being the system's own; nil where there is none. Its changes are
    /// reported from now on.
    package func zone(_ name: String) -> [UInt8]? {
        zones[name] = .some(nil)
        follow()
        let bytes = files.bytes(of: name)
        zones[name] = .some(bytes)
        return bytes
    }

    /// Ends the reports of its changes.
    package func leaveZone(_ name: String) {
        guard zones.removeValue(forKey: name) != nil else { return }
        follow()
    }

    private func hearClock(_ report: (Change) -> Void) {
        if let step = try? clock.readStep() { report(.set(by: step)) }
    }

    /// Before the zones are read: what comes in between is reported.
    private func follow() {
        do throws(SystemError) {
            if wayWatch == nil { try openWay() }
            try renewWay()
        } catch {
            log.warning("\(error.description); changes of time zones count from the next start on")
        }
    }

    private func openWay() throws(SystemError) {
        let made = try PathWatch(seesWrites: true)
        way = made
        wayWatch = try loop.watch(made.raw, for: .readable, cause: .condition, of: self) { $0.lookSoon() }
    }

    /// Watches the paths of all zones anew, and drops earlier reports. These folders are root's, so this takes no time.
    private func renewWay() throws(SystemError) {
        guard let way else { return }
        _ = try way.removeReports()
        let findings = zones.keys.compactMap { files.path(of: $0) }.map { way.look(at: $0) }
        let found = Set(findings.flatMap(\.watches))
        way.remove(watched.subtracting(found))
        watched = found
        if let fault = findings.lazy.compactMap(\.fault).first { throw fault }
    }

    private func lookSoon() {
        wayWatch?.disable()
        settle?.arm(at: SystemClock.monotonic() + Self.settleTime)
    }

    private func compare(_ report: (Change) -> Void) {
        follow()
        wayWatch?.enable()
        for (name, before) in zones {
            let bytes = files.bytes(of: name)
            guard bytes != before else { continue }
            zones[name] = .some(bytes)
            report(.zone(name, bytes))
        }
    }
}
