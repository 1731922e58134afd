// What `why` and `status` say of a handler: what the core knows, and behind it the cause, where the daemon can see one.
import WakeCore
import WakeEngine
import WakeModel
import WakeSystem

extension ControlAnswers {
    func why(_ standing: HandlerStatus) -> String { ([standing.why] + causes(of: standing)).joined(separator: "; ") }

    private func causes(of standing: HandlerStatus) -> [String] {
        switch standing.state {
        case .stopped: []
        case .held, .quarantined:
            [failedLaunch(of: standing), missingProgram(of: standing), lastError(of: standing)].compactMap { $0 }
        case .launching, .active, .expiring, .suspending, .terminating: bonds(of: standing)
        case .idle, .suspended: bonds(of: standing) + absentDevices(of: standing)
        }
    }

    private func bonds(of standing: HandlerStatus) -> [String] { [bondClause(of: standing)].compactMap { $0 } }

    // MARK: A program that fails

    private func failedLaunch(of standing: HandlerStatus) -> String? {
        switch standing.lastEnd {
        case .launchFailed(let sentence), .exhausted(let sentence): sentence
        case nil, .exit, .launchTimeout, .overrun, .taskLeak, .flood, .watchdog, .lockHeld, .escaped, .unfreezable,
            .reclaimed, .idle, .stopped, .restarted, .reconfigured, .finished, .killedByOperator, .deadline, .memory,
            .thermal, .stalled:
            nil
        }
    }

    private func missingProgram(of standing: HandlerStatus) -> String? {
        let files = bridge.catalog.handlers[standing.handler]?.programFiles ?? []
        return files.first { !File.exists($0) }.map { "there is no \($0), which its manifest names in exec" }
    }

    private func lastError(of standing: HandlerStatus) -> String? {
        logBook.lastError(of: standing.handler).map { "it said last: \($0.prefix(Self.longestError))" }
    }

    private static let longestError = 200

    // MARK: A device that is not there

    /// A handler that has nothing to do may have been told of no device at all.
    private func absentDevices(of standing: HandlerStatus) -> [String] {
        guard standing.queuedCount == 0, let settings = bridge.catalog.handlers[standing.handler]?.settings else {
            return []
        }
        let known = bridge.catalog.devices.compactMap { $0?.device }.filter { !isForgotten($0) }
        return settings.subscriptions.filter { subscription in !known.contains(where: subscription.matches) }
            .map { absence(of: $0, among: known) }
    }

    private func absence(of subscription: Subscription, among known: [Device]) -> String {
        let fitting = known.filter { Subscription(profile: subscription.profile, device: nil).matches($0) }
        guard let name = subscription.device else {
            return "no device with the profile \(subscription.profile) is known; 'wakebridge setup' looks for one"
        }
        if let other = known.first(where: { $0.alias == name || $0.uri == name }) {
            return
                "\(name) has \(other.profile.map { "the profile \($0)" } ?? "no profile"), and its manifest watches \(subscription.profile)"
        }
        let aliases = fitting.map(\.alias).sorted().joined(separator: ", ")
        return "no device is called \(name)" + (aliases.isEmpty ? "" : "; known: \(aliases)")
    }
}
