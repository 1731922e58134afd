// A real server on a temporary Unix socket, with real clients run as processes while the loop turns.
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
    }

    /// Runs a program to its end while the loop turns; `arguments` begins with the program.
    func run(_ arguments: [String]) throws -> Outcome {
        let child = try Child(arguments)
        while !child.isOver { try loop.runOnce(timeout: .milliseconds(1)) }
        return Outcome(exit: child.exit, output: child.output)
    }

    func curl(_ arguments: String...) throws -> Outcome {
        try run(["curl", "-sS", "--max-time", "20", "--unix-socket", path] + arguments)
    }

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

/// A process whose output is gathered.
final class Child {
    let process: pid_t
    private let pipe: Int32
    private var bytes: [UInt8] = []
    private(set) var exit: Int32 = -1
    private var hasEnded = false
    private var hasExited = false

    init(_ arguments: [String]) throws {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw SystemError("make", "a pipe", .last) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        var started: pid_t = 0
        let code = posix_spawnp(&started, arguments[0], &actions, nil, words, environ)
        for word in words { free(word) }
        posix_spawn_file_actions_destroy(&actions)
        close(ends[1])
        guard code == 0 else { throw SystemError("start", arguments[0], Errno(code: code)) }
        process = started
        pipe = ends[0]
    }

    deinit {
        if !hasExited {
            kill(process, SIGKILL)
            waitpid(process, nil, 0)
        }
        close(pipe)
    }

    var output: String {
        drain()
        return String(decoding: bytes, as: UTF8.self)
    }

    var isOver: Bool {
        drain()
        var status: Int32 = 0
        if !hasExited, waitpid(process, &status, WNOHANG) == process {
            hasExited = true
            exit = status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
        }
        return hasExited && hasEnded
    }

    private func drain() {
        var chunk = [UInt8](repeating: 0, count: 65536)
        while !hasEnded {
            let count = read(pipe, &chunk, chunk.count)
            if count == 0 { hasEnded = true }
            guard count > 0 else { return }
            bytes.append(contentsOf: chunk[..<count])
        }
    }
}

/// A client that speaks in bytes, for what no well-behaved client sends.
final class RawClient {
    let descriptor: Int32

    init(_ path: String, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        guard connected == 0 else { throw SystemError("connect to", path, .last) }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    func send(_ text: String) { send(Array(text.utf8)) }
    func send(_ bytes: [UInt8]) { _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

    /// What is there now; nil at the end of the connection.
    func receive() -> String? {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count == 0 || (count < 0 && errno != EAGAIN) { return nil }
        return count < 0 ? "" : String(decoding: chunk[..<count], as: UTF8.self)
    }
}

func openDescriptors() -> Int {
    guard let directory = opendir("/proc/self/fd") else { return -1 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}
