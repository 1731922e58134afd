// The tool as a process, and a real control server for it to talk to, turned by the same thread.
import Glibc
import WakeControl
import WakeLoop
import WakeModel
import WakeSystem

/// A server, its loop and its directory; all on the test's own thread.
final class Fixture {
    let loop: EventLoop
    let directory: String
    let server: ControlServer
    var path: String { directory + "/control.sock" }

    init(group: UInt32? = nil, handle: @escaping (ControlRequest) -> ControlResponse) throws {
        var template = Array("/tmp/wakecontrol.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError("make", "a temporary directory", .last) }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(directory, 0o755)
        loop = try EventLoop()
        server = try ControlServer(loop: loop, socketPath: directory + "/control.sock", group: group, handle: handle)
    }

    deinit {
        server.close()
        unlink(path)
        rmdir(directory)
    }

    struct Outcome {
        var exit: Int32
        var output: String
        var talk: String
    }

    /// Runs a program to its end while the loop turns; `arguments` begins with the program.
    func run(_ arguments: [String]) throws -> Outcome {
        let child = try Child(arguments)
        while !child.isOver { try loop.runOnce(timeout: .milliseconds(1)) }
        return Outcome(exit: child.exit, output: child.output, talk: child.talk)
    }

    /// Runs the tool against this server.
    func tool(_ arguments: String...) throws -> Outcome { try run([Built.path, "--socket", path] + arguments) }

    /// Turns the loop until `condition` holds; false after `seconds`.
    func turn(for seconds: Int64 = 5, until condition: () -> Bool) throws -> Bool {
        let end = SystemClock.now().monotonic + .seconds(seconds)
        while !condition() {
            guard SystemClock.now().monotonic < end else { return false }
            try loop.runOnce(timeout: .milliseconds(1))
        }
        return true
    }
}

/// The tool that was built with these tests.
enum Built {
    static var path: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let test = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if let named = getenv("WAKEBRIDGE_TOOL") { return String(cString: named) }
        return test.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/wakebridge"
    }

    /// Runs the tool where it needs no daemon.
    static func run(_ arguments: String...) throws -> (exit: Int32, output: String, talk: String) {
        let child = try Child([path] + arguments)
        while !child.isOver { usleep(1000) }
        return (child.exit, child.output, child.talk)
    }
}

/// A process whose output and talk are gathered apart.
final class Child {
    let process: pid_t
    private var streams: [Gatherer]
    private(set) var exit: Int32 = -1
    private var hasExited = false

    init(_ arguments: [String]) throws {
        let (output, talk) = (try Gatherer(), try Gatherer())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        posix_spawn_file_actions_adddup2(&actions, talk.writing, 2)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        var started: pid_t = 0
        let code = posix_spawnp(&started, arguments[0], &actions, nil, words, environ)
        for word in words { free(word) }
        posix_spawn_file_actions_destroy(&actions)
        guard code == 0 else { throw SystemError("start", arguments[0], Errno(code: code)) }
        process = started
        streams = [output, talk]
        for stream in streams { stream.closeWriting() }
    }

    deinit {
        guard !hasExited else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    var output: String { streams[0].text }
    var talk: String { streams[1].text }

    /// True once the process has ended and all it wrote is here.
    var isOver: Bool {
        var status: Int32 = 0
        if !hasExited, waitpid(process, &status, WNOHANG) == process {
            hasExited = true
            exit = status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
        }
        return streams.allSatisfy { $0.isAtEnd } && hasExited
    }
}

/// One pipe and what came through it.
final class Gatherer {
    private let reading: Int32
    private(set) var writing: Int32
    private var bytes: [UInt8] = []
    private var hasEnded = false

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemError("make", "a pipe", .last) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        close(reading)
        closeWriting()
    }

    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    var text: String {
        drain()
        return String(decoding: bytes, as: UTF8.self)
    }

    var isAtEnd: Bool {
        drain()
        return hasEnded
    }

    private func drain() {
        var chunk = [UInt8](repeating: 0, count: 65536)
        while !hasEnded {
            let count = read(reading, &chunk, chunk.count)
            if count == 0 { hasEnded = true }
            guard count > 0 else { return }
            bytes.append(contentsOf: chunk[..<count])
        }
    }
}
