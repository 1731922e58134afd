// Processes that are measured from outside: started, looked at through /proc, waited for.
import Glibc
import WakeModel
import WakeSystem

enum Program {
    static func own() throws(SystemError) -> String { try File.linkTarget(of: "/proc/self/exe") }

    /// `log` gets what it says of itself.
    static func start(
        _ words: [String], input: Int32, log: String, output: Int32? = nil, environment: [String] = []
    ) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
        var arguments = words.map { strdup($0) } + [nil]
        var variables = (["PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1"] + environment).map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, nil, &arguments, &variables)
        guard code == 0 else { throw SystemError("start", words[0], Errno(code: code)) }
        return pid
    }

    /// What it prints, once it has ended.
    static func output(of words: [String]) throws -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemError("make", "a pipe", .last) }
        let source = FileDescriptor(owning: ends[0])
        let null = try File.open("/dev/null", for: .read)
        let pid: Int32
        do {
            let sink = FileDescriptor(owning: ends[1])
            pid = try start(words, input: null.raw, log: "/dev/null", output: sink.raw)
        }
        var bytes: [UInt8] = []
        while case .bytes = try source.read(appendingTo: &bytes, limit: 1 << 16) {}
        awaitEnd(of: pid)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func awaitEnd(of pid: Int32, patience: TimeSpan = .seconds(15)) {
        if RealTime.wait(patience, every: .milliseconds(5), until: { waitpid(pid, nil, WNOHANG) != 0 }) { return }
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }

    /// Processor time of all its threads, its children apart.
    static func processorTime(of pid: Int32) -> TimeSpan {
        let tasks = "/proc/\(pid)/task"
        return ((try? Directory.names(in: tasks)) ?? []).reduce(.zero) { sum, task in
            let words = ((try? File.text(at: "\(tasks)/\(task)/schedstat")) ?? "").split(separator: " ")
            return sum + TimeSpan(nanoseconds: words.first.flatMap { Int64($0) } ?? 0)
        }
    }
}

/// In megabytes.
struct Memory {
    let resident: Double
    let anonymous: Double

    init(of pid: Int32) {
        let status = (try? File.text(at: "/proc/\(pid)/status")) ?? ""
        resident = Double(status.number("VmRSS") ?? 0) / 1024
        anonymous = Double(status.number("RssAnon") ?? 0) / 1024
    }
}

extension String {
    /// The number on the line that begins with `key` and a colon.
    func number(_ key: String) -> Int? {
        for line in split(separator: "\n") where line.hasPrefix(key + ":") {
            return Int(line.dropFirst(key.count + 1).filter { $0.isNumber })
        }
        return nil
    }
}
