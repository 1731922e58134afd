// Sockets, the lock of the single instance, accounts and memory: the rest of what the daemon asks the system for.
import Glibc
import Testing
import WakeModel

@testable import WakeSystem

@Suite struct UnixSocketTests {
    private let path = "/tmp/wakebridge-test-socket-\(getpid())-\(Counter.shared.next())"

    @Test("a caller is known by its user and process, and its group membership by the data base")
    func credentials() throws {
        let listener = try UnixSocket.listen(at: path, mode: 0o660, group: getegid())
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
        let none = try UnixSocket.accept(on: listener)?.raw
        #expect(none == nil)
        let caller = try UnixSocket.connect(to: path)
        guard let accepted = try UnixSocket.accept(on: listener) else {
            Issue.record("the connection was not there")
            return
        }
        let peer = try PeerCredentials(of: accepted.raw)
        #expect(try peer == PeerCredentials(of: caller.raw))
        #expect(peer.user == geteuid() && peer.pid == getpid())
        #expect(peer.isMember(of: getegid()))
        #expect(!peer.isMember(of: 54_321))
        unlink(path)
    }

    @Test("a socket that is answered is left alone, a dead one is replaced, a file is never removed")
    func stale() throws {
        do {
            let first = try UnixSocket.listen(at: path)
            #expect(throws: SystemError.self) { _ = try UnixSocket.listen(at: path) }
            #expect(throws: SystemError.self) { _ = try UnixSocket.listen(at: path, mode: 0o600, as: nil) }
            #expect(File.exists(path))
            let visitor = try UnixSocket.accept(on: first)?.raw
            #expect(visitor == nil, "it is not connected to, for whoever takes a connection can fill it")
        }
        let second = try UnixSocket.listen(at: path)
        #expect(second.raw >= 0)
        unlink(path)
        try File.replace(path, with: [1])
        #expect(throws: SystemError.self) { _ = try UnixSocket.listen(at: path) }
        #expect(try File.bytes(at: path) == [1])
        unlink(path)
    }

    @Test("where the kernel can refuse descriptors, neither end of a connection can be passed any")
    func refusesDescriptors() throws {
        let listener = try UnixSocket.listen(at: path)
        defer { unlink(path) }
        let caller = try UnixSocket.connect(to: path)
        let other = try UnixSocket.connect(to: path, as: nil)
        guard let accepted = try UnixSocket.accept(on: listener) else {
            Issue.record("the connection was not there")
            return
        }
        for end in [caller.raw, other.raw, accepted.raw] {
            var (passes, size) = (Int32(1), socklen_t(MemoryLayout<Int32>.size))
            let isKnown = getsockopt(end, SOL_SOCKET, Self.passesRights, &passes, &size) == 0
            #expect(!isKnown || passes == 0)
        }
    }

    /// SO_PASSRIGHTS, of Linux 6.16.
    private static let passesRights: Int32 = 83

    @Test("the lock of the single instance is held by one process, which is named, and free again when that is killed")
    func lockFile() throws {
        let script =
            "import fcntl, time\nf = open('\(path)', 'w')\nfcntl.lockf(f, fcntl.LOCK_EX)\nprint('locked', flush=True)\ntime.sleep(99)"
        let holder = try ChildProcess.spawn(python(script), into: .processGroup(ProcessGroup()))
        try holder.container.thaw()
        #expect(try readLine(holder.output) == "locked")
        #expect {
            _ = try LockFile(at: path)
        } throws: { error in
            "\(error)".contains("process \(holder.pid) holds it")
        }
        try holder.container.kill()
        #expect(try waitForEnd(of: holder) == .signalled(SIGKILL))
        let lock = try LockFile(at: path)
        _ = consume lock
        unlink(path)
    }

    @Test("an account is found with its groups, and one that is not there is named")
    func accounts() throws {
        let root = try Account(named: "root")
        #expect(root.user == 0 && root.groups.contains(0))
        #expect(try Account(named: "nobody", group: "daemon").joining(["tty", "daemon"]).groups == [1, 5])
        #expect(
            try Account.groups(of: "root", primary: 0, room: 0) == Account.groups(of: "root", primary: 0),
            "more than there was room for at first")
        #expect {
            _ = try Account(named: "no-such-user")
        } throws: { error in
            "\(error)".hasPrefix("could not look up user \"no-such-user\"")
        }
    }

    @Test("memory is told by a trigger where the kernel keeps pressure figures, and by a figure everywhere")
    func memory() throws {
        #expect(try MemoryPressure.memory().available > 1 << 20)
        let hasFigures = File.exists("/proc/pressure/memory") && geteuid() == 0
        let trigger = MemoryPressure.trigger()?.raw
        #expect((trigger != nil) == hasFigures)
    }

    @Test("this boot has a name, and its clocks go forward")
    func clocks() {
        #expect(SystemClock.bootID.count == 36)
        let first = SystemClock.now()
        let second = SystemClock.now()
        #expect(second.monotonic >= first.monotonic && second.boottime >= first.boottime)
        #expect(first.boottime >= first.monotonic)
        #expect(SystemClock.wall().microseconds > 1_600_000_000_000_000)
    }

    @Test("a program is found along the path, or said to be missing")
    func executables() throws {
        #expect(try Executable.find("sh", path: "/nowhere:/bin") == "/bin/sh")
        #expect(try Executable.find("./x") == "./x")
        #expect(throws: SystemError.self) { try Executable.find("no-such-program") }
    }
}
