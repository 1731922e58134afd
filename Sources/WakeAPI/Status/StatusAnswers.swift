// Answers the whole state of the bridge: its own, and its handlers, devices and adapters.
import Glibc
import WakeControl
import WakeEngine
import WakeJournal
import WakeLoop
import WakeModel
import WakeSystem

extension Endpoint {
    static let state: [Endpoint] = [
        Endpoint(.get("/v1/status", .read), "bridge, handlers, devices and adapters", .json(.named(.status))) {
            api, _ in api.status.answer()
        }
    ]
}

struct StatusAnswers {
    let facts: RunFacts
    let journal: Journal
    let loop: EventLoop
    let handlers: HandlerReports
    let devices: KnownDevices
    let owner: Owner

    func answer() -> ControlResponse {
        let health = journal.health
        var sentences: [String] = []
        for state in [health.run, health.disk] {
            if case .degraded(let sentence) = state { sentences.append(sentence) }
        }
        var status = BridgeStatus(
            version: facts.version, process: getpid(), journal: journal.id,
            uptime: SystemClock.monotonic() - facts.startedAt,
            suspension: facts.strength == .strong ? .strong : .weak,
            journalHealth: sentences.isEmpty ? "ok" : sentences.joined(separator: "; "),
            residentBytes: MemoryPressure.ownResidentBytes)
        status.host = MachineName.own
        status.configuration = owner.daemon.configurationDirectory
        status.containmentBlockingReason = facts.containment.blockingReason
        status.longestCall = loop.longestCall
        status.longCalls = loop.longCalls
        status.stays = LoopStayReport.all(of: loop).filter { $0.longest > .zero }
        status.warnings = owner.warnings
        let (known, unwatched) = devices.devicesAndMisses()
        status.unwatched = unwatched
        return .json(
            WholeStatus(bridge: status, handlers: handlers.all(), devices: known, adapters: devices.adapters()))
    }
}

extension LoopStayReport {
    static func all(of loop: EventLoop) -> [LoopStayReport] {
        LoopCause.allCases.map { cause in
            let stay = loop.stay(of: cause)
            return LoopStayReport(cause: cause.name, longest: stay.longest, overPatience: stay.overPatience)
        }
    }
}

/// The facts that stay the same for the life of a bridge.
package struct RunFacts {
    package let version: String
    package let startedAt: Instant
    package let strength: SuspensionStrength
    package let containment: Containment

    package init(version: String, startedAt: Instant, _ strength: SuspensionStrength, _ containment: Containment) {
        (self.version, self.startedAt) = (version, startedAt)
        (self.strength, self.containment) = (strength, containment)
    }
}
