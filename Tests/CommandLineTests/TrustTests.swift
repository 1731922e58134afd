// Whose files and directories root's tool and daemon use: not another user's, unless the program itself is that user's.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("Root beside files and directories of other users", .enabled(if: Machine.isRoot, "to make files of other users"))
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
        let make = "cp '\(Built.tool)' \(tool) && chown \(owner) \(tool) && chown nobody \(file)"
        let made = try Child(["sh", "-c", make])
        #expect(made.finish().exit == 0)
        let outcome = try Child([tool, "replay", "\(folder)/none.trace", "--manifest", file]).finish()
        #expect((outcome.exit == 0) == isRead, "\(outcome)")
        #expect(outcome.talk.contains("it belongs to nobody; run 'chown root \(file)'") != isRead, "\(outcome)")
    }

    /// Where a handler that `wakebridge replay` runs has its directory, with these directories of `owner` in the environment,
    /// and with nothing else in memory where `isPoor`.
    private func place(owner: String, mode: String = "755", isPoor: Bool = false) throws -> String {
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0 1 connect
            end

            """, at: "\(folder)/strap.trace")
        let place = "echo \"$WAKEBRIDGE_STATE_DIR\" > \(folder)/place"
        put(
            "#!/bin/sh\n\(place)\nread line\necho '{\"ack\":1}' >&3\ncat > /dev/null\n", at: "\(folder)/handler",
            mode: 0o755)
        let poor = "mount -t tmpfs -o ro tmpfs /run && mount -t tmpfs -o ro tmpfs /dev/shm"
        let script = """
            mount -t tmpfs -o mode=755 tmpfs /mnt && mkdir -m \(mode) /mnt/it && chown \(owner) /mnt/it
            \(isPoor ? poor : "true") && exec "$@"
            """
        let words = ["XDG_RUNTIME_DIR=/mnt/it", "TMPDIR=/mnt/it", Built.tool, "replay", "\(folder)/strap.trace"]
        let tool = ["unshare", "--mount", "sh", "-c", script, "sh", "env"] + words
        let outcome = try Child(tool + ["--speed", "max", "--", "\(folder)/handler"]).finish()
        #expect(!text(of: "\(folder)/place").isEmpty, "\(outcome)")
        return text(of: "\(folder)/place")
    }

    @Test(
        "root makes its temporary directory in one that the environment names only where no other user can change that",
        .enabled(if: Machine.makesNamespaces))
    func temporaryPlaces() throws {
        #expect(try place(owner: "root").hasPrefix("/mnt/it/"))
        for isPoor in [false, true] {
            #expect(try !place(owner: "nobody", isPoor: isPoor).hasPrefix("/mnt/"))
            #expect(try !place(owner: "root", mode: "777", isPoor: isPoor).hasPrefix("/mnt/"))
        }
        // No runtime directory of one's own, but as good as /tmp.
        #expect(try !place(owner: "root", mode: "1777").hasPrefix("/mnt/"))
        #expect(try place(owner: "root", mode: "1777", isPoor: true).hasPrefix("/mnt/it/"))
    }

    @Test(
        "a daemon of root does not start in a directory of another user, nor below one that all may write to",
        arguments: ["state", "runtime", "config"])
    func daemonPlaces(option: String) throws {
        for (make, whose) in [
            ("chown nobody", "belongs to nobody; run 'chown root"), ("chmod 777", "every user may write to"),
        ] {
            let (other, own) = ("\(folder)/other-\(make.prefix(5))", "\(folder)/own")
            #expect(try Child(["sh", "-c", "mkdir -p \(other) \(own) && \(make) \(other)"]).finish().exit == 0)
            let words = ["state", "runtime", "config"].flatMap { ["--\($0)", ($0 == option ? other : own) + "/\($0)"] }
            let daemon = try Child([Built.daemon] + words).finish(within: 20)
            #expect(daemon.exit == 1, "\(daemon)")
            #expect(daemon.talk.contains("could not use \(other)/\(option): Operation not permitted"), "\(daemon)")
            #expect(daemon.talk.contains("\(other) \(whose)") || daemon.talk.contains("\(whose) \(other)"), "\(daemon)")
        }
    }
}
