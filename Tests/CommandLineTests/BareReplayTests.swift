// A replay to a program without a manifest, or with one that is disabled: its modules, and what the person reads at the end.
import Glibc
import TestBench
import Testing
import WakeSystem

@testable import wakebridge

@Suite("A replay to a program of one's own") final class BareReplayTests {
    private let folder = makeDirectory("/tmp/wakebare.XXXXXX")

    init() {
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 alias="strap" service=180d
            +0 1 connect
            +1 1 data 2a37 0048
            end

            """, at: folder + "/strap.trace")
    }

    deinit { Directory.removeTree(folder) }

    private func replay(_ words: String..., variables: [String] = []) throws -> (
        exit: Int32, output: String, talk: String
    ) {
        let call = ["env", "-C", folder] + variables + [Built.tool, "replay", "strap.trace", "--speed", "max"]
        return try Child(call + words).finish(within: 60)
    }

    private func script(_ name: String, _ text: String) { put(text, at: "\(folder)/\(name)", mode: 0o755) }

    private static let acknowledging = """
        while IFS= read -r line; do
            case $line in *'"seq":'*) seq=${line#*'"seq":'}; echo "{\\"ack\\":${seq%%,*}}" >&3 ;; esac
        done

        """

    @Test("a program in Python without a manifest finds the module of handlers, and the modules of the caller's shell")
    func module() throws {
        try Directory.create(folder + "/own", mode: 0o755)
        put("NAME = 'mine'\n", at: folder + "/own/shelf.py")
        script("hr.py", "#!/usr/bin/env python3\nimport shelf, wakehandler\nprint(shelf.NAME, wakehandler.__file__)\n")
        script("hr.sh", "#!/bin/sh\npython3 -B hr.py\n" + Self.acknowledging)
        let played = try replay("--", "./hr.sh", variables: ["PYTHONPATH=\(folder)/own"])
        #expect(played.exit == 0, "\(played)")
        #expect(played.output == "mine \(packageFolder)/Packages/python/wakehandler/__init__.py\n", "\(played)")
    }

    @Test("a replay whose handler failed ends with its last line on stderr")
    func failure() throws {
        script("hr.sh", "#!/bin/sh\necho early >&2\necho 'no module named \u{1b}[2J' >&2\nread -r line\nexit 1\n")
        put(
            """
            { modes: ["bluetooth-central"], watch: [{ profile: "heart-rate-monitor" }], timers: { failure_base: "100ms" } }
            """, at: folder + "/hr.json5")
        let named = try replay("--manifest", "hr.json5", "--", "./hr.sh")
        let line = "the handler's last line on stderr: no module named \u{fffd}[2J\n"
        #expect(named.exit == 1 && named.talk.contains(line) && !named.talk.contains("--manifest"), "\(named)")
    }

    @Test("the end of a failed replay names --manifest if there was none")
    func hint() {
        #expect(FailureHints(lastLine: nil, hasManifest: true).sentences == [])
        let hints = FailureHints(lastLine: "no module", hasManifest: false).sentences
        #expect(hints.first == "the handler's last line on stderr: no module" && hints.count == 2)
        #expect(hints.last?.contains("name one with --manifest FILE") == true)
    }

    @Test("a manifest that is disabled is played because a person named it, and a note says so first")
    func disabled() throws {
        script("hr.sh", "#!/bin/sh\n" + Self.acknowledging)
        let manifest =
            "{ exec: [\"./hr.sh\"], enabled: false, modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }] }"
        put(manifest, at: folder + "/hr.json5")
        let played = try replay("--manifest", "hr.json5")
        let note = "hr.json5 has enabled: false, so a daemon never wakes it; it runs now because you named it\n"
        #expect(played.exit == 0 && played.talk.contains(note), "\(played)")
        #expect(played.talk.contains("2 events, 2 acknowledged"), "\(played)")
    }

    @Test("a handler that answers nothing is reported before its budget ends, with how to acknowledge")
    func silence() throws {
        script("hr.sh", "#!/bin/sh\ncat >/dev/null\n")
        put(
            "{ budget: \"1s\", modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }] }",
            at: folder + "/hr.json5")
        let child = try Child([
            "env", "-C", folder, Built.tool, "replay", "strap.trace", "--speed", "max", "--manifest", "hr.json5", "--",
            "./hr.sh",
        ])
        #expect(Patience.wait(.seconds(60)) { child.isOver || child.talk.contains("strike 1") })
        kill(child.process, SIGINT)
        let talk = child.finish().talk
        let hint = try #require(talk.firstRange(of: "the handler has acknowledged none of "), "\(talk)")
        let strike = try #require(talk.firstRange(of: "strike 1"), "\(talk)")
        #expect(
            hint.lowerBound < strike.lowerBound && talk.contains("it writes {\"ack\":SEQ} to descriptor 3"), "\(talk)")
    }
}
