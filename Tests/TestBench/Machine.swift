// The abilities of this machine that tests need, the processes that run on it, and patience with a limit.
import Glibc
import WakeSystem

/// What the kernel grants here.
package enum Machine {
    package static var isRoot: Bool { geteuid() == 0 }

    /// Before a command: what its mode closes to it is closed to root too.
    package static var withoutOverride: [String] {
        isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
    }

    /// Whether programs can be given a /run of their own, and a network.
    package static let makesNamespaces: Bool =
        isRoot
        && (try? Child(["unshare", "--mount", "--net", "mount", "-t", "tmpfs", "tmpfs", "/run"]))?.finish().exit == 0

    /// The cgroup of these tests, which what they start inherits; nil where there is no version 2.
    package static let cgroup: String? = {
        guard
            let mount = lines(of: "/proc/self/mountinfo").first(where: { $0.contains(" - cgroup2 ") }),
            let own = lines(of: "/proc/self/cgroup").first(where: { $0.hasPrefix("0::") })
        else { return nil }
        let point = String(mount.split(separator: " ")[4])
        let path = String(own.dropFirst(3))
        return path == "/" ? point : point + path
    }()

    /// The cgroups of the daemon with this runtime directory.
    package static func cgroup(ofDaemonAt runtime: String) -> String {
        "\(cgroup ?? "/nowhere")/wakebridge" + String(runtime.map { $0 == "/" ? "-" : $0 })
    }

    /// Whether handlers can really be frozen; where not, the tests that look at freezing are skipped.
    package static let freezes: Bool = {
        guard let cgroup else { return false }
        let probe = "\(cgroup)/wakebridge-test-\(getpid())"
        guard mkdir(probe, 0o755) == 0 else { return false }
        defer { rmdir(probe) }
        return access("\(probe)/cgroup.freeze", W_OK) == 0 && access("\(probe)/cgroup.kill", W_OK) == 0
    }()

    /// Whether the kernel can hold handlers to a share of a processor: the cgroup of these tests is lent that controller.
    package static let limitsProcessor: Bool =
        freezes
        && lines(of: "\(cgroup ?? "")/cgroup.controllers").contains { $0.split(separator: " ").contains("cpu") }
}

/// A zombie is not: how soon an orphan is reaped is up to the machine's process 1.
package func isAlive(_ pid: Int32) -> Bool { processState(pid).map { $0 != "Z" && $0 != "X" } ?? false }

/// `R`, `S`, `T` and so on; nil where there is no such process.
package func processState(_ pid: Int32) -> Character? {
    text(of: "/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ").first?.first
}

package func monotonicNow() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Never blocks the thread that other tests share.
package func pause(_ seconds: Double) async throws {
    try await RealTime.pass(seconds)
}

/// Looks every `period` seconds until it holds; false after `seconds`.
package func wait(
    _ seconds: Double = 120, every period: Double = 0.005, for condition: () async throws -> Bool
) async throws -> Bool {
    let end = monotonicNow() + seconds
    while try await !condition() {
        guard monotonicNow() < end else { return false }
        try await RealTime.pass(period)
    }
    return true
}
