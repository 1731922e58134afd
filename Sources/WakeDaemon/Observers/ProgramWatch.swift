// Watches the programs of handlers in trouble: when such a program changes on disk, its handler need not wait for an
// operator.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Watches a program only while its handler is held or in quarantine. The handler's user may own the program and the
/// links that lead to it, so it is looked at with that user's rights.
final class ProgramWatch: DecisionListener {
    private struct Program {
        /// The files' versions when the handler failed; nil until they were looked at.
        var before: [PathWatch.Version?]?
        /// The files' versions at the last look, and since when they have differed from `before`.
        var latest: (files: [PathWatch.Version?], since: Instant)?
    }

    private let catalog: Catalog
    private let looks: PathLooks
    private var watched: [HandlerID: Program] = [:]
    private let log = Log("handler")

    /// An editor, or a copy over a slow line, writes in several steps.
    private static let settleTime = TimeSpan.milliseconds(200)
    /// A program that is written without a pause counts as changed after so long.
    private static let longestSettleTime = TimeSpan.seconds(2)

    init(catalog: Catalog, loop: EventLoop, users: any PathReaders) {
        self.catalog = catalog
        // The first look comes at once: a later one could find a program that is fixed already.
        looks = PathLooks(
            on: loop, seesWrites: true, users: users, PathLooks.Pace(together: Self.settleTime, pause: .zero))
    }

    /// Calls `body` when something may have changed and settled; ``removeChanged()`` then returns the handlers.
    func listen<Owner: AnyObject>(of owner: Owner, _ body: @escaping (Owner) -> Void) throws(SystemError) {
        try looks.listen(of: owner, body)
    }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        switch decision {
        case .held, .moved(_, to: .quarantined, _): watch(handler)
        case .moved(_, to: .launching, _), .moved(_, to: .active, _), .moved(_, to: .stopped, _): forget(handler)
        case .moved, .delivered, .acknowledged, .refused, .handedBack, .withdrawn, .recalled, .released, .advanced,
            .charged,
            .deadLettered, .lost, .struck, .began, .ended, .faulted, .throttled, .misdirected, .notWoken:
            break
        }
    }

    private func watch(_ handler: HandlerID) {
        guard watched[handler] == nil, let manifest = catalog.handlers[handler] else { return }
        watched[handler] = Program()
        do throws(SystemError) { try looks.set(manifest.programFiles, of: handler) } catch {
            let name = manifest.name
            log.warning("\(name): \(error.description); once you have fixed its program, run: wakebridge start \(name)")
        }
    }

    private func forget(_ handler: HandlerID) {
        if watched.removeValue(forKey: handler) != nil { looks.remove(handler) }
    }

    /// The handlers whose programs have changed; they are not watched any more.
    func removeChanged() -> [HandlerID] {
        let changed = looks.advance().filter { hasChanged($0) }.map(\.handler)
        for handler in changed { forget(handler) }
        return changed
    }

    /// Whether its files have changed since its handler failed, and have settled.
    private func hasChanged(_ found: PathLooks.Found) -> Bool {
        guard var program = watched[found.handler], let findings = found.findings else { return false }
        defer { watched[found.handler] = program }
        let (now, files) = (SystemClock.monotonic(), findings.map(\.version))
        guard let before = program.before else {
            program.before = files
            return false
        }
        // A file that has only disappeared does not help the handler.
        let changed = zip(findings, before).first { $0.version != nil && $0.version != $1 }?.0
        guard let changed else {
            program.latest = nil
            return false
        }
        let since = program.latest?.since ?? now
        guard program.latest?.files == files || now - since >= Self.longestSettleTime else {
            program.latest = (files, since)
            looks.setDue(found.handler)
            return false
        }
        log.notice("\(catalog.name(of: found.handler)): \(changed.path) has changed, so it may start again")
        return true
    }
}
