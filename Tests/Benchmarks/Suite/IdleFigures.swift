// The daemon from outside: that it sleeps while all is silent, and what it keeps in memory then.
import BenchmarkReport
import Glibc
import WakeModel
import WakeSystem

struct IdleFigures {
    let time: TimeSpan
    private static let count = 20

    /// Each of 20 devices speaks once to 20 handlers; once all of these are frozen, nothing happens any more.
    func measure() throws -> Suite.Findings {
        let folder = try DaemonFolder(profiles: 1, handlers: Self.count, devices: Self.count)
        defer { folder.remove() }
        let daemon = try RunningDaemon(folder, words: ["--replay", folder.trace, "--speed", "max"])
        defer { daemon.end() }
        RealTime.pass(.seconds(1))
        try HandlerGroups(runtimeDirectory: folder.path + "/run").await(frozen: Self.count)
        RealTime.pass(.seconds(3))
        let vigil = Vigil(over: daemon.pid)
        let end = SystemClock.monotonic() + time
        while SystemClock.monotonic() < end {
            RealTime.pass(.milliseconds(500))
            vigil.look()
        }
        let frozen = HandlerGroups(runtimeDirectory: folder.path + "/run").frozen
        let memory = Memory(of: daemon.pid)
        let method =
            "wakebridged with \(Self.count) devices and \(frozen) frozen handlers, silent for \(time.seconds) s"
        return Suite.Findings(sections: [
            Section(
                "idle", method: method,
                [
                    .valued("wake-ups", .wakeUps, [Double(vigil.count)], goal: .atMost(0), note: vigil.account),
                    .valued("anonymous memory", .megabytes, [memory.anonymous], goal: .atMost(3)),
                    .valued("resident", .megabytes, [memory.resident], goal: .atMost(14)),
                ])
        ])
    }
}

/// Counts how often the threads of a process gave the processor back after they had been woken, and looks for the timer that
/// may have woken them: one that was due when that happened.
private final class Vigil {
    private let pid: Int32
    private var switches: Int
    private var timers: [Timer]
    private let begun = SystemClock.monotonic()
    private(set) var count = 0
    private var reasons: [String] = []

    private struct Timer: Hashable {
        let descriptor: String
        let clock: Int
        /// Until it is due; nil where it is not armed.
        let left: TimeSpan?
    }

    init(over pid: Int32) {
        self.pid = pid
        switches = Self.voluntarySwitches(of: pid)
        timers = Self.timers(of: pid)
    }

    func look() {
        let now = Self.voluntarySwitches(of: pid)
        let armed = Self.timers(of: pid)
        if now > switches {
            count += now - switches
            let after = (SystemClock.monotonic() - begun).seconds
            reasons.append("\(now - switches) by \(Int(after)) s: \(reason)")
        }
        switches = now
        timers = armed
    }

    /// The looks are half a second apart, and one may come late.
    private var reason: String {
        let due = timers.filter { $0.left.map { $0 < .milliseconds(700) } ?? false }
        if due.isEmpty { return "no timer was due, so a descriptor was ready" }
        return "a timer on clock \(due.map { "\($0.clock)" }.joined(separator: " and ")) was due"
    }

    /// What woke it, what would have, and what may without being a fault.
    var account: String {
        // The watch over the wall clock is a timer that never comes.
        let soon = timers.filter { $0.left.map { $0 < .seconds(86_400) } ?? false }
        let armed = soon.map { "clock \($0.clock) in \(Int(($0.left ?? .zero).seconds)) s" }
        let next = armed.isEmpty ? "no timer is armed" : "armed: \(armed.joined(separator: ", "))"
        let pressure = File.exists("/proc/pressure/memory")
        let look = pressure ? "memory pressure is told" : "no PSI: one look at memory a minute is meant"
        return (reasons + [next, look]).joined(separator: "; ")
    }

    /// Of every thread: one that sleeps all along has none.
    private static func voluntarySwitches(of pid: Int32) -> Int {
        let tasks = "/proc/\(pid)/task"
        return ((try? Directory.names(in: tasks)) ?? []).reduce(0) { sum, task in
            sum + (((try? File.text(at: "\(tasks)/\(task)/status")) ?? "").number("voluntary_ctxt_switches") ?? 0)
        }
    }

    /// As the kernel tells of each timerfd: `clockid: 1`, `it_value: (12, 345678901)`.
    private static func timers(of pid: Int32) -> [Timer] {
        let folder = "/proc/\(pid)/fdinfo"
        return ((try? Directory.names(in: folder)) ?? []).compactMap { name in
            guard let text = try? File.text(at: "\(folder)/\(name)"), let clock = text.number("clockid"),
                let value = text.split(separator: "\n").first(where: { $0.hasPrefix("it_value:") })
            else { return nil }
            let parts = value.split { !$0.isNumber }.compactMap { Int64($0) }
            guard parts.count == 2 else { return nil }
            let left = TimeSpan.seconds(parts[0]) + TimeSpan(nanoseconds: parts[1])
            return Timer(descriptor: name, clock: clock, left: left == .zero ? nil : left)
        }
    }
}
