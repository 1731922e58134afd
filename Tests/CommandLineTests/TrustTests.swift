// Whose files the tool of root reads when it runs a handler: not another user's, unless the tool itself is that user's.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("Root's tool beside files of other users", .enabled(if: Machine.isRoot, "to make files of other users"))
final class TrustTests {
    private let folder = makeDirectory("/tmp/waketrust.XXXXXX")

    deinit { Directory.removeTree(folder) }

    @Test(
        "a manifest of another user is refused with what to do, and read where the program that reads it is that user's",
        arguments: [("root", false), ("nobody", true)])
    func manifest(owner: String, isRead: Bool) throws {
        let (file, tool) = ("\(folder)/own.json5", "\(folder)/wakebridge")
        put(
            """
            { exec: ["/bin/sh", "-c", "read line; echo '{\\"ack\\":1}' >&3; cat > /dev/null"], user: "root",
              modes: ["bluetooth-central"], watch: [{ profile: "*" }] }
            """, at: file)
        put("wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\nend\n", at: "\(folder)/none.trace")
        let made = try Child(["sh", "-c", "cp \(Built.tool) \(tool) && chown \(owner) \(tool) && chown nobody \(file)"])
        #expect(made.finish().exit == 0)
        let outcome = try Child([tool, "replay", "\(folder)/none.trace", "--manifest", file]).finish()
        #expect((outcome.exit == 0) == isRead, "\(outcome)")
        #expect(outcome.talk.contains("it belongs to nobody; run 'chown root \(file)'") != isRead, "\(outcome)")
    }
}
