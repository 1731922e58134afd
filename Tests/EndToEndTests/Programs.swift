// Where the programs under test lie, and what this machine lets them do.
import Glibc
import Testing

/// The package's folder, from where this file lies.
let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
let heartRateTrace = "\(package)/Devices/heart-rate-monitor/recording.trace"

/// The programs that were built together with these tests.
enum Built {
    static let folder: String = {
        let test = linkTarget("/proc/self/exe")
        // The tests themselves may be run by a helper of the toolchain; the products lie beside the test bundle.
        let arguments = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? test
        return arguments.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
    }()
    static var tool: String { environment("WAKEBRIDGE_TOOL") ?? "\(folder)/wakebridge" }
    static var daemon: String { environment("WAKEBRIDGED") ?? "\(folder)/wakebridged" }
    static var fixture: String { "\(folder)/FixtureHandler" }
    static var swiftExample: String { "\(folder)/ExampleHeartRate" }
}

/// Recordings of real devices, which are not part of the package.
enum Captures {
    static let folder = environment("WAKEBRIDGE_CAPTURES") ?? "\(package)/../shared/captures"
    static var exist: Bool { access("\(folder)/bluetooth", R_OK) == 0 }
    /// Made here: Swift 6.0 does not survive an interpolation in an attribute.
    static let missing = Comment(rawValue: "no captures at \(folder); WAKEBRIDGE_CAPTURES says where they are")

    static func path(_ name: String) -> String { "\(folder)/bluetooth/\(name).btsnoop" }
}

/// What the kernel grants here.
enum Machine {
    static var isRoot: Bool { geteuid() == 0 }

    /// The cgroup of these tests, which the tool inherits; nil where there is no version 2.
    static let cgroup: String? = {
        guard
            let mount = text(of: "/proc/self/mountinfo").split(separator: "\n").first(where: {
                $0.contains(" - cgroup2 ")
            }),
            let own = text(of: "/proc/self/cgroup").split(separator: "\n").first(where: { $0.hasPrefix("0::") })
        else { return nil }
        let point = String(mount.split(separator: " ")[4])
        let path = String(own.dropFirst(3))
        return path == "/" ? point : point + path
    }()

    /// Whether handlers can really be frozen; where not, the tests that look at freezing are skipped.
    static let freezes: Bool = {
        guard let cgroup else { return false }
        let probe = "\(cgroup)/wakebridge-test-\(getpid())"
        guard mkdir(probe, 0o755) == 0 else { return false }
        defer { rmdir(probe) }
        return access("\(probe)/cgroup.freeze", W_OK) == 0 && access("\(probe)/cgroup.kill", W_OK) == 0
    }()
}

func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

func linkTarget(_ path: String) -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink(path, &buffer, buffer.count - 1)
    return String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The whole file; empty where there is none.
func bytes(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [] }
    defer { close(file) }
    var all: [UInt8] = []
    var space = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = read(file, &space, space.count)
        guard count > 0 else { return all }
        all.append(contentsOf: space[..<count])
    }
}

func text(of path: String) -> String { String(decoding: bytes(of: path), as: UTF8.self) }

func lines(of path: String) -> [String] { text(of: path).split(separator: "\n").map(String.init) }

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
    return found.sorted()
}

/// `R`, `S`, `T` and so on; nil where there is no such process.
func processState(_ pid: Int32) -> Character? {
    text(of: "/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ").first?.first
}

/// A zombie is not: how soon an orphan is reaped is up to the machine's process 1.
func isAlive(_ pid: Int32) -> Bool { processState(pid).map { $0 != "Z" && $0 != "X" } ?? false }

func monotonicNow() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Looks every few milliseconds until it holds; false after `seconds`. Never blocks the thread that other tests share.
func wait(_ seconds: Double = 10, for condition: () throws -> Bool) async throws -> Bool {
    let end = monotonicNow() + seconds
    while try !condition() {
        guard monotonicNow() < end else { return false }
        try await Task.sleep(nanoseconds: 5_000_000)
    }
    return true
}

func pause(_ seconds: Double) async throws { try await Task.sleep(nanoseconds: UInt64(seconds * 1e9)) }
