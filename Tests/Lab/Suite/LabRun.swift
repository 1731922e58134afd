// One run of the lab's guests: whether they can be had here, what they were told to play, and what they reported.
import Glibc
import TestBench
import Testing
import WakeSystem

/// A file of Tests/Lab/scenarios; its first line says what it proves.
struct LabScenario: Sendable, CustomTestStringConvertible {
    let name: String
    let proves: String
    /// It says `WAITS = True`: it needs time more than a processor, so a guest of its own plays it beside the others.
    let waits: Bool

    var testDescription: String { "\(name): \(proves)" }

    static let all: [LabScenario] = {
        let wanted = environment("LAB_SCENARIOS").map { $0.split(separator: " ").map(String.init) }
        let folder = "\(LabRun.sources)/scenarios"
        let found = names(in: folder).filter { $0.hasSuffix(".py") }.map { file in
            let text = lines(of: "\(folder)/\(file)")
            let proves = (text.first ?? "").filter { $0 != "\"" }
            return LabScenario(name: String(file.dropLast(3)), proves: proves, waits: text.contains("WAITS = True"))
        }
        return found.filter { wanted?.contains($0.name) ?? true }
    }()
}

/// What one guest came to.
struct LabRun: Sendable {
    struct Outcome: Sendable {
        var claims: [String] = []
        var failures: [String] = []
        var figures: [String] = []
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

    /// What remains of it: `report`, `out`, `console`, and a folder for each scenario that failed.
    let folder: String
    let status: Int32
    let outcomes: [String: Outcome]

    static let sources = "\(packageFolder)/Tests/Lab"
    static let place = environment("LAB_FOLDER") ?? "\(packageFolder)/.build/lab/run"
    /// Settings of the scenarios.
    private static let handedOn = [
        "LAB_SOAK", "LAB_SEED", "LAB_KEEP", "LAB_RECORDING", "LAB_EDGES", "LAB_RATES", "WAKEBRIDGE_CAPTURES",
    ]
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

    /// The guests are started once, at the first scenario that asks, side by side; who asks has nothing to do before.
    private static let both: [Bool: LabRun] = {
        let guests = [false, true].map { waits in
            (waits: waits, guest: Guest(playing: LabScenario.all.filter { $0.waits == waits }))
        }
        while !guests.allSatisfy(\.guest.isOver) {
            for (_, guest) in guests { guest.tellNews() }
            sleep(1)
        }
        return Dictionary(uniqueKeysWithValues: guests.map { ($0.waits, $0.guest.outcome()) })
    }()

    static func of(_ scenario: LabScenario) -> LabRun? { both[scenario.waits] }

    /// A guest that plays some scenarios, while it does.
    private final class Guest {
        let folder: String
        private let child: Child?
        /// How many lines of its report were told.
        private var told = 0

        init(playing scenarios: [LabScenario]) {
            folder = place + (scenarios.first?.waits == true ? "-beside" : "")
            Directory.removeTree(folder)
            let programs = Built.daemon.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            let words = [venv + "/bin/python", sources + "/guest.py", folder, programs.joined(separator: "/")]
            let settings = handedOn.compactMap { name in environment(name).map { "\(name)='\($0)'" } }
            let command = (["env"] + settings + words + scenarios.map(\.name)).joined(separator: " ")
            let limit = environment("LAB_LIMIT") ?? "2700"
            child = scenarios.isEmpty ? nil : try? Child([sources + "/machine.sh", "-t", limit, folder, command])
        }

        var isOver: Bool { child?.isOver ?? true }

        /// All scenarios are played before the first one's test ends: who waits sees them go by.
        func tellNews() {
            let report = lines(of: "\(folder)/report")
            for line in report.dropFirst(told) where line.hasPrefix("END ") {
                print("lab: played \(line.dropFirst(4))")
            }
            told = report.count
            fflush(nil)
        }

        func outcome() -> LabRun {
            LabRun(
                folder: folder, status: child?.exit ?? -1, outcomes: LabRun.outcomes(in: lines(of: "\(folder)/report")))
        }
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
            case "FIGURE:": outcomes[name, default: Outcome()].figures.append(parts[1])
            case "SKIP:": outcomes[name, default: Outcome()].skips.append(parts[1])
            case "NOT-YET:": outcomes[name, default: Outcome()].debts.append(parts[1])
            case "END":
                outcomes[name, default: Outcome()].hasEnded = true
                outcomes[name, default: Outcome()].figures.append("took \(parts[1].dropFirst(name.count + 1))")
            case "AGAIN": outcomes[name]?.beginAnew(because: String(parts[1].dropFirst(name.count + 2)))
            default: break
            }
        }
        return outcomes
    }
}
