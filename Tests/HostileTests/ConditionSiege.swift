// A handler that attacks by the paths it waits for, and the effects of that.
import Glibc
import TestBench
import WakeModel
import WakeSystem

extension Siege {
    /// - Parameter words: for how many seconds, and further arguments of the attack.
    func admitPaths(_ attack: String, jobs: [String], _ words: [String]) {
        let declared = jobs.map { "{ id: \"\($0)\", kind: \"processing\" }" }
        admit(attack, ["\(yard)/book"] + words, "jobs: [\(declared.joined(separator: ", "))]")
    }

    /// Whether it has changed a path often enough.
    func hasChangedMuch() async throws -> Bool { try await wait(60) { !text(of: "\(yard)/book").isEmpty } }

    /// The attacker's waiting jobs.
    func pendingJobs() async throws -> [String] {
        let listed = try await tool("pending", "attacker", "--json", within: 60)?.talk ?? ""
        let entries = (try? JSONValue(parsing: Array(listed.utf8)))?["pending"]?.array ?? []
        return entries.compactMap { $0["id"]?.string }.sorted()
    }

    /// The daemon's inotify instances; all programs of root share a small number of them.
    var inotifyInstances: Int {
        let place = "/proc/\(daemon?.pid ?? 0)/fd"
        return names(in: place).count { (try? File.linkTarget(of: "\(place)/\($0)")) == "anon_inode:inotify" }
    }
}
