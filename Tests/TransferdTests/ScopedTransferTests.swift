// Where systemd runs, transferd is asked for in a scope of its own, which no restart of the daemon's unit ends.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

/// The daemon finds a systemd that is not there, and a `systemd-run` that is a script of the test's.
@Suite(
    "Transfers beside systemd", .serialized,
    .enabled(if: Machine.makesNamespaces, "needs to mount a /run of its own, as root"), .timeLimit(.minutes(4)))
struct ScopedTransferTests {
    /// - Parameter answer: what `systemd-run` does after it has written down its words.
    private func moved(_ answer: String) throws -> (room: TransferRoom, words: String) {
        let room = try TransferRoom()
        let script = "#!/bin/sh\necho \"$*\" >>'\(room.folder)/words'\n\(answer)\n"
        try Directory.create("\(room.folder)/bin", mode: 0o755)
        try File.replace("\(room.folder)/bin/systemd-run", with: Array(script.utf8), mode: 0o755)
        room.environment = "INVOCATION_ID=1"
        // Where the daemon looks first; its own PATH does not count.
        let bind = "mount --bind '\(room.folder)/bin' /usr/local/bin"
        let run = "mount -t tmpfs tmpfs /run && \(bind) && mkdir -p /run/systemd/system && exec \"$@\""
        room.wrapper = ["unshare", "--mount", "sh", "-c", run, "sh"]
        try room.start()
        try room.order([room.download("1", "/plain/1")])
        try #require(Patience.wait { room.told("transfer.settled").count == 1 }, "\(room.log)")
        #expect(try room.file("1") == room.source("/plain/1"))
        return (room, text(of: "\(room.folder)/words"))
    }

    @Test("a unit of systemd's has its transferd in a scope of its own, with limits of memory and processes")
    func scoped() throws {
        let words = try moved("while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"").words
        #expect(words.hasPrefix("--scope --quiet --collect "), "\(words)")
        for word in [" --unit=wakebridge-transferd-0-", " -p MemoryMax=256M ", " -p TasksMax=64 "] {
            #expect(words.contains(word), "\(words)")
        }
        #expect(words.contains(" -- /") && words.contains("/wakebridge-transferd"), "\(words)")
        #expect(words.split(separator: "\n").count == 1)
    }

    @Test("a systemd that does not answer is waited for no longer than ten seconds, and files move then")
    func hanging() throws {
        let (room, words) = try moved("exec sleep 600")
        var facts = stat()
        #expect(!words.isEmpty && stat("\(room.folder)/words", &facts) == 0)
        #expect(time(nil) - facts.st_mtim.tv_sec < 45, "ten seconds, beside what a start takes")
    }

    @Test("where systemd gives no scope, files move all the same")
    func refused() throws { #expect(try !moved("exit 1").words.isEmpty) }
}
