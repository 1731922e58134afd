// Which user a handler has that root starts from a terminal: the one that called sudo, unless told otherwise.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("The user of a handler at the terminal", .enabled(if: Machine.isRoot, "only root can run handlers as others"))
final class HandlerUserTests {
    private let folder: String

    init() {
        folder = makeDirectory("/tmp/wakehandleruser.XXXXXX")
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0 1 connect
            end

            """, at: folder + "/strap.trace")
        put(
            """
            echo "user $(id -u) groups $(id -G) in $(pwd)"
            touch "$WAKEBRIDGE_STATE_DIR/proof" && echo "writes"
            while IFS= read -r line; do
                case $line in *'"seq":'*) ;; *) continue ;; esac
                seq=${line#*'"seq":'}; echo "{\\"ack\\":${seq%%,*}}" >&3
            done
            """, at: folder + "/look.sh")
        manifest("hr", "")
    }

    deinit { Directory.removeTree(folder) }

    private func manifest(_ id: String, _ more: String) {
        put(
            """
            { exec: ["/bin/false"], modes: ["bluetooth-central"], watch: [{ profile: "heart-rate-monitor" }], \(more) }
            """, at: "\(folder)/\(id).json5")
    }

    /// In the test's own folder, which every user may enter.
    private func tool(sudo: String? = nil, _ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        let caller = sudo.map { ["SUDO_UID=\($0)"] } ?? ["-u", "SUDO_UID"]
        return try Child(["env", "-C", folder] + caller + [Built.tool] + words + ["--", "/bin/sh", "look.sh"]).finish()
    }

    private func seen(_ user: Int, _ groups: Int) -> String { "user \(user) groups \(groups) in \(folder)\nwrites\n" }

    @Test(
        "under sudo, replay and run start the handler as the user that called it, with its own group alone, and say so",
        arguments: [
            ["replay", "strap.trace", "--speed", "max"], ["run", "--replay", "strap.trace", "--speed", "max"],
        ])
    func sudo(words: [String]) throws {
        let outcome = try Child(
            ["env", "-C", folder, "SUDO_UID=1", Built.tool] + words + ["--", "/bin/sh", "look.sh"]
        ).finish()
        #expect(outcome.exit == 0 && outcome.output == seen(1, 1), "\(outcome)")
        let notice = "the handler runs as daemon, the user that called sudo; with --user root it runs as root\n"
        #expect(outcome.talk.hasPrefix(notice), "\(outcome.talk)")
    }

    @Test("root without sudo, and root that called sudo, stay root and are told nothing", arguments: [nil, "", "0"])
    func root(sudo: String?) throws {
        let outcome = try tool(sudo: sudo, "replay", "strap.trace", "--speed", "max")
        #expect(outcome.exit == 0 && outcome.output.hasPrefix("user 0 groups"), "\(outcome)")
        #expect(!outcome.talk.contains("the handler runs as"))
    }

    @Test("a manifest's user goes before sudo's, and --user before both, without the manifest's groups")
    func order() throws {
        manifest("named", "user: \"nobody\", groups: [\"tty\"]")
        manifest("own", "user: \"auto\"")
        let words = ["replay", "strap.trace", "--speed", "max"]
        func output(_ more: String...) throws -> String {
            let all = ["env", "-C", folder, "SUDO_UID=1", Built.tool] + words + more
            return try Child(all + ["--", "/bin/sh", "look.sh"]).finish().output
        }
        #expect(try output("--manifest", "hr.json5") == seen(1, 1))
        #expect(try output("--manifest", "named.json5").hasPrefix("user 65534 groups 65534 5 in"))
        #expect(try output("--manifest", "named.json5", "--user", "daemon") == seen(1, 1))
        #expect(try output("--manifest", "named.json5", "--user", "root").hasPrefix("user 0 "))
        let own = try output("--manifest", "own.json5").split(separator: " ")
        #expect((61_184...65_519).contains(Int(own[1]) ?? 0) && own[1] == own[3], "\(own)")
    }

    @Test("a user that is not there, and what sudo never says, are refused with what to do")
    func refused() throws {
        let wrong = try tool("replay", "strap.trace", "--user", "no-such-user")
        #expect(wrong.exit == 1)
        #expect(wrong.talk.contains("--user is \"no-such-user\", which this machine does not have; correct the name"))
        for text in ["-1", "4294967295", "1x", "+1", "61000"] {
            let outcome = try tool(sudo: text, "replay", "strap.trace")
            #expect(outcome.exit == 1 && outcome.output == "", "\(outcome)")
            #expect(
                outcome.talk.contains("SUDO_UID is \"\(text)\", which is no user of this machine; name one with --user")
            )
        }
        manifest("lost", "user: \"no-such-user\"")
        let lost = try tool("replay", "strap.trace", "--manifest", "lost.json5")
        #expect(
            lost.exit == 1 && lost.talk.contains("lost.json5: user is \"no-such-user\", which this machine"), "\(lost)")
        let idle = try Child([Built.tool, "replay", folder + "/strap.trace", "--user", "daemon"]).finish()
        #expect(idle.exit == 2 && idle.talk.contains("--user goes with a HANDLER or --manifest only"), "\(idle)")
    }

    @Test("an ordinary user names no other, and a manifest that does is refused")
    func ordinary() throws {
        let ordinary = ["setpriv", "--reuid=1", "--regid=1", "--clear-groups", "env", "-C", folder, "HOME=\(folder)"]
        let replay = ordinary + [Built.tool, "replay", "strap.trace", "--speed", "max"]
        let program = ["--", "/bin/sh", "look.sh"]
        let other = try Child(replay + ["--user", "nobody"] + program).finish()
        #expect(
            other.exit == 1 && other.talk.contains("only root can run a handler as another; leave it out, or use sudo"))
        manifest("own", "user: \"auto\"")
        let own = try Child(replay + ["--manifest", "own.json5"] + program).finish()
        #expect(own.exit == 1 && own.talk.contains("own.json5: user is \"auto\", and only root"), "\(own)")
        let same = try Child(replay + ["--manifest", "own.json5", "--user", "daemon"] + program).finish()
        #expect(same.exit == 0 && same.output == seen(1, 1), "\(same)")
    }
}
