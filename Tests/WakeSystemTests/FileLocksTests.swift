// File locks between real processes: held, waited for by a stranger, waited for by a member, of every kind Linux has.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

/// How a Python child takes a lock on `path`, exclusively.
private enum Taking: String, CaseIterable, Sendable {
    case flock = "import fcntl; fcntl.flock(f, fcntl.LOCK_EX)"
    case posix = "import fcntl; fcntl.lockf(f, fcntl.LOCK_EX)"
    case openFile =
        "import fcntl, struct; fcntl.fcntl(f, 38, struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0))"
    case inherited =
        "import fcntl, os, sys; fcntl.flock(f, fcntl.LOCK_EX); sys.stdout.flush(); pid = os.fork(); pid and os._exit(0)"
}

@Suite(.enabled(if: hasCgroups && access("/usr/bin/python3", X_OK) == 0, "cgroup v2 and python3 are needed"))
struct FileLocksTests {
    private let path = "/tmp/wakebridge-test-lock-\(getpid())-\(Counter.shared.next())"

    private func start(_ taking: Taking, _ bench: TestTree, in path: String) throws -> ChildProcess {
        let script =
            "import time\nf = open('\(path)', 'w')\n\(taking.rawValue)\nprint('locked', flush=True)\ntime.sleep(1000)"
        let child = try ChildProcess.spawn(python(script), into: bench.container())
        try child.container.thaw()
        return child
    }

    @Test(
        "a lock without a waiter is held; one that another process waits for is blocking; a member's waiting is not",
        arguments: Taking.allCases)
    fileprivate func states(taking: Taking) throws {
        let bench = try TestTree()
        let locks = try FileLocks()
        let holder = try start(taking, bench, in: path)
        #expect(try readLine(holder.output) == "locked")
        if taking == .inherited { #expect(try waitForEnd(of: holder) == .exited(code: 0)) }
        let members = try holder.container.processes().processes
        #expect(try locks.inspect(Members(processes: members), .thorough) == .held)

        let waiter = try start(taking == .inherited ? .flock : taking, bench, in: path)
        let outside = try waiter.container.processes().processes
        var state: LockState? = .free
        _ = try Patience.wait {
            state = try locks.inspect(Members(processes: members), .thorough)
            return state == .blocking
        }
        #expect(state == .blocking)
        // A waiting OFD request names no process, so it counts as another process's.
        if taking != .openFile { #expect(try locks.inspect(Members(processes: members + outside), .thorough) == .held) }
        #expect(try locks.inspect(Members(processes: outside), .thorough) == .free)
        try finish(holder)
        try finish(waiter)
        unlink(path)
    }

    @Test(
        "a lock is seen on whichever descriptor it is, behind however many free numbers", arguments: [4, 12, 255, 900])
    func far(descriptor: Int) throws {
        let script = """
            import fcntl, os, time
            file = open('\(path)', 'w')
            os.dup2(file.fileno(), \(descriptor))
            if file.fileno() != \(descriptor): file.close()
            print('open', flush=True)
            input()
            fcntl.flock(\(descriptor), fcntl.LOCK_EX)
            print('locked', flush=True)
            time.sleep(1000)
            """
        let bench = try TestTree()
        let locks = try FileLocks()
        let child = try ChildProcess.spawn(python(script), into: bench.container())
        try child.container.thaw()
        #expect(try readLine(child.output) == "open")
        let before = try locks.inspect(Members(processes: [child.pid]), .thorough)
        #expect(before == .free)
        _ = try child.input.write(Array("\n".utf8))
        #expect(try readLine(child.output) == "locked")
        let after = try locks.inspect(Members(processes: [child.pid]), .thorough)
        #expect(after == .held)
        try finish(child)
        unlink(path)
    }

    @Test(
        "a look ends where there are more descriptors than it goes through: a brief one tells nothing, and for a thorough one a lock is held"
    )
    func exhausted() throws {
        let script = """
            import os, resource, time
            resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, 20_000))
            files = [os.open('/dev/null', os.O_RDONLY) for _ in range(19_000)]
            print('open', flush=True)
            time.sleep(1000)
            """
        let bench = try TestTree()
        let locks = try FileLocks()
        let child = try ChildProcess.spawn(python(script), into: bench.container())
        try child.container.thaw()
        #expect(try readLine(child.output) == "open")
        let begun = SystemClock.monotonic()
        #expect(try locks.inspect(Members(processes: [child.pid]), .brief) == nil)
        #expect(try locks.inspect(Members(processes: [child.pid]), .thorough) == .held)
        print("a look at 19,000 descriptors took \((SystemClock.monotonic() - begun).wholeMilliseconds) ms")
        #expect(try locks.inspect(Members(processes: [], isComplete: false), .brief) == nil)
        #expect(try locks.inspect(Members(processes: [], isComplete: false), .thorough) == .held)
        try finish(child)
    }

    @Test("an epoll that watches very much is not asked for all of it")
    func epoll() throws {
        let script = """
            import os, resource, select, time
            resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, 20_000))
            poll, (reading, _) = select.epoll(), os.pipe()
            for number in range(1_000, 19_000): poll.register(os.dup2(reading, number), 0)
            os.closerange(1_000, 19_000)
            print('watching', flush=True)
            time.sleep(1000)
            """
        let bench = try TestTree()
        let locks = try FileLocks()
        let child = try ChildProcess.spawn(python(script), into: bench.container())
        try child.container.thaw()
        #expect(try readLine(child.output) == "watching")
        #expect(try locks.inspect(Members(processes: [child.pid]), .thorough) == .free)
        try finish(child)
    }

    @Test("processes without a lock are free, whatever others lock")
    func free() throws {
        let bench = try TestTree()
        let locks = try FileLocks()
        let holder = try start(.flock, bench, in: path)
        #expect(try readLine(holder.output) == "locked")
        // Not this process, nor one with copies of its descriptors: tests beside this one may hold locks in it, and so may
        // whoever runs the tests.
        let idler = try ChildProcess.spawn(shell("echo idle; exec sleep 1000"), into: bench.container())
        try idler.container.thaw()
        #expect(try readLine(idler.output) == "idle")
        #expect(try locks.inspect(idler.container.processes(), .thorough) == .free)
        #expect(try locks.inspect(Members(processes: []), .thorough) == .free)
        try finish(idler)
        try finish(holder)
        unlink(path)
    }

    @Test("a lock that many wait for, which the kernel tells in one piece, hides no other")
    func crowded() throws {
        let script = """
            import fcntl, os, time
            files = [open(f'\(path)-{number}', 'w') for number in range(30)]
            for file in files[:15]: fcntl.flock(file, fcntl.LOCK_EX)
            for _ in range(40):
                if os.fork() == 0:
                    fcntl.flock(open('\(path)-0', 'w'), fcntl.LOCK_EX)
                    os._exit(0)
            while open('/proc/locks').read().count('->') < 40: time.sleep(0.05)
            for file in files[15:]: fcntl.flock(file, fcntl.LOCK_EX)
            print('locked', flush=True)
            time.sleep(1000)
            """
        let bench = try TestTree()
        let child = try ChildProcess.spawn(python(script), into: bench.container())
        try child.container.thaw()
        #expect(try readLine(child.output) == "locked")
        let table = try File.open("/proc/locks", for: .read)
        // These are ours alone, by the process that holds them.
        func ours() throws -> Int {
            LockTable(parsing: try table.contents()).entries.count { $0.pid == child.pid && $0.depth == 0 }
        }
        // Other processes lock and unlock while the table is read, which then lists some locks twice or not at all.
        let isTold = try (1...100).contains { _ in try ours() == 30 }
        #expect(isTold)
        try finish(child)
        for number in 0..<30 { unlink("\(path)-\(number)") }
    }

    @Test("a member that waits blocks those that wait below it, and only those")
    func nested() {
        let table = """
            1: POSIX  ADVISORY  WRITE 10 fd:01:42 0 EOF
            1: -> POSIX  ADVISORY  WRITE 20 fd:01:42 0 EOF
            1:  -> POSIX  ADVISORY  WRITE 30 fd:01:42 0 EOF
            1: -> POSIX  ADVISORY  WRITE 40 fd:01:42 0 EOF
            2: LEASE  ACTIVE    READ  50 fd:01:43 0 EOF
            nonsense
            """
        let locks = LockTable(parsing: Array(table.utf8))
        #expect(locks.entries.count == 5)
        #expect(locks.state { $0.pid == 10 } == .blocking)
        #expect(locks.state { $0.pid == 20 } == .blocking)
        #expect(locks.state { $0.pid == 30 } == .free)
        #expect(locks.state { $0.pid == 40 } == .free)
        #expect(locks.state { [10, 20, 30, 40].contains($0.pid) } == .held)
        #expect(locks.state { $0.pid == 50 } == .held)
    }
}
