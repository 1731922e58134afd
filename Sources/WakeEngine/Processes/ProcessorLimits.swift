// How much of a processor each handler may use while the agenda limits it, and why that cannot be kept where it cannot.
import WakeModel
import WakeSystem

package final class ProcessorLimits {
    private enum Support {
        /// Not tried yet.
        case untried
        case works
        case fails(String)
    }

    private let suspension: Suspension
    private var support = Support.untried
    private var limits: [HandlerID: Int] = [:]

    init(_ suspension: Suspension) { self.suspension = suspension }

    /// Why no limit is kept here, as a clause; nil where all are, or none was asked for.
    package var blockingReason: String? { if case .fails(let reason) = support { reason } else { nil } }

    func limit(of handler: HandlerID) -> Int? { limits[handler] }
    func set(_ percent: Int?, for handler: HandlerID) { limits[handler] = percent }

    /// Tries it once: what has no need of it leaves the kernel's shares as they are.
    package func canLimit() -> Bool {
        if case .untried = support { support = attempt() }
        if case .works = support { return true }
        return false
    }

    private func attempt() -> Support {
        guard case .cgroup(let tree) = suspension else {
            return .fails("handlers are suspended by stop signals, without a cgroup that could have a limit")
        }
        do throws(SystemError) {
            try tree.passProcessor()
            return .works
        } catch {
            return .fails(error.description)
        }
    }
}
