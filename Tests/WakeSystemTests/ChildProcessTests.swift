// Children: born suspended, with nothing but what they are given, and gone with everything they started.
import Glibc
import TestBench
import Testing
import WakeModel

@testable import WakeSystem

@Suite(.enabled(if: hasCgroups, "cgroup v2 with write access is needed")) struct ChildProcessTests {
    @Test("a child born into a frozen leaf does nothing until it is thawed, and then finds what was written before")
    func bornFrozen() throws {
        let bench = try TestTree()
        var child = try ChildProcess.spawn(shell("read line; echo got $line"), into: bench.container())
        _ = try child.input.write(Array("hello\n".utf8))
        child.input.close()
        try outrun(by: shell("read line; echo got $line"))
        var bytes: [UInt8] = []
        #expect(try child.output.read(appendingTo: &bytes, limit: 100) == .wouldBlock)
        #expect(try child.startupOutcome() == .pending)
        #expect(try child.container.events() == LeafEvents(isPopulated: true, isFrozen: true))
        try child.container.thaw()
        #expect(try readToEnd(child.output) == "got hello\n")
        #expect(try child.startupOutcome() == .executed)
        #expect(try waitForEnd(of: child) == .exited(code: 0))
        #expect(try settles(child, populated: false) == true)
        #expect(child.container.remove() == true)
    }

    @Test("a child that will not be watched is killed before it has run, and leaves neither a process nor a leaf")
    func abandoned() async throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(shell("echo ran"), into: bench.container())
        let pid = child.pid
        child.abandon()
        // Nothing waits for its end, which may come late on a busy machine.
        let path = bench.tree.path
        let isGone = try await wait {
            try ProcessStatus(of: pid) == nil && !Directory.names(in: path).contains { $0.hasPrefix("leaf-") }
        }
        #expect(isGone)
        #expect(try readToEnd(child.output) == "")
    }

    @Test("a running child freezes, is told so, does nothing while frozen, and goes on when thawed")
    func freezes() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(
            shell("while read line; do echo $line; done"), into: bench.container())
        try child.container.thaw()
        for round in 0..<20 {
            _ = try child.input.write(Array("\(round)\n".utf8))
            #expect(try readLine(child.output) == "\(round)")
            try child.container.freeze()
            #expect(try settles(child, frozen: true) == true)
            _ = try child.input.write(Array("frozen\n".utf8))
            try outrun(by: shell("read line; echo got $line"))
            var bytes: [UInt8] = []
            #expect(try child.output.read(appendingTo: &bytes, limit: 100) == .wouldBlock)
            try child.container.thaw()
            #expect(try readLine(child.output) == "frozen")
        }
        try finish(child)
    }

    @Test("a tree in which nothing can be made at present is no reason for weaker suspension, and is swept")
    func fullTree() throws {
        let name = "wakebridge-test-full-\(getpid())"
        let earlier = try CgroupTree.open(named: name)
        let child = try ChildProcess.spawn(shell("sleep 100"), into: .cgroup(try earlier.makeLeaf(named: "leaf")))
        defer { _ = try? CgroupTree(leftAt: earlier.path)?.sweep() }
        system("echo 1 > \(earlier.path)/cgroup.max.descendants")
        #expect(throws: SystemError.self) { _ = try earlier.makeLeaf(named: "another") }
        let later = try CgroupTree.open(named: name)
        #expect(try CgroupTree.sweep(named: name) == [])
        #expect(try waitForEnd(of: child) == .signalled(9))
        #expect(!File.exists(later.path))
    }

    @Test("killing a frozen leaf empties it, grandchildren in sessions of their own included")
    func killsGrandchildren() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(
            shell("setsid sh -c 'setsid sleep 1000 & setsid sleep 1000 & echo ready; wait' & wait"),
            into: bench.container())
        try child.container.thaw()
        #expect(try readLine(child.output) == "ready")
        #expect(try Patience.wait { try child.container.processes().processes.count == 4 } == true)
        try child.container.freeze()
        #expect(try settles(child, frozen: true) == true)
        let members = try child.container.processes().processes
        try child.container.kill()
        #expect(try waitForEnd(of: child) == .signalled(SIGKILL))
        #expect(try settles(child, populated: false) == true)
        let areDead = try members.allSatisfy { pid in
            try Patience.wait { try ProcessStatus(of: pid).map { $0.state == 0x5A } ?? true }
        }
        #expect(areDead)
        #expect(Patience.wait { child.container.remove() } == true)
    }

    @Test("a program that cannot be executed is told with the stage, the path and the reason")
    func executeFails() throws {
        let bench = try TestTree()
        var request = shell("")
        request.executable = "/nowhere/handler"
        let child = try ChildProcess.spawn(request, into: bench.container())
        try child.container.thaw()
        #expect(try waitForEnd(of: child) == .exited(code: 127))
        guard case .failed(let stage, let error) = try child.startupOutcome() else {
            Issue.record("the failure was not told")
            return
        }
        #expect(stage == .execute)
        #expect(error.errno == .noEntry)
        #expect("\(error)" == "could not execute /nowhere/handler: No such file or directory (ENOENT)")
    }

    @Test("a working directory that is not there is told as such")
    func directoryFails() throws {
        let bench = try TestTree()
        var request = shell("")
        request.directory = "/nowhere"
        let child = try ChildProcess.spawn(request, into: bench.container())
        try child.container.thaw()
        _ = try waitForEnd(of: child)
        guard case .failed(.directory, let error) = try child.startupOutcome() else {
            Issue.record("the failure was not told")
            return
        }
        #expect(error.description.contains("/bin/sh (/nowhere)"))
    }

    @Test("to the startup pipe a child killed before it could execute looks executed; its exit tells")
    func killedBeforeExecute() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(shell("true"), into: bench.container())
        try child.container.kill()
        #expect(try waitForEnd(of: child) == .signalled(SIGKILL))
        #expect(try child.startupOutcome() == .executed)
    }

    @Test("a child has descriptors 0 to 3 and no other, default signals, nothing blocked, and a session of its own")
    func clean() throws {
        let bench = try TestTree()
        // What a library opened carelessly, below and above where the child keeps its startup pipe.
        let careless = [5, 300].map { fcntl(2, F_DUPFD, $0) }
        defer { for descriptor in careless { close(descriptor) } }
        let child = try ChildProcess.spawn(
            python(
                """
                import os, signal
                fds = sorted(int(f) for f in os.listdir('/proc/self/fd'))
                extra = [f for f in fds if f > 3 and os.path.exists('/proc/self/fd/%d' % f)]
                status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines() if ':' in l)
                print(fds[:4], extra, status['SigBlk'].strip(), int(status['SigIgn'], 16) & ~0x1001000,
                      os.getsid(0) == os.getpid(), oct(os.umask(0)), sorted(os.environ))
                os.write(3, b'reply')
                """), into: bench.container())
        try child.container.thaw()
        #expect(try readToEnd(child.output) == "[0, 1, 2, 3] [] 0000000000000000 0 True 0o77 ['LC_CTYPE']\n")
        #expect(try readToEnd(child.errors) == "")
        #expect(try readToEnd(child.replies) == "reply")
        #expect(try waitForEnd(of: child) == .exited(code: 0))
    }

    @Test("another user has that user's ids, that user's own group only, and can gain no privilege")
    func otherUser() throws {
        try #require(geteuid() == 0, "only root can switch users")
        let bench = try TestTree()
        var ours = [gid_t](repeating: 0, count: 64)
        let count = getgroups(64, &ours)
        setgroups(1, [54_322])
        defer { setgroups(Int(count), ours) }
        var request = shell("id -u; id -g; id -G; grep NoNewPrivs /proc/self/status")
        request.account = try Account(named: "nobody")
        let child = try ChildProcess.spawn(request, into: bench.container())
        try child.container.thaw()
        #expect(try readToEnd(child.output) == "65534\n65534\n65534\nNoNewPrivs:\t1\n")
        #expect(try waitForEnd(of: child) == .exited(code: 0))
    }

    @Test("our own user with another group has that group")
    func otherGroup() throws {
        try #require(geteuid() == 0, "only root can switch groups")
        let bench = try TestTree()
        var request = shell("id -u; id -g")
        request.account = try Account(named: "root", group: "nogroup")
        let child = try ChildProcess.spawn(request, into: bench.container())
        try child.container.thaw()
        #expect(try readToEnd(child.output) == "0\n65534\n")
        #expect(try waitForEnd(of: child) == .exited(code: 0))
    }

    @Test("the weak backend is born stopped, stops and continues, and is called weak")
    func weak() throws {
        let child = try ChildProcess.spawn(
            shell("sleep 1000 & while read line; do echo $line; done"), into: .processGroup(ProcessGroup()))
        #expect(child.container.strength == .weak)
        #expect(try settles(child, populated: true, frozen: true) == true)
        #expect(try child.startupOutcome() == .pending)
        try child.container.thaw()
        _ = try child.input.write(Array("one\n".utf8))
        #expect(try readLine(child.output) == "one")
        // A look gives up after a moment, which a busy machine may take from it.
        var members = try child.container.processes()
        while !members.isComplete { members = try child.container.processes() }
        #expect(members.processes.count == 2)
        try child.container.freeze()
        #expect(try settles(child, frozen: true) == true)
        _ = try child.input.write(Array("two\n".utf8))
        try outrun(by: shell("read line; echo got $line"))
        var bytes: [UInt8] = []
        #expect(try child.output.read(appendingTo: &bytes, limit: 10) == .wouldBlock)
        try child.container.thaw()
        #expect(try readLine(child.output) == "two")
        try child.container.kill()
        #expect(try waitForEnd(of: child) == .signalled(SIGKILL))
        #expect(try settles(child, populated: false) == true)
        #expect(child.container.remove() == true)
    }

    @Test("a child that ends by itself is reaped once, with its code")
    func reaps() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(shell("exit 75"), into: bench.container())
        #expect(try child.reap() == nil)
        try child.container.thaw()
        #expect(try waitForEnd(of: child) == .exited(code: 75))
        try child.signal(SIGTERM)
    }

    @Test("a child that is to die with the daemon carries the kernel's promise to kill it, over the switch of user")
    func diesWithDaemon() throws {
        let bench = try TestTree()
        let leaf = try bench.tree.makeLeaf(named: "tied")
        let script = """
            import ctypes, os, sys, time
            tied = ctypes.c_int()
            ctypes.CDLL(None).prctl(2, ctypes.byref(tied))
            print(tied.value, flush=True)
            """
        var request = python(script)
        request.diesWithDaemon = true
        request.account = geteuid() == 0 ? try Account(named: "nobody") : nil
        let child = try ChildProcess.spawn(request, into: .cgroup(leaf))
        try child.container.thaw()
        #expect(try readLine(child.output) == "\(SIGKILL)")
        try finish(child)
    }

    @Test("a leaf counts the processor time of what ran in it")
    func cpuUsage() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(
            shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"), into: bench.container())
        try child.container.thaw()
        _ = try waitForEnd(of: child)
        #expect(try child.container.cpuUsageMicroseconds() ?? 0 > 1_000)
    }

    @Test("a thousand children leave no descriptor, no cgroup and no zombie behind", .timeLimit(.minutes(2)))
    func thousand() throws {
        let bench = try TestTree()
        let before = try Directory.names(in: "/proc/self/fd").count
        for _ in 0..<1_000 {
            let child = try ChildProcess.spawn(shell("exit 0"), into: bench.container())
            try child.container.kill()
            #expect(try waitForEnd(of: child) == .signalled(SIGKILL))
            #expect(Patience.wait { child.container.remove() } == true)
        }
        // Other tests run beside this one; a leak would show a thousand times.
        #expect(try Directory.names(in: "/proc/self/fd").count < before + 200)
        #expect(try Directory.names(in: bench.tree.path).filter { $0.hasPrefix("leaf") }.isEmpty)
    }

    @Test("what an earlier daemon left behind is killed and removed")
    func sweeps() throws {
        let bench = try TestTree()
        let child = try ChildProcess.spawn(shell("sleep 1000 & sleep 1000"), into: bench.container())
        let other = try ChildProcess.spawn(shell("sleep 1000"), into: bench.container())
        try child.container.thaw()
        #expect(try Patience.wait { try child.container.processes().processes.count >= 2 } == true)
        let orphans = try bench.tree.sweep()
        #expect(try waitForEnd(of: child) != nil)
        #expect(try waitForEnd(of: other) != nil)
        let left = try bench.tree.sweep()
        #expect(orphans.count <= 2 && left.isEmpty, "zombies of ours keep a leaf until they are reaped")
        #expect(bench.tree.remove())
    }

    @Test("a new leaf is frozen, empty and at rest: its watch is not called until something changes")
    func fresh() throws {
        let bench = try TestTree()
        let leaf = try bench.tree.makeLeaf(named: "fresh")
        #expect(try leaf.events() == LeafEvents(isPopulated: false, isFrozen: true))
        let other = try bench.tree.makeLeaf(named: "other")
        var change = pollfd(fd: other.changesDescriptor, events: Int16(POLLPRI), revents: 0)
        #expect(Patience.wait { poll(&change, 1, 0) == 0 } == true)
        try other.thaw()
        // Asked again and again: a signal of another test may interrupt one waiting.
        #expect(Patience.wait { poll(&change, 1, 0) == 1 } == true)
    }

    @Test("a leaf whose name is taken gets another, and is not shared")
    func leavesTaken() throws {
        let bench = try TestTree()
        let leaf = try bench.tree.makeLeaf(named: "one")
        let other = try bench.tree.makeLeaf(named: "one")
        let paths = [leaf.path, other.path]
        #expect(paths == ["\(bench.tree.path)/one", "\(bench.tree.path)/one-\(getpid())"])
        #expect(leaf.remove() == true)
        #expect(other.remove() == true)
    }

    @Test(
        "a leaf goes with the cgroups that were made in it, at its end and in a sweep, and not while a process is in one"
    )
    func removesDeep() throws {
        let bench = try TestTree()
        let leaf = try bench.tree.makeLeaf(named: "deep")
        for below in ["/a", "/a/b", "/c"] { try Directory.create(leaf.path + below, mode: 0o755) }
        let child = try Child(["sleep", "60"])
        _ = try Child(["sh", "-c", "echo \(child.process) >\(leaf.path)/a/b/cgroup.procs"]).finish()
        #expect(leaf.remove() == false)
        kill(child.process, SIGKILL)
        // Frozen with its leaf, it dies all the same.
        #expect(Patience.wait { child.isOver } == true)
        #expect(Patience.wait { leaf.remove() } == true)
        let path = bench.tree.path + "/left"
        for below in ["", "/a", "/a/b"] { try Directory.create(path + below, mode: 0o755) }
        #expect(try bench.tree.sweep() == [])
        #expect(!File.exists(path))
    }

    @Test("the mount and our place are found on unified and on hybrid systems")
    func finds() {
        let hybrid = """
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
            41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw,relatime shared:9 - cgroup2 cgroup2 rw
            """
        #expect(CgroupTree.cgroup2Mount(in: hybrid)?.point == "/sys/fs/cgroup/uni fied")
        #expect(CgroupTree.cgroup2Mount(in: "31 23 0:28 / / rw - ext4 /dev/sda rw") == nil)
        #expect(CgroupTree.service(at: "/system.slice/a.service/.control") == "/system.slice/a.service")
        #expect(CgroupTree.service(at: "/system.slice/a.service") == "/system.slice/a.service")
        #expect(CgroupTree.service(at: "/system.slice/a.service/wakebridge-daemon") == "/system.slice/a.service")
        #expect(CgroupTree.service(at: "/wakebridge-daemon") == "/")
        #expect(CgroupTree.unifiedPath(in: "4:memory:/x\n0::/system.slice/a.service\n") == "/system.slice/a.service")
    }
}
