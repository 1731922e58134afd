// wakebridged in one life after another on the same directories, as it is started, killed and ended by a test.
import Glibc
import Testing

package final class Daemon {
    package let ground: Ground
    private let words: [String]
    package private(set) var pid: pid_t = 0
    /// Every process that was the daemon, in order.
    package private(set) var lives: [pid_t] = []
    /// How those ended that were not killed: exit status, or the signal below zero.
    package private(set) var ends: [Int32] = []
    /// What its present life says begins here in its log.
    private var logStart = 0

    /// - Parameter ahead: words that start it, such as `env`; they must become it, not run it.
    package convenience init(_ ground: Ground, trace: String, speed: String, ahead: [String] = []) {
        self.init(ground, ["--replay", trace, "--speed", speed], ahead: ahead)
    }

    /// - Parameter sources: arguments that name the source of its events.
    package init(_ ground: Ground, _ sources: [String], ahead: [String]) {
        self.ground = ground
        words =
            ahead + [
                Built.daemon, "--config", ground.file("config"), "--state", ground.file("state"), "--runtime",
                ground.runtime,
            ] + sources
    }

    deinit {
        guard pid != 0 else { return }
        killAndReap(pid)
        if let sweep = try? spawn([Built.daemon, "--sweep", "--runtime", ground.runtime]) { waitpid(sweep, nil, 0) }
    }

    package func start() throws {
        logStart = bytes(of: ground.daemonLog).count
        pid = try spawn(words)
        lives.append(pid)
    }

    /// What it says goes to the log, and so does its output where it has no file of its own.
    private func spawn(_ words: [String], output: String? = nil) throws -> pid_t {
        let log = Outlet.file(ground.daemonLog)
        return try TestBench.spawn(words, output: output.map { .file($0, replaces: true) } ?? log, talk: log)
    }

    /// The handlers that run now: the daemon has no other children, but the words that start it may have.
    package var handlers: [pid_t] {
        guard text(of: "/proc/\(pid)/comm") == "wakebridged\n" else { return [] }
        return text(of: "/proc/\(pid)/task/\(pid)/children").split(separator: " ").compactMap { pid_t($0) }
    }

    package var isUp: Bool { access(ground.socket, F_OK) == 0 }

    /// Whether its present life has come to the end of the trace.
    package var hasPlayed: Bool { hasSaid("is played") }
    /// Whether it serves.
    package var isReady: Bool { hasSaid("daemon: ready") }
    /// Whether SIGTERM ends it in order: before its first instruction, it or the words that start it would just be gone.
    private var hearsSignals: Bool {
        let blocked = processStatus("SigBlk").flatMap { UInt64($0, radix: 16) } ?? 0
        return blocked & (1 << UInt64(SIGTERM - 1)) != 0 && processStatus("Name") == "wakebridged"
    }

    private func processStatus(_ name: String) -> Substring? {
        let line = lines(of: "/proc/\(pid)/status").first { $0.hasPrefix("\(name):") }
        return line?.split(separator: "\t").last
    }

    private func hasSaid(_ words: String) -> Bool {
        bytes(of: ground.daemonLog).dropFirst(logStart).withUnsafeBufferPointer { offset(of: words, in: $0) != nil }
    }

    /// Whether the last line of its present life reports that it found no descriptor to begin with. Before its first instruction
    /// the loader reports that, by the number of the error.
    package var couldNotBegin: Bool {
        let log = String(decoding: bytes(of: ground.daemonLog).dropFirst(logStart), as: UTF8.self)
        let last = log.split(separator: "\n").last ?? ""
        let isOwn =
            last.hasPrefix("wakebridged: cannot start") && (last.contains("EMFILE") || last.contains("LimitNOFILE"))
        return isOwn || last.contains("loading shared libraries") && last.hasSuffix("Error \(EMFILE)")
    }

    /// Its exit status if it has ended, below zero the signal that it died of.
    package var ended: Int32? { pid == 0 ? nil : TestBench.end(of: pid) }

    /// SIGKILL, and the next life at once.
    package func killAndRestart() throws {
        killAndReap(pid)
        try start()
    }

    package func killForGood() {
        killAndReap(pid)
        pid = 0
    }

    /// SIGTERM, and its exit status; below zero the signal that it died of.
    @discardableResult
    package func stop(within seconds: Double = 20) async throws -> Int32 {
        _ = try await wait(seconds, every: 0.002) { hearsSignals || processStatus("State")?.hasPrefix("Z") ?? true }
        kill(pid, SIGTERM)
        let status = try #require(try await end(of: pid, within: seconds), "the daemon does not end after SIGTERM")
        pid = 0
        ends.append(status)
        return status
    }

    private func end(of process: pid_t, within seconds: Double) async throws -> Int32? {
        var exit: Int32?
        _ = try await wait(seconds, every: 0.002) {
            exit = TestBench.end(of: process)
            return exit != nil
        }
        return exit
    }

    // MARK: The tool

    /// What the tool printed, and its exit status.
    package func tool(_ words: String...) async throws -> (exit: Int32, output: String) {
        let output = ground.file("output")
        let process = try spawn([Built.tool, "--socket", ground.socket] + words, output: output)
        let exit = try #require(try await end(of: process, within: 20), "wakebridge \(words) does not end")
        return (exit, text(of: output))
    }

    /// Events that wait or are in flight, of all handlers together; nil while the daemon does not answer.
    package func owed() async throws -> Int? {
        let (exit, output) = try await tool("status", "--json")
        guard exit == 0 else { return nil }
        return (numbers("queued", in: output) + numbers("open", in: output)).reduce(0, +)
    }

    package func state() async throws -> String? {
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

    package var leftovers: [String] {
        let running = processes(mentioning: ground.path).map { "process \($0)" }
        let cgroup = Machine.cgroup(ofDaemonAt: ground.runtime)
        let cgroups = access(cgroup, F_OK) == 0 ? ["cgroup \(cgroup)"] : []
        let sockets = isUp ? ["the control socket"] : []
        return running + cgroups + sockets
    }
}

/// The text of a member of a line as the bridge writes it: without spaces, the envelope before the data.
package func member(_ name: String, of line: Substring) -> String? {
    guard let key = line.firstRange(of: "\"\(name)\":") else { return nil }
    let value = line[key.upperBound...].drop { $0 == " " }
    if value.first == "\"" { return String(value.dropFirst().prefix { $0 != "\"" }) }
    return String(value.prefix { $0 != "," && $0 != "}" && $0 != "]" && $0 != "\n" })
}

extension Substring {
    package func firstRange(of word: String) -> Range<Index>? {
        var copy = self
        guard let place = copy.withUTF8({ offset(of: word, in: $0) }) else { return nil }
        let start = utf8.index(startIndex, offsetBy: place)
        return start..<utf8.index(start, offsetBy: word.utf8.count)
    }
}
