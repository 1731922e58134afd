// A daemon that ends by itself writes why, also where it can open nothing, has no standard stream, or dies of a signal.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The last sentence of a daemon", .serialized)
struct LastSentenceTests {
    private func words(_ daemon: RunningDaemon) -> [String] {
        [Built.daemon, "--config", daemon.configuration, "--state", daemon.state, "--runtime", daemon.runtime]
    }

    private func launch(_ script: String, _ words: [String]) throws -> Child {
        try Child(["env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent/bus", "sh", "-c", script] + words)
    }

    @Test("with any number of files that it may open, a daemon runs, or ends with one sentence that names the lack")
    func descriptors() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("strap", manifest("\(daemon.folder)/diary.py"))
        let shim = "\(daemon.folder)/files.so"
        try #require(compile("Break/files.c", ["-shared", "-fPIC"], to: shim))
        for count in 0...64 {
            let start = "LD_PRELOAD='\(shim)' OPEN_FILES=\(count) exec \"$0\" \"$@\""
            let child = try launch(start, words(daemon))
            try #require(daemon.wait { child.isOver || child.talk.contains("ready: ") }, "\(count): \(child.talk)")
            if child.isOver {
                expectReason(child, "\(count): \(child.talk)")
            } else {
                #expect(child.talk.contains("handler strap is configured"), "\(count): \(child.talk)")
                kill(child.process, SIGTERM)
                #expect(child.finish(within: 60).exit == 0, "\(count): \(child.talk)")
            }
        }
    }

    /// The last line alone names the lack: a daemon that cannot read all of its configuration does not go on without a part.
    private func expectReason(_ child: Child, _ comment: Comment) {
        let lines = child.talk.split(separator: "\n")
        let reasons = lines.filter { $0.contains("EMFILE") || $0.contains("no more files may be opened") }
        #expect(child.exit == 1, comment)
        #expect(reasons.count == 1 && reasons.last == lines.last, comment)
        #expect(reasons.last?.hasPrefix("wakebridged: cannot start: ") == true, comment)
    }

    @Test(
        "a daemon without standard streams runs, and its log gets into none of its files",
        arguments: ["2>&-", "<&- >&- 2>&-"])
    func closedStreams(closing: String) throws {
        let daemon = try RunningDaemon()
        let child = try launch("exec \"$0\" \"$@\" \(closing)", words(daemon))
        #expect(try daemon.wait { try child.isOver || daemon.tool("status").exit == 0 })
        #expect(try File.linkTarget(of: "/proc/\(child.process)/fd/2") == "/dev/null")
        #expect(text(of: "\(daemon.runtime)/wakebridged.lock") == "")
        kill(child.process, SIGTERM)
        #expect(child.finish(within: 60).exit == 0)
    }

    @Test("where an answer or a refusal cannot be written, the exit status reports it, and no trap ends the daemon")
    func unwritable() throws {
        for place in [">&-", ">/dev/full"] {
            let unanswered = try launch("exec \"$0\" --version \(place)", [Built.daemon]).finish()
            #expect(unanswered.exit == 1, "\(unanswered)")
            #expect(unanswered.talk.hasPrefix("wakebridged: could not write standard output: "), "\(unanswered)")
        }
        #expect(try launch("exec \"$0\" --nonsense 2>&-", [Built.daemon]).finish().exit == 2)
    }

    @Test("a daemon that a fatal signal ends names it, and dies of it")
    func signals() throws {
        let daemon = try RunningDaemon()
        // Backtraces of Swift's runtime, where it is set to print them, would come in place of the sentence.
        daemon.wrapper = ["env", "SWIFT_BACKTRACE=enable=no"]
        let fatal = [
            "ABRT": SIGABRT, "BUS": SIGBUS, "FPE": SIGFPE, "ILL": SIGILL, "SEGV": SIGSEGV, "SYS": SIGSYS,
            "TRAP": SIGTRAP,
        ]
        for (name, number) in fatal {
            try daemon.startUnasked()
            let mark = daemon.log.utf8.count
            #expect(try daemon.stop(number) == -number)
            let last = daemon.log(after: mark).split(separator: "\n").last ?? ""
            #expect(last.hasPrefix("wakebridged: ended by SIG\(name): "), "\(daemon.log)")
        }
        // The next start removes what the last death left behind.
        try daemon.start()
        #expect(try daemon.stop() == 0)
    }
}
