// The daemon from outside: how long it takes to be ready, what it keeps in memory, and that it sleeps while all is silent.
import Glibc
import WakeModel
import WakeSystem

enum DaemonFigures {
    static func measure() throws {
        let (ready, memory) = try start()
        say("\nwakebridged with 50 profiles and 10 handlers")
        say(
            Table.row(["exec to ready, best/median", Table.number(ready.least, 1), Table.number(ready.median, 1), "ms"])
        )
        say(Table.row(["resident", Table.number(Double(memory.resident) / 1024, 2), "MB"]))
        say(Table.row(["anonymous", Table.number(Double(memory.anonymous) / 1024, 2), "MB"]))
        let idle = try idle(handlers: 20, seconds: 30)
        say("\nwakebridged with \(idle.frozen) frozen handlers, silent for 30 s")
        say(Table.row(["wake-ups", "\(idle.wakeups)"]))
        say(Table.row(["anonymous", Table.number(Double(idle.memory.anonymous) / 1024, 2), "MB"]))
    }

    private static func start() throws -> (Quantiles, Memory) {
        var times: [Double] = []
        var memory = Memory(pid: 0)
        for _ in 0..<10 {
            let folder = try DaemonFolder(profiles: 50, handlers: 10)
            defer { folder.remove() }
            let daemon = try RunningDaemon(folder)
            times.append((daemon.readyAfter).seconds * 1000)
            sleep(until: SystemClock.monotonic() + .milliseconds(300))
            memory = Memory(pid: daemon.pid)
            daemon.end()
        }
        return (Quantiles(times), memory)
    }

    /// Plays one event to every handler, waits until all are frozen, and counts how often the daemon was woken after that.
    private static func idle(handlers: Int, seconds: Int64) throws -> (frozen: Int, wakeups: Int, memory: Memory) {
        let folder = try DaemonFolder(profiles: 1, handlers: handlers)
        defer { folder.remove() }
        let daemon = try RunningDaemon(folder, words: ["--replay", folder.trace, "--speed", "max"])
        defer { daemon.end() }
        let end = SystemClock.monotonic() + .seconds(20)
        while folder.frozenHandlers < handlers, SystemClock.monotonic() < end {
            sleep(until: SystemClock.monotonic() + .milliseconds(100))
        }
        sleep(until: SystemClock.monotonic() + .seconds(3))
        let frozen = folder.frozenHandlers
        let before = contextSwitches(of: daemon.pid)
        sleep(until: SystemClock.monotonic() + .seconds(seconds))
        return (frozen, contextSwitches(of: daemon.pid) - before, Memory(pid: daemon.pid))
    }

    /// Of every thread, voluntary or not: a thread that sleeps all along has none.
    private static func contextSwitches(of pid: Int32) -> Int {
        let tasks = "/proc/\(pid)/task"
        return ((try? Directory.names(in: tasks)) ?? []).reduce(0) { sum, task in
            let status = (try? File.text(at: "\(tasks)/\(task)/status")) ?? ""
            return sum + (status.number("voluntary_ctxt_switches") ?? 0)
                + (status.number("nonvoluntary_ctxt_switches") ?? 0)
        }
    }
}

/// In KiB.
struct Memory {
    let resident: Int
    let anonymous: Int

    init(pid: Int32) {
        let status = (try? File.text(at: "/proc/\(pid)/status")) ?? ""
        resident = status.number("VmRSS") ?? 0
        anonymous = status.number("RssAnon") ?? 0
    }
}

extension String {
    /// The number on the line that begins with `key` and a colon.
    fileprivate func number(_ key: String) -> Int? {
        for line in split(separator: "\n") where line.hasPrefix(key + ":") {
            return Int(line.dropFirst(key.count + 1).filter { $0.isNumber })
        }
        return nil
    }
}
