// Many handlers of one device under measurement, beside whoever wakes, warns and freezes them.
import BenchmarkProbe
import Glibc
import WakeModel
import WakeSystem

final class Crowd {
    /// All in milliseconds.
    struct Round {
        /// From the device's write to the reading of its event.
        var events: [Double] = []
        /// How late, counted from when each is due.
        var warnings: [Double] = []
        var freezes: [Double] = []
    }

    private let plan: CrowdPlan
    private let subject: Subject
    private let boards: [Board]
    private let groups: HandlerGroups

    private init(_ plan: CrowdPlan, _ subject: Subject, in folder: String, _ groups: HandlerGroups) throws {
        self.plan = plan
        self.subject = subject
        self.groups = groups
        boards = try (0..<plan.handlers).map { try Board(at: BridgeFolder.board($0, in: folder)) }
    }

    /// What the kernel alone costs.
    static func limit(_ plan: CrowdPlan) throws -> Crowd {
        let folder = try MemoryFolder.make()
        let name = "wakebridge-bench-\(getpid())"
        let words = [try Program.own(), "crowd", folder, name] + plan.words
        let subject = try Subject("limit", words, board: BridgeFolder.board(0, in: folder)) {
            Directory.removeTree(folder)
        }
        return try Crowd(plan, subject, in: folder, HandlerGroups(named: name))
    }

    /// The daemon; handlers answer their first event, so that all are there.
    static func bridge(_ plan: CrowdPlan) throws -> Crowd {
        let (budget, warning) = (plan.budget.wholeMilliseconds, plan.warning.wholeMilliseconds)
        let timers = ", budget: \"\(budget)ms\", warn: \"\(warning)ms\", grace: \"0s\""
        let folder = try BridgeFolder(BridgePlan(handlers: plan.handlers, timers: timers, answers: 1))
        let words = [try Program.own(), "bridge", folder.path]
        let subject = try Subject("bridge", words, board: folder.board(0)) { Directory.removeTree(folder.path) }
        return try Crowd(plan, subject, in: folder.path, HandlerGroups(runtimeDirectory: folder.path + "/run"))
    }

    /// After one event all are there, and frozen; after the second they run out of their time.
    func round() throws -> Round {
        defer { subject.end() }
        try subject.stimulate()
        try awaitFirstEvent()
        try groups.await(frozen: plan.handlers)
        // A bridge looks at whom it has frozen, and takes back a freeze that it has not looked at when an event comes.
        RealTime.pass(.milliseconds(300))
        let start = try subject.stimulate()
        let frozen = try freezes(after: start)
        var round = Round()
        for (number, board) in boards.enumerated() {
            guard let warned = board.expiringAt, let woken = board.wokenAt, let at = frozen[number], warned > start
            else { throw Failure("handler \(number) was not woken, not warned or not frozen") }
            let begin = plan.isAtOnce ? start : woken
            round.events.append((Instant(nanoseconds: board.readAt) - start).seconds * 1000)
            round.warnings.append((warned - (begin + (plan.budget - plan.warning))).seconds * 1000)
            round.freezes.append((at - (begin + plan.budget)).seconds * 1000)
        }
        return round
    }

    private func awaitFirstEvent() throws {
        guard RealTime.wait(every: .milliseconds(50), until: { boards.allSatisfy { $0.reads > 0 } }) else {
            throw Failure("not every handler had its event in 30 s")
        }
    }

    /// By the handler's number. They are all awake before one looks.
    private func freezes(after start: Instant) throws -> [Int: Instant] {
        RealTime.reach(start + TimeSpan(nanoseconds: plan.warning.nanoseconds / 2))
        let groups = groups.members
        let files = groups.map { open($0.events, O_RDONLY | O_CLOEXEC) }
        defer { for file in files { close(file) } }
        var stamps = [Int64](repeating: 0, count: files.count)
        let seen = benchmark_watch_freezes(files, Int32(files.count), 5_000, &stamps)
        guard seen == plan.handlers else { throw Failure("\(seen) of \(plan.handlers) handlers were frozen in 5 s") }
        let numbered = zip(groups, stamps).compactMap { group, stamp in
            LimitHandler.number(ofGroup: group.name).map { ($0, Instant(nanoseconds: stamp)) }
        }
        return Dictionary(uniqueKeysWithValues: numbered)
    }
}
