// One run of the lab's guest: whether it can be had here, what it was told to play, and what it reported.
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
            let first = lines(of: "\(folder)/\(file)").first ?? ""
            return LabScenario(name: String(file.dropLast(3)), proves: String(first.filter { $0 != "\"" }))
        }
        return found.filter { wanted?.contains($0.name) ?? true }
    }()
}

/// The guest is started once, at the first scenario that asks.
struct LabRun: Sendable {
    struct Outcome: Sendable {
        var claims: [String] = []
        var failures: [String] = []
        var figures: [String] = []
        /// What the bridge still owes.
        var debts: [String] = []
        var hasEnded = false
    }

    let status: Int32
    let outcomes: [String: Outcome]

    static let sources = "\(packageFolder)/Tests/Lab"
    /// What remains of it: `report`, `out`, `console`, and a folder for each scenario that failed.
    static let folder = environment("LAB_FOLDER") ?? "\(packageFolder)/.build/lab/run"
    private static let venv = "\(packageFolder)/.build/lab/venv"

    /// Why there can be no lab on this machine; nil where it can.
    static let hindrance: String? = {
        if let told = lines(of: "\(packageFolder)/.build/lab/reason").first { return told }
        guard Machine.isRoot else { return "only root can run a guest over this machine's own files" }
        guard access("\(venv)/bin/vng", X_OK) == 0 else { return "Scripts/prepare-lab.sh was not run" }
        guard names(in: "/boot").contains(where: { $0.hasPrefix("vmlinuz-") }) else { return "/boot holds no kernel" }
        let emulators = ["/usr/bin", "/usr/local/bin"].map { "\($0)/qemu-system-x86_64" }
        guard emulators.contains(where: { access($0, X_OK) == 0 }) else { return "there is no qemu-system-x86_64" }
        return nil
    }()

    /// Blocks until the guest has ended: whoever asks has nothing to do before.
    static let only: LabRun = {
        Directory.removeTree(folder)
        let programs = Built.daemon.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let words = [venv + "/bin/python", sources + "/guest.py", folder, programs.joined(separator: "/")]
        let settings = ["LAB_SOAK", "LAB_SEED", "LAB_KEEP"].compactMap { name in
            environment(name).map { "\(name)='\($0)'" }
        }
        let command = (["env"] + settings + words + LabScenario.all.map(\.name)).joined(separator: " ")
        let limit = environment("LAB_LIMIT") ?? "1500"
        let status = (try? Child([sources + "/machine.sh", "-t", limit, folder, command]).finish().exit) ?? -1
        return LabRun(status: status, outcomes: outcomes(in: lines(of: "\(folder)/report")))
    }()

    private static func outcomes(in report: [String]) -> [String: Outcome] {
        var outcomes: [String: Outcome] = [:]
        var name = "guest"
        for line in report {
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "SCENARIO": name = String(parts[1].prefix { $0 != ":" })
            case "PASS:": outcomes[name, default: Outcome()].claims.append(parts[1])
            case "FAIL:": outcomes[name, default: Outcome()].failures.append(parts[1])
            case "FIGURE:": outcomes[name, default: Outcome()].figures.append(parts[1])
            case "NOT-YET:": outcomes[name, default: Outcome()].debts.append(parts[1])
            case "END": outcomes[name, default: Outcome()].hasEnded = true
            default: break
            }
        }
        return outcomes
    }
}
