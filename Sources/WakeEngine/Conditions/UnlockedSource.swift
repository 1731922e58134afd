// The conditions `unlocked:PATH`: whether a handler's user can read what is there. All paths share one watch of the kernel's.
import WakeLoop
import WakeModel
import WakeSystem

/// A thread of each handler's looks with the rights of its user, at most once a second. A file system of that user's own may keep
/// the thread waiting for ever, and then no other handler. A key that unlocks files in place (fscrypt) shows in no folder and no
/// mount, so all paths are looked at once a minute as well.
final class UnlockedSource {
    private typealias Begun<Answer: Sendable> = (job: BackgroundJob<Answer>, watch: Watch)

    private struct Reader {
        var listeners: [String: ConditionWatch] = [:]
        /// The kernel's numbers of what is watched on the way to its paths.
        var watches: Set<Int32> = []
        /// Something may have changed since its look began.
        var isDue = true
        var look: Begun<[PathWatch.Finding]>?
    }

    /// What is open while something is watched.
    private final class Opened {
        let way: PathWatch
        let mounts: MountTable
        var watches: [Watch] = []
        var timer: Timer?

        init(_ places: ConditionPlaces) throws(SystemError) {
            way = try PathWatch(seesWrites: false)
            mounts = try MountTable(places.mounts)
        }

        /// Before what they watch is closed.
        deinit { for watch in watches { watch.cancel() } }
    }

    private let loop: EventLoop
    private let places: ConditionPlaces
    private var opened: Opened?
    private var readers: [HandlerID: Reader] = [:]
    /// What is watched for nobody any more.
    private var stale: Set<Int32> = []
    private var removal: Begun<Void>?
    /// Also of paths that nobody waits for any more: to order and to cancel makes no more looks.
    private var lookedAt = Instant.zero
    private var nextWholeLook = Instant.zero
    private var hasReportedFault = false
    private let log = Log("conditions")

    init(on loop: EventLoop, _ places: ConditionPlaces) { (self.loop, self.places) = (loop, places) }

    /// Before what they watch is closed.
    deinit {
        removal?.watch.cancel()
        for reader in readers.values { reader.look?.watch.cancel() }
    }

    var isOpen: Bool { opened != nil }

    // MARK: Who waits

    /// Reports that it is locked, until a look has found otherwise.
    func join(_ path: String, for handler: HandlerID, _ listener: ConditionWatch) throws(SystemError) {
        if opened == nil { try open() }
        readers[handler, default: Reader()].listeners[path] = listener
        readers[handler]?.isDue = true
        listener.report(false)
        look(after: .zero)
    }

    func leave(_ path: String, for handler: HandlerID) {
        guard readers[handler]?.listeners.removeValue(forKey: path) != nil else { return }
        readers[handler]?.isDue = true
        look(after: places.intervals.together)
        dismiss(handler)
    }

    /// A reader without paths goes, but not before its look has ended: so each has one thread at most.
    private func dismiss(_ handler: HandlerID) {
        guard let reader = readers[handler], reader.listeners.isEmpty, reader.look == nil else { return }
        readers[handler] = nil
        retire(reader.watches)
    }

    private func open() throws(SystemError) {
        let made = try Opened(places)
        made.timer = try loop.timer(on: .monotonic, of: self) { $0.look() }
        let way = try loop.watch(made.way.raw, for: .readable, of: self) { source in
            source.opened?.watches.first?.disable()
            source.look(after: source.places.intervals.together)
        }
        let mounts = try loop.watch(made.mounts.raw, for: .priority, of: self) { source in
            source.setDue()
            source.look(after: source.places.intervals.together)
        }
        made.watches = [way, mounts]
        nextWholeLook = SystemClock.monotonic() + places.intervals.look
        opened = made
    }

    // MARK: Looking

    private func setDue() { for handler in readers.keys { readers[handler]?.isDue = true } }

    private func look(after span: TimeSpan) {
        let instant = max(SystemClock.monotonic() + span, lookedAt + places.intervals.pause)
        if let armed = opened?.timer?.armedAt, armed <= instant { return }
        opened?.timer?.arm(at: instant)
    }

    private func look() {
        guard let opened else { return }
        lookedAt = SystemClock.monotonic()
        heed(reports: try? opened.way.removeReports())
        if lookedAt >= nextWholeLook {
            nextWholeLook = lookedAt + places.intervals.look
            setDue()
        }
        opened.watches.first?.enable()
        opened.timer?.arm(at: nextWholeLook)
        for (handler, reader) in readers where reader.isDue && reader.look == nil { beginLook(of: handler, reader) }
        beginRemoval()
    }

    /// What was reported of a watch that is not known yet may be of a look that has not ended.
    private func heed(reports: PathWatch.Reports?) {
        guard case .of(let numbers)? = reports else { return setDue() }
        for (handler, reader) in readers {
            let isMeant = reader.look != nil && !numbers.isEmpty || !reader.watches.isDisjoint(with: numbers)
            if isMeant { readers[handler]?.isDue = true }
        }
    }

    private func beginLook(of handler: HandlerID, _ reader: Reader) {
        guard let opened, let identity = places.readers?.reader(of: handler) else {
            for listener in reader.listeners.values { listener.report(false) }
            return
        }
        do throws(SystemError) {
            let job = try opened.way.beginLook(at: reader.listeners.keys.sorted(), as: identity.account)
            let watch = try loop.watch(job.raw, for: .readable, of: self) { $0.finishLook(of: handler) }
            readers[handler]?.look = (job, watch)
            readers[handler]?.isDue = false
        } catch {
            log.warning("\(error.description); paths that handlers wait for are looked at later")
        }
    }

    private func finishLook(of handler: HandlerID) {
        guard var reader = readers[handler], let findings = reader.look?.job.removeResult() else { return }
        reader.look?.watch.cancel()
        let before = reader.watches
        (reader.look, reader.watches) = (nil, Set(findings.flatMap(\.watches)))
        readers[handler] = reader
        for finding in findings { reader.listeners[finding.path]?.report(finding.isReadable) }
        reportFault(findings.lazy.compactMap(\.fault).first)
        if reader.isDue { look(after: places.intervals.together) }
        retire(before.subtracting(reader.watches))
        dismiss(handler)
    }

    private func reportFault(_ fault: SystemError?) {
        guard let fault, !hasReportedFault else { return }
        hasReportedFault = true
        log.warning("\(fault.description); such paths are looked at once a minute")
    }

    // MARK: Letting go

    private func retire(_ watches: Set<Int32>) {
        stale.formUnion(watches)
        beginRemoval()
    }

    private func beginRemoval() {
        guard removal == nil, let opened else { return }
        stale.subtract(readers.values.flatMap(\.watches))
        guard !stale.isEmpty else {
            if readers.isEmpty { self.opened = nil }
            return
        }
        do throws(SystemError) {
            let job = try opened.way.beginRemoval(of: stale)
            removal = (job, try loop.watch(job.raw, for: .readable, of: self) { $0.finishRemoval() })
            stale = []
        } catch {
            // The next look tries again.
            look(after: places.intervals.look)
        }
    }

    private func finishRemoval() {
        guard let removal, removal.job.removeResult() != nil else { return }
        removal.watch.cancel()
        self.removal = nil
        beginRemoval()
    }
}
