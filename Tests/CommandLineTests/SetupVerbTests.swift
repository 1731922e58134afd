// Setting up at a terminal and in a script, with programs in place of those that would change the machine.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Setting up", .serialized, .enabled(if: Machine.isRoot, "only root sets up"))
final class SetupVerbTests {
    private let folder = makeDirectory("/tmp/wakesetup.XXXXXX")

    deinit { Directory.removeTree(folder) }

    /// The words of the tool as they are called: without a message bus, and with no program of the machine's in reach.
    private func words(_ arguments: [String], program: String) throws -> [String] {
        try Directory.create(folder + "/bin", mode: 0o755)
        for name in [
            "systemctl", "service", "apt-get", "modprobe", "rfkill", "udevadm", "tee", "groupadd", "wakebridge",
        ] {
            put("#!/bin/sh\n\(program)\n", at: "\(folder)/bin/\(name)", mode: 0o755)
        }
        let place = ["PATH=\(folder)/bin", "TERM=xterm", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(folder)/bus"]
        // A thread of the tests may have all signals blocked, and its children would have them so too.
        let unblocked =
            "import os, signal, sys; signal.pthread_sigmask(signal.SIG_SETMASK, []); os.execv(sys.argv[1], sys.argv[1:])"
        return ["/usr/bin/python3", "-c", unblocked, "/usr/bin/env", "-i"] + place + [
            Built.tool, "--runtime", folder, "setup",
        ] + arguments
    }

    private func answered(_ answers: String, _ words: [String]) throws -> (exit: Int32, output: String, talk: String) {
        let script = #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/terminal.py"
        return try Child(["/usr/bin/python3", script, answers, "0"] + words).finish(within: 60)
    }

    @Test("Ctrl-C at a question ends it, and nothing was run")
    func interruptedQuestion() throws {
        let asked = try answered(
            "[[\"[Y/n]\", \"\\u0003\"]]", try words(["--no-device"], program: "echo \"$0\" >> \(folder)/ran"))
        #expect(asked.exit == 256 - SIGINT, "\(asked)")
        #expect(asked.output.contains("run this?") && !File.exists(folder + "/ran"), "\(asked)")
    }

    @Test("Ctrl-C while a command runs ends the command and the setup")
    func interruptedCommand() throws {
        let begun = SystemClock.monotonic()
        let asked = try answered(
            "[[\"[Y/n]\", \"y\\n\"], [\"at work\", \"\\u0003\"]]",
            try words(["--no-device"], program: "echo at work; exec /bin/sleep 50"))
        #expect(asked.exit == 1 && asked.output.contains("interrupted; run"), "\(asked)")
        #expect(SystemClock.monotonic() - begun < .seconds(30))
    }

    @Test("with --json standard output is one document whatever the commands print")
    func document() throws {
        let begun = SystemClock.monotonic()
        let done = try Child(try words(["--yes", "--no-device", "--json"], program: "echo noise; exit 1")).finish(
            within: 60)
        let end = try JSONValue(parsing: done.output.utf8)
        #expect(done.exit == 1 && end["done"] == .boolean(false), "\(done)")
        #expect(end["in_the_way"]?.string?.contains("the message bus cannot be reached") == true, "\(done)")
        #expect(done.talk.contains("noise\n{\"note\":\"  the command failed"), "\(done.talk)")
        // What failed brings nothing that could be waited for.
        #expect(SystemClock.monotonic() - begun < .seconds(14))
    }

    @Test("a user that is not there is told before anything is changed")
    func user() throws {
        let words = try words(["--yes", "--user", "no-such-user"], program: "echo \"$0\" >> \(folder)/ran")
        let refused = try Child(words).finish(within: 60)
        #expect(refused.exit == 5 && refused.talk.contains("there is no user 'no-such-user'; "), "\(refused)")
        #expect(!File.exists(folder + "/ran"))
    }

    @Test("a user who is not root is told to use sudo, with exit 4")
    func ordinary() throws {
        let refused = try Child(
            ["setpriv", "--reuid=1", "--regid=1", "--clear-groups", Built.tool, "setup", "--yes", "--json"]
        ).finish()
        let error = try JSONValue(parsing: refused.talk.utf8)["error"]
        #expect(refused.exit == 4 && error?["code"] == .string("not-permitted"), "\(refused)")
        #expect(error?["advice"] == .string("run 'sudo wakebridge setup'"), "\(refused)")
    }
}
