// wakebridged in one life after another on the same directories, as it is started, killed and ended by a test.
import Glibc
import Testing

final class Daemon {
    let ground: Ground
    private let words: [String]
    private(set) var pid: pid_t = 0
    /// Every process that was the daemon, in order.
    private(set) var lives: [pid_t] = []
    /// How those ended that were not killed: exit status, or the signal below zero.
    private(set) var ends: [Int32] = []

    init(_ ground: Ground, trace: String, speed: String) {
        self.ground = ground
        words = [
            Built.daemon, "--config", ground.file("config"), "--state", ground.file("state"), "--runtime",
            ground.runtime, "--replay", trace, "--speed", speed,
        ]
    }

    deinit {
        guard pid != 0 else { return }
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        _ = try? spawn([Built.daemon, "--sweep", "--runtime", ground.runtime]).map { waitpid($0, nil, 0) }
    }

    func start() throws {
        pid = try #require(try spawn(words), "cannot start \(words[0])")
        lives.append(pid)
    }

    private func spawn(_ words: [String], output: String? = nil) throws -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        let (log, mode) = (ground.daemonLog, O_WRONLY | O_CREAT | O_APPEND)
        posix_spawn_file_actions_addopen(&actions, 1, output ?? log, output == nil ? mode : mode | O_TRUNC, 0o644)
        posix_spawn_file_actions_addopen(&actions, 2, log, mode, 0o644)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var started: pid_t = 0
        return posix_spawn(&started, words[0], &actions, nil, &arguments, environ) == 0 ? started : nil
    }

    /// The handlers that run now: the daemon has no other children.
    var handlers: [pid_t] {
        text(of: "/proc/\(pid)/task/\(pid)/children").split(separator: " ").compactMap { pid_t($0) }
    }

    var isUp: Bool { access(ground.socket, F_OK) == 0 }

    /// SIGKILL, and the next life at once.
    func killAndRestart() throws {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        try start()
    }

    func killForGood() {
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
        pid = 0
    }

    /// SIGTERM, and its exit status; below zero the signal that it died of.
    @discardableResult
    func stop(within seconds: Double = 20) async throws -> Int32 {
        kill(pid, SIGTERM)
        let status = try #require(try await end(of: pid, within: seconds), "the daemon does not end after SIGTERM")
        pid = 0
        ends.append(status)
        return status
    }

    private func end(of process: pid_t, within seconds: Double) async throws -> Int32? {
        var status: Int32 = 0
        let isOver = try await wait(seconds, every: 0.002) { waitpid(process, &status, WNOHANG) == process }
        guard isOver else { return nil }
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }

    // MARK: The tool

    /// What the tool printed, and its exit status.
    func tool(_ words: String...) async throws -> (exit: Int32, output: String) {
        let output = ground.file("output")
        let process = try #require(try spawn([Built.tool, "--socket", ground.socket] + words, output: output))
        let exit = try #require(try await end(of: process, within: 20), "wakebridge \(words) does not end")
        return (exit, text(of: output))
    }

    /// Events that wait or are in flight, of all handlers together; nil while the daemon does not answer.
    func owed() async throws -> Int? {
        let (exit, output) = try await tool("status", "--json")
        guard exit == 0 else { return nil }
        return (numbers("queued", in: output) + numbers("open", in: output)).reduce(0, +)
    }

    func state() async throws -> String? {
        let (exit, output) = try await tool("status", "--json")
        return exit == 0 ? member("state", of: output[...]) : nil
    }

    private func numbers(_ name: String, in text: String) -> [Int] {
        var found: [Int] = []
        var rest = text[...]
        while let value = member(name, of: rest), let place = rest.firstRange(of: "\"\(name)\":") {
            found.append(Int(value) ?? 0)
            rest = rest[place.upperBound...]
        }
        return found
    }

    // MARK: What is left

    /// The cgroups of this bridge, wherever the daemon was put.
    var cgroup: String? {
        guard
            let mount = text(of: "/proc/self/mountinfo").split(separator: "\n").first(where: {
                $0.contains(" - cgroup2 ")
            }),
            let own = text(of: "/proc/self/cgroup").split(separator: "\n").first(where: { $0.hasPrefix("0::") })
        else { return nil }
        let below = own.dropFirst(3) == "/" ? "" : String(own.dropFirst(3))
        let root = String(mount.split(separator: " ")[4])
        return root + below + "/wakebridge"
            + String(ground.runtime.map { $0 == "/" ? "-" : $0 })
    }

    var leftovers: [String] {
        let running = processes(mentioning: ground.path).map { "process \($0)" }
        let cgroups = cgroup.map { access($0, F_OK) == 0 ? ["cgroup \($0)"] : [] } ?? []
        let sockets = isUp ? ["the control socket"] : []
        return running + cgroups + sockets
    }
}

/// The text of a member of a line as the bridge writes it: without spaces, the envelope before the data.
func member(_ name: String, of line: Substring) -> String? {
    guard let key = line.firstRange(of: "\"\(name)\":") else { return nil }
    let value = line[key.upperBound...].drop { $0 == " " }
    if value.first == "\"" { return String(value.dropFirst().prefix { $0 != "\"" }) }
    return String(value.prefix { $0 != "," && $0 != "}" && $0 != "]" && $0 != "\n" })
}

extension Substring {
    func firstRange(of word: String) -> Range<Index>? {
        var copy = self
        guard let place = copy.withUTF8({ offset(of: word, in: $0) }) else { return nil }
        let start = utf8.index(startIndex, offsetBy: place)
        return start..<utf8.index(start, offsetBy: word.utf8.count)
    }
}
