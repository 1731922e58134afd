// How fast a long file comes by wakebridge-transferd, beside the curl command, from one server that sends out of memory.
import BenchmarkReport
import Glibc
import WakeModel
import WakeSystem
import WakeTransfer

struct TransferFigures {
    let rounds: Int

    private static let most = 9

    /// Of two fetches that belong together, each is the first as often.
    func measure() throws -> Suite.Findings {
        let bench = try TransferBench()
        defer { bench.end() }
        _ = try (bench.fetch(), bench.curl())
        let count = min(rounds, Self.most)
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0..<count {
            for isOurs in round % 2 == 0 ? [true, false] : [false, true] {
                if isOurs { ours.append(try bench.fetch()) } else { theirs.append(try bench.curl()) }
            }
        }
        let method = """
            a file of \(TransferBench.size >> 20) MiB from a server on this machine: by wakebridge-transferd from the order to \
            the word that it has its name and is on the disk, by curl from its start to its end, which syncs nothing; \
            \(count) rounds of both by turns
            """
        return Suite.Findings(sections: [
            Section(
                "transfers", method: method,
                [
                    .valued("transferd", .megabytesPerSecond, ours),
                    .valued("curl", .megabytesPerSecond, theirs),
                    .valued("transferd / curl", .times, zip(ours, theirs).map { $0 / $1 }, goal: .atLeast(0.95)),
                ])
        ])
    }
}

/// The server; it ends with this object.
private final class FileServer {
    let port: String
    private let pid: Int32
    private let leash: FileDescriptor

    init(of size: Int, in folder: String) throws {
        let (input, output) = (try Self.pipe(), try Self.pipe())
        let reading = FileDescriptor(owning: input.0)
        leash = FileDescriptor(owning: input.1)
        let said = FileDescriptor(owning: output.0)
        let saying = FileDescriptor(owning: output.1)
        let words = [try Places.systemPython(), try Places.peer("files.py"), "\(size)"]
        pid = try Program.start(words, input: reading.raw, log: folder + "/server.log", output: saying.raw)
        var bytes: [UInt8] = []
        guard case .bytes = try said.read(appendingTo: &bytes, limit: 64) else {
            throw Failure("files.py says no port")
        }
        port = String(decoding: bytes.prefix { $0 != 0x0a }, as: UTF8.self)
    }

    private static func pipe() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw SystemError("make", "a pipe", .last) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    deinit {
        kill(pid, SIGKILL)
        Program.awaitEnd(of: pid)
    }
}

/// One `wakebridge-transferd`, which is asked as the daemon asks it.
private final class TransferBench {
    static let size = 512 << 20

    private let folder: String
    private let state: String
    private let server: FileServer
    private let lock: FileDescriptor
    private let line: FileDescriptor
    private var lines = LineSplitter(limit: 64 << 10)
    private var number: Int64 = 0

    init() throws {
        folder = try Directory.makeTemporary(prefix: "wakebridge-bench")
        state = folder + "/state"
        try Directory.create(state)
        server = try FileServer(of: Self.size, in: folder)
        let socket = try UnixSocket.listen(at: folder + "/socket")
        lock = try File.open(folder + "/lock", for: .create)
        let program = try Places.sibling("wakebridge-transferd")
        guard try DetachedProgram.run([program], environment: [], socket: socket.raw, lock: lock.raw).get() == 0 else {
            throw Failure("\(program) does not run")
        }
        line = try UnixSocket.connect(to: folder + "/socket")
        // Waits for what is said.
        _ = fcntl(line.raw, F_SETFL, 0)
    }

    private var address: String { "http://127.0.0.1:\(server.port)/file" }

    /// In megabytes a second.
    private func timed(_ work: () throws -> String) throws -> Double {
        sync()
        let begun = SystemClock.monotonic()
        let file = try work()
        let time = SystemClock.monotonic() - begun
        let found = try File.open(file, for: .read)
        guard try found.byteCount(of: file) == Int64(Self.size) else { throw Failure("\(file) is not whole") }
        try File.remove(file)
        return Double(Self.size) / 1_000_000 / time.seconds
    }

    func curl() throws -> Double {
        try timed {
            let file = folder + "/curl"
            _ = try Program.output(of: ["curl", "-s", "-o", file, address])
            return file
        }
    }

    func fetch() throws -> Double {
        number += 1
        let id = TransferID("bench", number)
        guard let url = WebAddress(address) else { throw Failure("\(address) is no address") }
        return try timed {
            let order = TransferOrder(url, .download(to: "file"))
            _ = try line.write(TransferCommand.start(order).line(for: id, in: state))
            try awaitEnd(of: id)
            _ = try line.write(TransferCommand.confirm.line(for: id, in: state))
            return state + "/file"
        }
    }

    private func awaitEnd(of id: TransferID) throws {
        while true {
            while case .success(let text)? = lines.next() {
                guard let news = AddressedNews(line: text), news.id == id, case .ended(let result) = news.news else {
                    continue
                }
                if let failure = result.failure { throw Failure(failure.sentence) }
                return
            }
            var bytes: [UInt8] = []
            guard case .bytes = try line.read(appendingTo: &bytes, limit: 1 << 16) else {
                throw Failure("wakebridge-transferd has ended")
            }
            lines.append(bytes)
        }
    }

    func end() {
        try? DetachedProgram.replaceHolder(of: lock.raw)
        Directory.removeTree(folder)
    }
}
