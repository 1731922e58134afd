// The warnings about adopted manifests: those of their texts, and what the file system lacks for them. A thread checks
// the latter, for a path may be in a file system that another user makes slow.
import WakeAPI
import WakeControl
import WakeCore
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

    private struct Found: Sendable {
        /// Programs, scripts and folders that keep a handler from its start, by manifest.
        var obstacles: [String: BridgeWarning] = [:]
        /// Paths and time zones that are not there.
        var absences: [BridgeWarning] = []

        var all: [BridgeWarning] { obstacles.sorted { $0.key < $1.key }.map(\.value) + absences }
    }

    var warnings: [BridgeWarning] { stated + found.all }
    /// Warnings from the manifests' texts.
    var stated: [BridgeWarning] = []
    private var found = Found()
    private var logged: Set<BridgeWarning> = []
    private let loop: EventLoop
    private let accounts: AccountBook
    private let stateDirectory: String
    private var look: (job: BackgroundJob<Found>, watch: Watch)?
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

    init(on loop: EventLoop, of turn: Turn, accounts: AccountBook, stateDirectory: String) throws(SystemError) {
        (self.loop, self.accounts, self.stateDirectory) = (loop, accounts, stateDirectory)
        turn.listeners.add(self)
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
            let job = try BackgroundJob { Self.look(at: subjects, stateDirectory: state) }
            look = (job, try loop.watch(job.raw, for: .readable, of: self) { $0.finish() })
        } catch {
            log.error("\(error.description); whether programs of manifests are there is looked at later")
            again?.arm(at: SystemClock.monotonic() + Self.pause)
        }
    }

    private static func look(at subjects: [Subject], stateDirectory: String) -> Found {
        var found = Found()
        for subject in subjects {
            found.obstacles[subject.manifest.id] = subject.account.flatMap {
                ManifestWarnings.ofProgram(subject.manifest, $0, stateDirectory: stateDirectory)
            }
            found.absences += ManifestWarnings.ofAbsentPlaces(subject.manifest)
        }
        return found
    }

    /// Why handlers of the manifest cannot start; nil where nothing was found to be in the way.
    func obstacle(to manifest: String) -> BridgeWarning? { found.obstacles[manifest] }

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
        report(now.all, forgets: false)
        if now.all.isEmpty { again?.disarm() } else { again?.arm(at: SystemClock.monotonic() + Self.pause) }
        for timer in waiting { timer.arm(at: .zero) }
        (rung, waiting) = (waiting, [])
    }
}

extension ManifestInspection: DecisionListener {
    /// A program may be removed after its manifest was read. Nobody watches its path, so a failed start asks for a look.
    func hear(_ decision: Decision, of handler: HandlerID, at stamp: Stamp) {
        if case .moved(_, .held, _) = decision { begin(latest) }
        if case .moved(_, .quarantined, _) = decision { begin(latest) }
    }
}
