// What a handler in trouble runs: when that program changes on disk, the handler need not wait for an operator.
import WakeCore
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Watches the programs of handlers that are held or in quarantine, and only until they run again. Their users may own them and the
/// links that lead to them, so they are looked at with those users' rights.
final class ProgramWatch: DecisionListener {
    private struct Program {
        /// Its files as they were when its handler failed; nil until they were looked at.
        var before: [PathWatch.Version?]?
        /// As they were at the last look, and since when they have been others than before.
        var latest: (files: [PathWatch.Version?], since: Instant)?
    }

    private let catalog: Catalog
    private let looks: PathLooks
    private var watched: [HandlerID: Program] = [:]
    private let log = Log("handler")

    /// An editor, or a copy over a slow line, writes in several steps.
    private static let settleTime = TimeSpan.milliseconds(200)
    /// A program that is written again and again never comes to rest.
    private static let longestSettleTime = TimeSpan.seconds(2)

    init(catalog: Catalog, loop: EventLoop, users: any PathReaders) {
        self.catalog = catalog
        // The look at a failed program comes at once: it must not find the program that has been fixed meanwhile.
        looks = PathLooks(
            on: loop, seesWrites: true, users: users, PathLooks.Pace(together: Self.settleTime, pause: .zero))
    }

    /// Calls `body` when something may have changed and come to rest: ``removeChanged()`` then says what.
    func listen<Owner: AnyObject>(of owner: Owner, _ body: @escaping (Owner) -> Void) throws(SystemError) {
        try looks.listen(of: owner, body)
    }

    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        switch decision {
        case .held, .moved(_, to: .quarantined, _): watch(handler)
        case .moved(_, to: .launching, _), .moved(_, to: .active, _), .moved(_, to: .stopped, _): forget(handler)
        case .moved, .delivered, .acknowledged, .refused, .handedBack, .withdrawn, .recalled, .released, .advanced,
            .charged,
            .deadLettered, .lost, .struck, .began, .ended, .faulted, .throttled, .notWoken:
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

    /// Whether its files have become others since its handler failed, and stay as they are now.
    private func hasChanged(_ found: PathLooks.Found) -> Bool {
        guard var program = watched[found.handler], let findings = found.findings else { return false }
        defer { watched[found.handler] = program }
        let (now, files) = (SystemClock.monotonic(), findings.map(\.version))
        guard let before = program.before else {
            program.before = files
            return false
        }
        // A file that is only gone would not help the handler.
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
