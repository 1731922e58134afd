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

    func why(_ standing: HandlerStatus) -> String { ([standing.why] + causes(of: standing)).joined(separator: "; ") }

    private func causes(of standing: HandlerStatus) -> [String] {
        switch standing.state {
        case .stopped: []
        case .quarantined where standing.lastEnd == .listensAsleep: sockets(of: standing)
        case .held, .quarantined:
            [failedLaunch(of: standing), missingProgram(of: standing), lastError(of: standing)].compactMap { $0 }
        case .launching, .active, .expiring, .suspending, .terminating: bonds(of: standing) + flows(of: standing)
        case .idle: bonds(of: standing) + deviceCauses(of: standing)
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

    private func missingProgram(of standing: HandlerStatus) -> String? {
        let files = catalog.handlers[standing.handler]?.programFiles ?? []
        return files.first { !File.exists($0) }.map { "there is no \($0), which its manifest names in exec" }
    }

    private func lastError(of standing: HandlerStatus) -> String? {
        logBook.lastError(of: standing.handler).map { "it said last: \($0.prefix(Self.longestError))" }
    }

    private static let longestError = 200
}
