// The reasons in `why` and `status` of a handler: the core's knowledge, and the cause where the daemon can see one.
import WakeControl
import WakeCore
import WakeEngine
import WakeModel
import WakeSystem

struct HandlerReasons {
    let catalog: Catalog
    let turn: Turn
    let executor: ProcessExecutor
    let logBook: HandlerLogBook
    let devices: KnownDevices
    unowned let findings: any ManifestFindings

    func why(_ standing: HandlerStatus) -> String {
        ([standing.why] + causes(of: standing) + refusal(of: standing)).joined(separator: "; ")
    }

    private func causes(of standing: HandlerStatus) -> [String] {
        switch standing.state {
        case .stopped: []
        case .quarantined where standing.lastEnd == .listensAsleep: sockets(of: standing)
        case .held, .quarantined:
            [failedLaunch(of: standing)].compactMap { $0 } + obstacles(to: standing, everyFile: true)
                + [lastError(of: standing)].compactMap { $0 }
        case .launching, .active, .expiring, .suspending, .terminating: bonds(of: standing) + flows(of: standing)
        case .idle: obstacles(to: standing) + bonds(of: standing) + deviceCauses(of: standing)
        case .suspended: sockets(of: standing) + bonds(of: standing) + deviceCauses(of: standing)
        }
    }

    private func sockets(of standing: HandlerStatus) -> [String] {
        let held = executor.heldSockets(of: standing.handler)
        guard !held.isEmpty else { return [] }
        return [standing.state == .quarantined ? "it held \(held.phrase)" : "it holds \(held.phrase) meanwhile"]
    }

    /// Handlers that may be called while they are frozen; not where the manifest allows it.
    var warningsOfSockets: [BridgeWarning] {
        let handlers = catalog.handlers.filter { $0.value.sleepersListen != .allow }.sorted { $0.key < $1.key }
        return handlers.compactMap { id, manifest -> BridgeWarning? in
            let held = executor.heldSockets(of: id)
            guard !held.isEmpty else { return nil }
            return BridgeWarning(
                "handler \"\(manifest.name)\" holds \(held.phrase)", why: held.consequence,
                advice: ReachableSocket.advice)
        }
    }

    private func bonds(of standing: HandlerStatus) -> [String] { [bondClause(of: standing)].compactMap { $0 } }

    // MARK: A flow

    private func flows(of standing: HandlerStatus) -> [String] {
        let names = turn.outlook(of: standing.handler).holdingAwake
        guard !names.isEmpty else { return [] }
        let rules = catalog.handlers[standing.handler]?.agenda.flows ?? []
        let isLimited = rules.contains { names.contains($0.name) && $0.processorShare != nil }
        let unkept = isLimited ? executor.processorLimits.blockingReason : nil
        return names.map { "flow \($0) keeps it awake" } + (unkept.map { ["its cpu limit is not kept: \($0)"] } ?? [])
    }

    // MARK: A program that fails

    private func failedLaunch(of standing: HandlerStatus) -> String? {
        switch standing.lastEnd {
        case .launchFailed(let sentence), .exhausted(let sentence): sentence
        case nil, .exit, .launchTimeout, .overrun, .taskLeak, .flood, .watchdog, .lockHeld, .escaped, .unfreezable,
            .reclaimed, .idle, .stopped, .restarted, .reconfigured, .finished, .killedByOperator, .deadline, .memory,
            .thermal, .stalled, .listensAsleep:
            nil
        }
    }

    /// The obstacle to its start, with the line of its manifest and the remedy.
    /// - Parameter everyFile: also a file that exec names and that may be no script; a program that fails may need it.
    private func obstacles(to standing: HandlerStatus, everyFile: Bool = false) -> [String] {
        guard let manifest = catalog.handlers[standing.handler] else { return [] }
        if let obstacle = findings.obstacle(to: manifest.idOfFile) { return ["\(obstacle.why); \(obstacle.advice)"] }
        guard everyFile, let absent = manifest.programFiles.first(where: { !File.exists($0) }) else { return [] }
        return ["there is no \(absent), which its manifest names in exec"]
    }

    // MARK: A manifest that is refused

    private func refusal(of standing: HandlerStatus) -> [String] {
        guard let id = catalog.handlers[standing.handler]?.idOfFile,
            let warning = findings.refusals.first(where: { $0.handler == id }), let refused = warning.refusal
        else { return [] }
        let faults = (refused.more + 1).counted("fault")
        return ["its changed manifest is refused for \(faults), and \(warning.why); \(warning.advice)"]
    }

    private func lastError(of standing: HandlerStatus) -> String? {
        logBook.lastError(of: standing.handler).map { "it said last: \($0.prefix(Self.longestError))" }
    }

    private static let longestError = 200
}

extension HandlerManifest {
    /// The id of the manifest that was written, also for an instance of it.
    fileprivate var idOfFile: String { instance?.template ?? id }
}
