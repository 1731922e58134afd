// The ground one test stands on: its own directories, the files in them, and the programs that were built beside it.
import Glibc

/// Gone with everything in it when the test lets go of it. The runtime directory is on a tmpfs where the machine has one.
final class Ground {
    let path: String
    /// Stands for what a reboot wipes.
    let runtime: String

    init() {
        path = makeDirectory("/tmp/wakebridge-torture.XXXXXX")
        let volatile = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        runtime = makeDirectory("\(volatile)/wakebridge-torture.XXXXXX")
        mkdir(file("config"), 0o755)
        mkdir(file("config/handlers.d"), 0o755)
    }

    deinit {
        guard getenv("WAKEBRIDGE_TORTURE_KEEP") == nil else { return print("kept: \(path) \(runtime)") }
        remove(path)
        remove(runtime)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }
    var record: String { file("record") }
    var daemonLog: String { file("daemon.log") }
    var socket: String { "\(runtime)/control.sock" }

    @discardableResult
    func write(_ text: String, to name: String) -> String {
        let path = file(name)
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        close(file)
        return path
    }

    /// Drops a manifest in; the fixture records what it gets to `record-<id>`, or where `words` say otherwise.
    func install(_ id: String, _ words: [String], durability: String = "run", _ more: String = "") {
        let all = ([Built.fixture, "--record", "\(record)-\(id)"] + words).map { "\"\($0)\"" }.joined(separator: ", ")
        let user = geteuid() == 0 ? "user: \"root\", " : ""
        let text = """
            { exec: [\(all)], \(user)modes: ["bluetooth-central"],
              watch: [{ profile: "heart-rate-monitor", durability: "\(durability)" }],
              timers: { failure_base: "1ms", failure_cap: "5ms" }, \(more) }
            """
        // Renamed into place, as who drops a manifest into a running daemon's folder should.
        let draft = write(text, to: "draft")
        rename(draft, file("config/handlers.d/\(id).json5"))
    }

    /// A reboot: nothing of the runtime directory is left.
    func wipeRuntime() {
        for name in names(in: runtime) { remove("\(runtime)/\(name)") }
    }
}

enum Built {
    static let folder: String = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return bundle.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()
    static var tool: String { "\(folder)/wakebridge" }
    static var daemon: String { "\(folder)/wakebridged" }
    static var fixture: String { "\(folder)/FixtureHandler" }
}

private func makeDirectory(_ pattern: String) -> String {
    var template = Array(pattern.utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("cannot make a directory as \(pattern)") }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

private func remove(_ path: String) {
    if unlink(path) == 0 || errno == ENOENT { return }
    for name in names(in: path) { remove("\(path)/\(name)") }
    rmdir(path)
}

// MARK: Looking at the machine

func bytes(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var all: [UInt8] = []
    var space = [UInt8](repeating: 0, count: 256 << 10)
    while true {
        let count = read(file, &space, space.count)
        guard count > 0 else { return all }
        all.append(contentsOf: space[..<count])
    }
}

func text(of path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }
func lines(of path: String) -> [Substring] { text(of: path).split(separator: "\n") }

func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { found.append(name) }
    }
    return found
}

/// Processes, not zombies, that have `text` in their command line or environment.
func processes(mentioning text: String) -> [pid_t] {
    names(in: "/proc").compactMap { pid_t($0) }.filter { pid in
        ["cmdline", "environ"].contains { contains(bytes(of: "/proc/\(pid)/\($0)"), text) } && pid != getpid()
    }
}

private func contains(_ bytes: [UInt8], _ text: String) -> Bool {
    bytes.withUnsafeBufferPointer { offset(of: text, in: $0) != nil }
}

/// Where the word first stands; compared as bytes, which is many times faster than as characters.
func offset(of word: String, in bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    Array(word.utf8).withUnsafeBufferPointer { word in
        guard let base = bytes.baseAddress, let wanted = word.baseAddress else { return nil }
        var start = 0
        while bytes.count - start >= word.count {
            guard let hit = memchr(base + start, Int32(word[0]), bytes.count - word.count + 1 - start) else {
                return nil
            }
            start = UnsafeRawPointer(hit) - UnsafeRawPointer(base)
            if memcmp(base + start, wanted, word.count) == 0 { return start }
            start += 1
        }
        return nil
    }
}

func monotonicNow() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Never blocks the thread that other tests share.
func pause(_ seconds: Double) async throws { try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1e9)) }

/// Looks every `period` seconds until it holds; false after `seconds`.
func wait(_ seconds: Double, every period: Double = 0.01, for condition: () async throws -> Bool) async throws -> Bool {
    let end = monotonicNow() + seconds
    while try await !condition() {
        guard monotonicNow() < end else { return false }
        try await pause(period)
    }
    return true
}
