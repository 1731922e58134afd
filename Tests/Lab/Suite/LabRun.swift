// What the lab came to: whether it can be played here, what it plays, and what its guests reported.
import Glibc
import TestBench
import Testing
import WakeSystem

/// A file of Tests/Lab/scenarios; its first line says what it proves.
struct LabScenario: Sendable, CustomTestStringConvertible {
    let name: String
    let proves: String

    var testDescription: String { "\(name): \(proves)" }

    static let all: [LabScenario] = {
        let wanted = environment("LAB_SCENARIOS").map { $0.split(separator: " ").map(String.init) }
        let folder = "\(LabRun.sources)/scenarios"
        let found = names(in: folder).filter { $0.hasSuffix(".py") }.map { file in
            let proves = (lines(of: "\(folder)/\(file)").first ?? "").filter { $0 != "\"" }
            return LabScenario(name: String(file.dropLast(3)), proves: proves)
        }
        return found.filter { wanted?.contains($0.name) ?? true }
    }()
}

enum LabRun {
    /// What one scenario came to.
    struct Outcome: Sendable {
        var claims: [String] = []
        var failures: [String] = []
        /// What the bridge still owes.
        var debts: [String] = []
        /// Why it could not be played here.
        var skips: [String] = []
        var hasEnded = false
        /// How it failed on a machine that stood still itself, and why it was played again.
        var excuses: [String] = []

        mutating func beginAnew(because why: String) {
            self = Outcome(excuses: excuses + ["\(why): \(failures.joined(separator: "; "))"])
        }
    }

    static let sources = "\(packageFolder)/Tests/Lab"
    /// Where the guests' folders are: `report`, `out`, `console`, and a folder for each scenario that failed.
    static let places: [String] = {
        let place = environment("LAB_FOLDER") ?? "\(packageFolder)/.build/lab/run"
        return [place, place + "-beside", place + "-alone"]
    }()

    /// Why there can be no lab on this machine; nil where it can.
    static let hindrance: String? = {
        if let told = lines(of: "\(packageFolder)/.build/lab/reason").first { return told }
        guard Machine.isRoot else { return "only root can run a guest over this machine's own files" }
        guard access("\(packageFolder)/.build/lab/venv/bin/vng", X_OK) == 0 else {
            return "Scripts/prepare-lab.sh was not run"
        }
        guard names(in: "/boot").contains(where: { $0.hasPrefix("vmlinuz-") }) else { return "/boot holds no kernel" }
        let emulators = ["/usr/bin", "/usr/local/bin"].map { "\($0)/qemu-system-x86_64" }
        guard emulators.contains(where: { access($0, X_OK) == 0 }) else { return "there is no qemu-system-x86_64" }
        return nil
    }()

    /// All scenarios are played before the first one's test ends.
    static let outcomes: [String: Outcome] = {
        play()
        return outcomes(in: places.flatMap { lines(of: "\($0)/report") })
    }()

    private static func play() {
        guard let child = try? Child(["\(packageFolder)/Scripts/lab.sh"]) else { return }
        var told = 0
        _ = Patience.wait(.seconds(86_400), every: .seconds(1)) {
            told = tell(child.output, after: told)
            return child.isOver
        }
        _ = tell(child.output, after: told)
    }

    /// Prints what is new, to its last whole line; says how many bytes were printed by now.
    private static func tell(_ output: String, after told: Int) -> Int {
        let news = output.utf8.dropFirst(told)
        guard let end = news.lastIndex(of: UInt8(ascii: "\n")) else { return told }
        print(String(decoding: news[...end], as: UTF8.self), terminator: "")
        fflush(nil)
        return told + news[...end].count
    }

    static func outcomes(in report: [String]) -> [String: Outcome] {
        var outcomes: [String: Outcome] = [:]
        var name = "guest"
        for line in report {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "SCENARIO": name = String(parts[1].prefix { $0 != ":" })
            case "PASS:": outcomes[name, default: Outcome()].claims.append(parts[1])
            case "FAIL:", "LATE:", "LOST:": outcomes[name, default: Outcome()].failures.append(parts[1])
            case "SKIP:": outcomes[name, default: Outcome()].skips.append(parts[1])
            case "NOT-YET:": outcomes[name, default: Outcome()].debts.append(parts[1])
            case "END": outcomes[name, default: Outcome()].hasEnded = true
            case "AGAIN": outcomes[name]?.beginAnew(because: String(parts[1].dropFirst(name.count + 2)))
            default: break
            }
        }
        return outcomes
    }
}
