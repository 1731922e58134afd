// What a wake executes, how that grows with devices and handlers, and in which order the release is linked.
import BenchmarkReport
import WakeModel
import WakeSystem

struct PathFigures {
    private static let wakes = 5

    /// Where the functions on the way are listed, for the linker.
    let orderFile: String?

    func measure() throws -> Suite.Findings {
        var order: [String] = []
        let devices = try grow([1, 10, 100, 1_000, 10_000]) {
            BridgePlan(devices: $0)
        } first: { steps, subject in
            order = try FunctionTable(of: subject.pid).names(of: steps.flatMap(\.addresses))
        }
        let handlers = try grow([1, 10, 100, 1_000]) { BridgePlan(devices: $0, handlers: $0) }
        let code: [Figure] = [
            .valued("cache lines of code", .lines, devices[0].steps.map { Double($0.lines) }),
            .valued("pages of code", .pages, devices[0].steps.map { Double($0.pages) }, note: try note(order)),
        ]
        if let orderFile { try write(order, to: orderFile) }
        let section = Section(
            "the way of a wake",
            method: "what the bridge executes from its device's read to the thaw, `run`, one instruction at a time",
            figures(devices, "device") + figures(handlers, "handler") + code)
        return Suite.Findings(sections: [section])
    }

    private typealias Point = (count: Int, steps: [Steps])

    /// `first` may look at the first of them while it is there.
    private func grow(
        _ counts: [Int], _ plan: (Int) -> BridgePlan, first look: ([Steps], Subject) throws -> Void = { _, _ in }
    ) throws -> [Point] {
        try counts.map { count in
            let subject = try Subject.bridge(plan(count), "\(count)")
            defer { subject.end() }
            try subject.warmUp(wakes: max(plan(count).handlers, 50), spacing: .milliseconds(1))
            let steps = try (0..<Self.wakes).map { _ in try subject.step() }
            if count == counts[0] { try look(steps, subject) }
            return (count, steps)
        }
    }

    private func figures(_ points: [Point], _ whose: String) -> [Figure] {
        func spread(upTo count: Int) -> Double {
            let medians = points.filter { $0.count <= count }
                .map { Quantiles($0.steps.map { Double($0.instructions) }).median }
            return Quantiles(medians).most / Quantiles(medians).least
        }
        return points.map { point in
            let name = "\(Numbers.grouped(Int64(point.count))) \(whose)\(point.count == 1 ? "" : "s")"
            return .valued("instructions, \(name)", .instructions, point.steps.map { Double($0.instructions) })
        }
            + GrowthGoal.all.filter { goal in points.contains { $0.count == goal.count } }.map { goal in
                .valued(
                    "\(whose)s, \(goal.name)", .times, [spread(upTo: goal.count)], goal: .atMost(goal.most))
            }
    }

    /// How much of the way the list that the release was linked with still knows.
    private func note(_ order: [String]) throws -> String {
        let listed = Set(try File.text(at: Places.order()).split(separator: "\n").map(String.init))
        return "\(order.count { listed.contains($0) }) of \(order.count) functions stand in Scripts/wake.order"
    }

    private func write(_ order: [String], to file: String) throws {
        let head = """
            # The functions on the way of a wake, in the order of their first instruction; the release is linked so. Made with
            #     make bench ARGS="path --order Scripts/wake.order"
            # Names that are no more are passed over.

            """
        try File.replace(file, with: Array((head + order.joined(separator: "\n") + "\n").utf8), mode: 0o644)
    }
}
