// Looks at paths that others may change: on a thread with the rights of each handler's user, after each change on the
// way.
import WakeLoop
import WakeModel
import WakeSystem

/// The kernel watches all paths through one descriptor. A user's own file system can block that user's thread for ever,
/// but then no other handler waits.
package final class PathLooks {
    package struct Pace {
        /// The delay from a first change to the look at it, so that one look covers changes that come together.
        package var together: TimeSpan
        /// The pause between two looks for one handler; no other handler waits for it.
        package var pause: TimeSpan
        /// The interval of looks at all paths, for changes that nothing reports; nil for none.
        package var again: TimeSpan?

        package init(together: TimeSpan, pause: TimeSpan, again: TimeSpan? = nil) {
            (self.together, self.pause, self.again) = (together, pause, again)
        }
    }

    package struct Found {
        package let handler: HandlerID
        /// A finding for each path; nil where no user is known to look as.
        package let findings: [PathWatch.Finding]?
    }

    private typealias Begun<Answer: Sendable> = (job: BackgroundJob<Answer>, watch: Watch)

    private struct Reader {
        /// Empty once its handler is removed, until its last look has ended.
        var paths: [String]
        /// The kernel's numbers of the watches on the way to the paths.
        var watches: Set<Int32> = []
        /// Whether something may have changed since its look began.
        var isDue = true
        var look: Begun<[PathWatch.Finding]>?
    }

    private let loop: EventLoop
    private let seesWrites: Bool
    private let users: (any PathReaders)?
    private let pace: Pace
    private var timer: Timer?
    /// Nil while nothing is watched.
    private var way: PathWatch?
    private var wayWatch: Watch?
    private var readers: [HandlerID: Reader] = [:]
    /// Watches that no reader needs any more.
    private var stale: Set<Int32> = []
    private var removal: Begun<Void>?
    /// When each handler's last look began. Handlers without paths stay here for a pause, so that ordering and
    /// cancelling makes no more looks.
    private var lookedAt: [HandlerID: Instant] = [:]
    private var dueAt: Instant?
    private var wholeLookAt: Instant?
    private var hasReportedFault = false
    private let log = Log("paths")

    /// - Parameter seesWrites: whether a file that was written counts as changed.
    package init(on loop: EventLoop, seesWrites: Bool, users: (any PathReaders)?, _ pace: Pace) {
        (self.loop, self.seesWrites, self.users, self.pace) = (loop, seesWrites, users, pace)
    }

    /// Cancels the watches before the watched descriptors close.
    deinit {
        wayWatch?.cancel()
        removal?.watch.cancel()
        for reader in readers.values { reader.look?.watch.cancel() }
    }

    /// Calls `body` when ``advance()`` has looks to begin or findings to return.
    package func listen<Owner: AnyObject>(of owner: Owner, _ body: @escaping (Owner) -> Void) throws(SystemError) {
        timer = try loop.timer(on: .monotonic, of: owner, body)
    }

    package var isListened: Bool { timer != nil }
    package var isOpen: Bool { way != nil }

    // MARK: Paths

    /// Looks at exactly these paths of the handler from now on: at once, or a pause after its last look.
    package func set(_ paths: [String], of handler: HandlerID) throws(SystemError) {
        guard !paths.isEmpty else { return remove(handler) }
        if way == nil { try open() }
        readers[handler, default: Reader(paths: paths)].paths = paths
        readers[handler]?.isDue = true
        look(after: .zero)
    }

    package func remove(_ handler: HandlerID) {
        readers[handler]?.paths = []
        dismiss(handler)
    }

    /// Marks a change that no watch reports, for one handler or for all.
    package func setDue(_ handler: HandlerID? = nil) {
        guard way != nil else { return }
        for due in handler.map({ [$0] }) ?? Array(readers.keys) { readers[due]?.isDue = true }
        look(after: pace.together)
    }

    /// Removes a reader without paths once its look has ended, so that each handler has one thread at most.
    private func dismiss(_ handler: HandlerID) {
        guard let reader = readers[handler], reader.paths.isEmpty, reader.look == nil else { return }
        readers[handler] = nil
        retire(reader.watches)
    }

    private func open() throws(SystemError) {
        let made = try PathWatch(seesWrites: seesWrites)
        wayWatch = try loop.watch(made.raw, for: .readable, cause: .condition, of: self) { looks in
            looks.wayWatch?.disable()
            looks.look(after: looks.pace.together)
        }
        wholeLookAt = pace.again.map { SystemClock.monotonic() + $0 }
        way = made
    }

    // MARK: Looking

    private func look(after span: TimeSpan) {
        dueAt = Instant.earlier(dueAt, SystemClock.monotonic() + span)
        rearm()
    }

    private func rearm() {
        guard let next = Instant.earlier(dueAt, wholeLookAt) else { return }
        // A look that has ended arms the timer for at once; keep that.
        if let armed = timer?.armedAt, armed <= next { return }
        timer?.arm(at: next)
    }

    /// Begins the looks that are due, and returns the findings of those that have ended.
    package func advance() -> [Found] {
        var found = readers.keys.sorted().compactMap { finishLook(of: $0) }
        finishRemoval()
        let now = SystemClock.monotonic()
        if let next = Instant.earlier(dueAt, wholeLookAt), next <= now { found += beginLooks(at: now) }
        rearm()
        return found
    }

    private func beginLooks(at now: Instant) -> [Found] {
        guard let way else { return [] }
        dueAt = nil
        lookedAt = lookedAt.filter { readers[$0.key] != nil || $0.value + pace.pause > now }
        heed(try? way.removeReports())
        if let whole = wholeLookAt, whole <= now {
            wholeLookAt = pace.again.map { now + $0 }
            heed(.many)
        }
        wayWatch?.enable()
        let due = readers.filter { $0.value.isDue && $0.value.look == nil && !$0.value.paths.isEmpty }.keys.sorted()
        let unknown = due.filter { hasRested($0, at: now) }.filter { !beginLook(of: $0, on: way, at: now) }
        beginRemoval()
        return unknown.map { Found(handler: $0, findings: nil) }
    }

    private func hasRested(_ handler: HandlerID, at now: Instant) -> Bool {
        guard let rested = lookedAt[handler].map({ $0 + pace.pause }), rested > now else { return true }
        dueAt = Instant.earlier(dueAt, rested)
        return false
    }

    /// Reports of unknown watches may belong to looks that go on, so these readers become due too.
    private func heed(_ reports: PathWatch.Reports?) {
        for (handler, reader) in readers {
            switch reports {
            case .of(let numbers)?:
                guard reader.look != nil && !numbers.isEmpty || !reader.watches.isDisjoint(with: numbers) else {
                    continue
                }
            case .many, nil: break
            }
            readers[handler]?.isDue = true
        }
    }

    /// False where no user is known to look as.
    private func beginLook(of handler: HandlerID, on way: PathWatch, at now: Instant) -> Bool {
        guard let paths = readers[handler]?.paths, let user = users?.reader(of: handler) else { return false }
        do throws(SystemError) {
            let job = try way.beginLook(at: paths, as: user.account)
            let watch = try loop.watch(job.raw, for: .readable, cause: .condition, of: self) {
                $0.timer?.arm(at: .zero)
            }
            readers[handler]?.look = (job, watch)
            readers[handler]?.isDue = false
            lookedAt[handler] = now
        } catch {
            log.warning("\(error.description); the paths of a handler are looked at later")
            look(after: pace.together)
        }
        return true
    }

    private func finishLook(of handler: HandlerID) -> Found? {
        guard let look = readers[handler]?.look, let findings = look.job.removeResult() else { return nil }
        look.watch.cancel()
        let before = readers[handler]?.watches ?? []
        let now = Set(findings.flatMap(\.watches))
        readers[handler]?.look = nil
        readers[handler]?.watches = now
        report(findings.lazy.compactMap(\.fault).first)
        if readers[handler]?.isDue == true { self.look(after: pace.together) }
        retire(before.subtracting(now))
        dismiss(handler)
        return Found(handler: handler, findings: findings)
    }

    private func report(_ fault: SystemError?) {
        guard let fault, !hasReportedFault else { return }
        hasReportedFault = true
        log.warning(fault.description)
    }

    // MARK: Removal of watches

    private func retire(_ watches: Set<Int32>) {
        stale.formUnion(watches)
        beginRemoval()
    }

    private func beginRemoval() {
        guard removal == nil, let way else { return }
        stale.subtract(readers.values.flatMap(\.watches))
        guard !stale.isEmpty else { return closeIfUnused() }
        do throws(SystemError) {
            let job = try way.beginRemoval(of: stale)
            removal = (
                job, try loop.watch(job.raw, for: .readable, cause: .condition, of: self) { $0.timer?.arm(at: .zero) }
            )
            stale = []
        } catch {
            // The next look tries again.
            look(after: pace.together)
        }
    }

    private func finishRemoval() {
        guard let removal, removal.job.removeResult() != nil else { return }
        removal.watch.cancel()
        self.removal = nil
        beginRemoval()
    }

    private func closeIfUnused() {
        guard readers.isEmpty else { return }
        wayWatch?.cancel()
        (wayWatch, way, dueAt, wholeLookAt) = (nil, nil, nil, nil)
        timer?.disarm()
    }
}
