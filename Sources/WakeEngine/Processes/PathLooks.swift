// Looks at paths that others may change: for each handler on a thread with its user's rights, after each change on the way.
import WakeLoop
import WakeModel
import WakeSystem

/// The kernel watches all paths through one descriptor. A file system of a user's own may keep that user's thread waiting for ever,
/// and then no other handler.
package final class PathLooks {
    package struct Pace {
        /// What changes together is looked at together, this long after the first change.
        package var together: TimeSpan
        /// Between two looks of one handler, which no other handler waits for.
        package var pause: TimeSpan
        /// All paths are looked at again after so long, though nothing tells of a change; nil for never.
        package var again: TimeSpan?

        package init(together: TimeSpan, pause: TimeSpan, again: TimeSpan? = nil) {
            (self.together, self.pause, self.again) = (together, pause, again)
        }
    }

    package struct Found {
        package let handler: HandlerID
        /// Of each of its paths; nil where no user is known who could look.
        package let findings: [PathWatch.Finding]?
    }

    private typealias Begun<Answer: Sendable> = (job: BackgroundJob<Answer>, watch: Watch)

    private struct Reader {
        /// Empty while its last look goes on.
        var paths: [String]
        /// The kernel's numbers of what is watched on the way to them.
        var watches: Set<Int32> = []
        /// Something may have changed since its look began.
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
    /// What is watched for nobody any more.
    private var stale: Set<Int32> = []
    private var removal: Begun<Void>?
    /// When each handler looked last; also of those that just had no path any more, so that to order and to cancel makes no more looks.
    private var lookedAt: [HandlerID: Instant] = [:]
    private var dueAt: Instant?
    private var wholeLookAt: Instant?
    private var hasReportedFault = false
    private let log = Log("paths")

    /// - Parameter seesWrites: whether a file that was written counts as changed.
    package init(on loop: EventLoop, seesWrites: Bool, users: (any PathReaders)?, _ pace: Pace) {
        (self.loop, self.seesWrites, self.users, self.pace) = (loop, seesWrites, users, pace)
    }

    /// Before what they watch is closed.
    deinit {
        wayWatch?.cancel()
        removal?.watch.cancel()
        for reader in readers.values { reader.look?.watch.cancel() }
    }

    /// Calls `body` when ``advance()`` has something to do or to tell.
    package func listen<Owner: AnyObject>(of owner: Owner, _ body: @escaping (Owner) -> Void) throws(SystemError) {
        timer = try loop.timer(on: .monotonic, of: owner, body)
    }

    package var isListened: Bool { timer != nil }
    package var isOpen: Bool { way != nil }

    // MARK: What is looked at

    /// Looks at these paths of the handler from now on, and at no others; at once, unless it looked less than a pause ago.
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

    /// Something has changed that no watch tells of: for one handler, or for all.
    package func setDue(_ handler: HandlerID? = nil) {
        guard way != nil else { return }
        for due in handler.map({ [$0] }) ?? Array(readers.keys) { readers[due]?.isDue = true }
        look(after: pace.together)
    }

    /// A reader without paths goes, but not before its look has ended: so each has one thread at most.
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
        // A look that has ended is heard of at once.
        if let armed = timer?.armedAt, armed <= next { return }
        timer?.arm(at: next)
    }

    /// Begins the looks that are due. Returns what those have found that have ended.
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

    /// What was reported of a watch that is not known yet may be of a look that has not ended.
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

    /// False where no user is known who could look.
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

    // MARK: Letting go

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
