// Handlers that have a user each under a real daemon: what one can do to another, and what stays over changes.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Handlers with a user each", .serialized, .enabled(if: geteuid() == 0, "only root can run handlers as others"))
struct OwnUserTests {
    private func manifest(_ exec: [String], user: String, _ more: String = "") -> String {
        """
        { exec: [\(exec.map { "\"\($0)\"" }.joined(separator: ", "))], user: "\(user)", modes: ["bluetooth-central"],
          watch: [{ profile: "heart-rate-monitor" }], \(more) }
        """
    }

    private let victim = """
        import os, sys
        open(os.environ["WAKEBRIDGE_STATE_DIR"] + "/secret", "w").write("secret")
        for line in sys.stdin:
            pass

        """

    /// Says what of all that succeeds.
    private let attacker = """
        import ctypes, os, sys
        call = ctypes.CDLL(None, use_errno=True).syscall
        def descriptor(pid):
            if call(438, call(434, pid, 0), 0, 0) < 0:
                raise OSError(ctypes.get_errno(), "pidfd_getfd")
        for line in sys.stdin:
            if not os.path.exists(sys.argv[1]):
                continue
            pid, state = open(sys.argv[1]).read().split()
            pid, done = int(pid), ["tried"]
            for name, attack in [
                ("state", lambda: open(state + "/secret").read()),
                ("signal", lambda: os.kill(pid, 0)),
                ("memory", lambda: open("/proc/%d/mem" % pid, "rb").close()),
                ("descriptor", lambda: descriptor(pid)),
            ]:
                try:
                    attack()
                    done.append(name)
                except OSError:
                    pass
            draft = os.environ["WAKEBRIDGE_STATE_DIR"] + "/draft"
            open(draft, "w").write(" ".join(done))
            os.rename(draft, os.environ["WAKEBRIDGE_STATE_DIR"] + "/done")

        """

    /// What one of two handlers of such users succeeds in doing to the other.
    private func attack(user: String) throws -> String {
        let daemon = try RunningDaemon.withStrap()
        try daemon.write(victim, to: "victim.py")
        try daemon.write(attacker, to: "attacker.py")
        let target = daemon.folder + "/target"
        let quick = "ack: \"delivery\""
        try daemon.drop("victim", manifest(["/usr/bin/python3", daemon.folder + "/victim.py"], user: user, quick))
        try daemon.drop(
            "attacker", manifest(["/usr/bin/python3", daemon.folder + "/attacker.py", target], user: user, quick))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        let state = "\(daemon.state)/handlers"
        try #require(daemon.wait { text(of: "\(state)/victim/secret") == "secret" }, "\(daemon.log)")
        let pid = try #require(try daemon.handler("victim")["pid"]?.integer)
        try daemon.write("\(pid) \(state)/victim", to: "target")
        try daemon.tool("simulate", "disconnect", "strap")
        try #require(daemon.wait { File.exists("\(state)/attacker/done") }, "\(daemon.log)")
        #expect(isAlive(Int32(pid)))
        return text(of: "\(state)/attacker/done")
    }

    @Test(
        "handlers with user \"auto\" cannot read each other's state or memory, signal each other, or take a descriptor")
    func apart() throws { #expect(try attack(user: "auto") == "tried") }

    @Test("handlers of one user can, so what keeps the others apart is their users")
    func together() throws {
        let scope = text(of: "/proc/sys/kernel/yama/ptrace_scope").prefix { $0.isNumber }
        let isTraced = scope.isEmpty || scope == "0"
        #expect(
            try attack(user: "nobody") == (isTraced ? "tried state signal memory descriptor" : "tried state signal"))
    }

    private let witness = """
        import os, socket, sys
        home = os.environ["WAKEBRIDGE_STATE_DIR"]
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notices.sendto(b"READY=1\\nSTATUS=watching", os.environ["NOTIFY_SOCKET"])
        assert home == os.environ["HOME"] == os.getcwd() and os.environ["USER"] == os.environ["LOGNAME"] == "wb-witness"
        for line in sys.stdin:
            open(home + "/lives", "a").write("%d %d %s\\n" % (os.getuid(), os.getgid(), os.getgroups()))

        """

    @Test("it keeps its number and its files over a restart, and is heard at its NOTIFY_SOCKET")
    func kept() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.write(witness, to: "witness.py")
        let settings = "notify: true, ready: \"explicit\", ack: \"delivery\""
        try daemon.drop(
            "witness", manifest(["/usr/bin/python3", daemon.folder + "/witness.py"], user: "auto", settings))
        let lives = "\(daemon.state)/handlers/witness/lives"
        for _ in 1...2 {
            let before = lines(of: lives).count
            try daemon.start("--replay", "\(daemon.folder)/strap.trace")
            try daemon.tool("simulate", "disconnect", "strap")
            try #require(daemon.wait { lines(of: lives).count > before }, "\(daemon.log)")
            #expect(try daemon.wait { try daemon.tool("status").output.contains("it says: watching") })
            try daemon.stop()
        }
        let user = try #require(File.owner(of: lives))
        #expect((61_184...65_519).contains(user))
        #expect(Set(lines(of: lives)) == ["\(user) \(user) [\(user)]"])
    }

    @Test("what it wrote as another user is its own when user becomes \"auto\", but for a hard link to root's file")
    func handedOver() throws {
        let daemon = try RunningDaemon.withStrap()
        let exec = ["/bin/sh", "-c", "mkdir -p deep && id -u >>deep/lives && cat >/dev/null"]
        try daemon.drop("log", manifest(exec, user: "nobody", "ack: \"delivery\""))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        let lives = "\(daemon.state)/handlers/log/deep/lives"
        try #require(daemon.wait { lines(of: lives) == ["65534"] }, "\(daemon.log)")
        try daemon.write("root's", to: "secret")
        #expect(link(daemon.folder + "/secret", "\(daemon.state)/handlers/log/planted") == 0)

        try daemon.drop("log", manifest(exec, user: "auto", "ack: \"delivery\""))
        try #require(daemon.wait { (try? daemon.state(of: "log")) == "idle" }, "\(daemon.log)")
        try daemon.tool("simulate", "disconnect", "strap")
        try #require(daemon.wait { lines(of: lives).count == 2 }, "\(daemon.log)")
        let user = try #require(File.owner(of: "\(daemon.state)/handlers/log"))
        #expect(lines(of: lives) == ["65534", "\(user)"] && File.owner(of: lives) == user)
        #expect(File.owner(of: daemon.folder + "/secret") == 0)
        #expect(daemon.log.contains("2 files of user 65534 now belong to user \(user)"), "\(daemon.log)")
    }

    @Test("two manifests of one user are taken, and told by reload, the doctor, and once in the log")
    func shared() throws {
        let daemon = try RunningDaemon.withStrap()
        for id in ["first", "second"] { try daemon.drop(id, manifest(["/bin/cat"], user: "nobody")) }
        try daemon.drop("apart", manifest(["/bin/cat"], user: "auto"))
        try daemon.start()
        let warning =
            "handlers \"first\" and \"second\" run as one user, nobody: each can read the other's memory and state, "
            + "and answer in its name; write user: \"auto\" in their manifests"
        for _ in 1...2 {
            let reload = try daemon.tool("reload")
            #expect(reload.exit == 0 && reload.talk == "warning: \(warning)\n", "\(reload)")
        }
        #expect(daemon.log.split(separator: "\n").count { $0.hasSuffix(warning) } == 1, "\(daemon.log)")
        let findings = try daemon.json("doctor")["findings"]?.array ?? []
        #expect(findings.contains { $0["code"]?.string == "handler-rights" })

        try daemon.drop("second", manifest(["/bin/cat"], user: "auto"))
        #expect(try daemon.tool("reload").talk == "")
        try daemon.drop("second", manifest(["/bin/cat"], user: "root"))
        try daemon.drop("third", manifest(["/bin/cat"], user: "nobody"))
        try daemon.drop("fourth", manifest(["/bin/cat"], user: "nobody"))
        #expect(try daemon.tool("reload").talk.contains("\"first\", \"fourth\" and \"third\" run as one user, nobody"))
    }

    @Test("a handler has its user's own group and those that its manifest names, whatever the data base says")
    func groups() throws {
        let daemon = try RunningDaemon.withStrap()
        let groups = daemon.folder + "/group"
        // In a mount namespace of the daemon's own: the machine's users join nothing.
        put(text(of: "/etc/group") + "wakestrong:x:65531:nobody\n", at: groups)
        daemon.wrapper = ["unshare", "-m", "sh", "-c", "mount --bind '\(groups)' /etc/group && exec \"$@\"", "sh"]
        let exec = ["/bin/sh", "-c", "id -G >groups && cat >/dev/null"]
        try daemon.drop("plain", manifest(exec, user: "nobody"))
        try daemon.drop("named", manifest(exec, user: "daemon", "groups: [\"tty\", \"wakestrong\"]"))
        try daemon.drop("own", manifest(exec, user: "auto", "groups: [\"disk\"]"))
        try daemon.drop("wrong", manifest(exec, user: "auto", "groups: [\"no-such-group\"]"))
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        func has(_ id: String, _ wanted: String) -> Bool {
            daemon.wait { lines(of: "\(daemon.state)/handlers/\(id)/groups") == [wanted] }
        }
        #expect(has("plain", "65534") && has("named", "1 5 65531"), "\(daemon.log)")
        let own = try #require(File.owner(of: "\(daemon.state)/handlers/own"))
        #expect(has("own", "\(own) 6"), "\(daemon.log)")
        let reload = try daemon.tool("reload")
        #expect(
            reload.exit == 1 && reload.talk.contains("wrong.json5: line 2: groups names \"no-such-group\", which this"))
        #expect(
            reload.talk.contains(
                "warning: handler \"own\" is in the group disk: what it runs can become root, or read what is root's; ")
        )
        #expect(!reload.talk.contains("handler \"named\""), "tty is no such group")
    }

    @Test("a group beside user \"auto\" is refused with what to do")
    func group() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("log", manifest(["/bin/cat"], user: "auto", "group: \"daemon\""))
        try daemon.start()
        #expect(daemon.log.contains("group does not fit user \"auto\", which has a group of its own; remove group"))
    }
}
