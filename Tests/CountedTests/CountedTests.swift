// An event may not cost more than it did: counted on the build that the tests run, for the toolchain that the baseline names.
import TestBench
import Testing

@Suite(
    "Instructions and allocations an event",
    .enabled(unless: EventCount.hindrance))
struct CountedTests {
    /// `WAKEBRIDGE_COUNTS=renew Scripts/test.py --filter CountedTests` writes it again.
    private static let baseline = "\(packageFolder)/Tests/CountedTests/baseline.txt"

    @Test("an event of a virtual replay costs neither instructions nor allocations beyond a tenth more than it did")
    func costsNoMore() throws {
        let now = try EventCount.measure()
        let toolchain = try Self.toolchain()
        print(
            "an event costs \(now.instructions) instructions and \(now.allocations) allocations (\(toolchain))")
        if environment("WAKEBRIDGE_COUNTS") == "renew" { return Self.write(now, toolchain) }
        guard let before = Self.known(toolchain) else {
            return print("not compared: \(Self.baseline) names another toolchain")
        }
        #expect(now.instructions * 10 <= before.instructions * 11, "before: \(before)")
        #expect(now.allocations * 10 <= before.allocations * 11, "before: \(before)")
    }

    /// Version and architecture, as the baseline writes them.
    private static func toolchain() throws -> String {
        let words = try Child(["swift", "--version"]).finish().output.split { " \n".contains($0) }
        let version = words.firstIndex(of: "version").map { String(words[$0 + 1]) } ?? "unknown"
        let machine = words.last { $0.contains("-linux") }?.split(separator: "-").first.map(String.init) ?? "unknown"
        return "\(version) \(machine)"
    }

    private static func known(_ toolchain: String) -> EventCount? {
        guard let line = lines(of: baseline).first(where: { $0.hasPrefix(toolchain + " ") }) else { return nil }
        let numbers = line.split(separator: " ").suffix(2).compactMap { Int($0) }
        return numbers.count == 2 ? EventCount(instructions: numbers[0], allocations: numbers[1]) : nil
    }

    private static func write(_ count: EventCount, _ toolchain: String) {
        let title = "# toolchain, architecture, instructions and allocations an event; see CountedTests.swift"
        let others = lines(of: baseline).filter { !$0.hasPrefix("#") && !$0.hasPrefix(toolchain + " ") }
        let line = "\(toolchain) \(count.instructions) \(count.allocations)"
        put(([title] + others + [line]).joined(separator: "\n") + "\n", at: baseline)
    }
}
