// The limit of a crowd: as many handlers as a bridge has, in cgroups of their own, and a process that only wakes, warns and
// freezes them.
import BenchmarkProbe
import Glibc
import WakeModel
import WakeSystem

/// What a crowd is given: how many handlers, and when their time runs out.
struct CrowdPlan {
    let handlers: Int
    let budget: TimeSpan
    /// How long before the end they are warned.
    let warning: TimeSpan
    /// Whether the time of all begins at one instant, instead of each one's with the writing of its event.
    let isAtOnce: Bool

    init(handlers: Int, budget: TimeSpan, warning: TimeSpan, isAtOnce: Bool = false) {
        (self.handlers, self.budget, self.warning, self.isAtOnce) = (handlers, budget, warning, isAtOnce)
    }

    init(_ words: [String]) throws {
        let numbers = words.compactMap { Int64($0) }
        guard numbers.count == 4 else {
            throw Failure("a crowd takes handlers, budget, warning, and 1 where it is at once")
        }
        self.init(
            handlers: Int(numbers[0]), budget: TimeSpan(nanoseconds: numbers[1]),
            warning: TimeSpan(nanoseconds: numbers[2]), isAtOnce: numbers[3] == 1)
    }

    var words: [String] {
        ["\(handlers)", "\(budget.nanoseconds)", "\(warning.nanoseconds)", isAtOnce ? "1" : "0"]
    }
}

/// The part of the process that leads them, from a device on descriptor 0.
final class CrowdLimit {
    private let plan: CrowdPlan
    private let tree: CgroupTree
    /// Silent from the start.
    private let handlers: [LimitHandler]

    /// The folder of the boards, the cgroup's name, the plan.
    init(_ words: [String]) throws {
        let (folder, name, plan) = (words[0], words[1], try CrowdPlan(Array(words[2...])))
        self.plan = plan
        tree = try CgroupTree.open(named: name)
        let tree = tree
        handlers = try (0..<plan.handlers).map {
            try LimitHandler($0, in: tree, [BridgeFolder.board($0, in: folder), "0"])
        }
    }

    func run() throws {
        let (inputs, freezers) = (handlers.map(\.input), handlers.map(\.freeze))
        let code = inputs.withUnsafeBufferPointer { inputs in
            freezers.withUnsafeBufferPointer { freezers in
                var crowd = benchmark_crowd(
                    source: 0, count: Int32(handlers.count), inputs: inputs.baseAddress,
                    freezers: freezers.baseAddress, warn_after: (plan.budget - plan.warning).nanoseconds,
                    freeze_after: plan.budget.nanoseconds, at_once: plan.isAtOnce ? 1 : 0)
                return benchmark_lead(&crowd)
            }
        }
        for handler in handlers { try handler.end() }
        tree.remove()
        if code < 0 { throw SystemError("lead", "a crowd of handlers", Errno(code: -code)) }
    }
}
