// The warnings about adopted manifests: those of their texts, and what the file system lacks for them. A thread checks
// the latter, for a path may be in a file system that another user makes slow.
import WakeAPI
import WakeControl
import WakeEngine
import WakeLoop
import WakeModel
import WakeSystem

/// Owns the look that is under way, and what the latest one found.
final class ManifestInspection {
    private struct Subject: Sendable {
        var manifest: HandlerManifest
        var account: Account?
    }

    var warnings: [BridgeWarning] { stated + found }
    /// Warnings from the manifests' texts.
    var stated: [BridgeWarning] = []
    /// Programs, scripts, folders and time zones that are not there.
    private var found: [BridgeWarning] = []
    private var logged: Set<BridgeWarning> = []
    private let loop: EventLoop
    private let accounts: AccountBook
    private let stateDirectory: String
    private var look: (job: BackgroundJob<[BridgeWarning]>, watch: Watch)?
    /// The manifests that were given while a look was under way.
    private var next: [HandlerManifest]?
    private var latest: [HandlerManifest] = []
    private var again: Timer?
    /// They fire when the look is done.
    private var waiting: [Timer] = []
    /// The timers that were armed last: a timer that nobody keeps does not fire.
    private var rung: [Timer] = []
    private let log = Log("daemon")

    /// While something is lacking, it is looked for this often.
    private static let pause = TimeSpan.seconds(30)

    init(on loop: EventLoop, accounts: AccountBook, stateDirectory: String) throws(SystemError) {
        (self.loop, self.accounts, self.stateDirectory) = (loop, accounts, stateDirectory)
        again = try loop.timer(on: .monotonic, of: self) { $0.begin($0.latest) }
    }

    /// Before the descriptor that it watches is closed.
    deinit { look?.watch.cancel() }

    /// - Parameter timer: fires when what these manifests lack is known.
    func begin(_ manifests: [HandlerManifest], firing timer: Timer? = nil) {
        if let timer { waiting.append(timer) }
        latest = manifests
        guard look == nil else {
            next = manifests
            return
        }
        let subjects = manifests.map {
            Subject(manifest: $0, account: try? accounts.account(of: $0) ?? accounts.current())
        }
        let state = stateDirectory
        do throws(SystemError) {
            let job = try BackgroundJob { subjects.flatMap { Self.warnings(of: $0, stateDirectory: state) } }
            look = (job, try loop.watch(job.raw, for: .readable, of: self) { $0.finish() })
        } catch {
            log.error("\(error.description); whether programs of manifests are there is looked at later")
            again?.arm(at: SystemClock.monotonic() + Self.pause)
        }
    }

    private static func warnings(of subject: Subject, stateDirectory: String) -> [BridgeWarning] {
        let program = subject.account.flatMap {
            ManifestWarnings.ofProgram(subject.manifest, $0, stateDirectory: stateDirectory)
        }
        return (program.map { [$0] } ?? []) + ManifestWarnings.ofAbsentPlaces(subject.manifest)
    }

    /// Logs each warning when it comes up, and not again while it lasts.
    /// - Parameter forgets: these are all that remain.
    func report(_ warnings: [BridgeWarning], forgets: Bool) {
        for warning in warnings where !logged.contains(warning) { log.warning(warning.sentence) }
        logged = forgets ? Set(warnings) : logged.union(warnings)
    }

    private func finish() {
        guard let done = look, let now = done.job.removeResult() else { return }
        done.watch.cancel()
        look = nil
        if let next {
            self.next = nil
            return begin(next)
        }
        found = now
        report(now, forgets: false)
        if found.isEmpty { again?.disarm() } else { again?.arm(at: SystemClock.monotonic() + Self.pause) }
        for timer in waiting { timer.arm(at: .zero) }
        (rung, waiting) = (waiting, [])
    }
}
