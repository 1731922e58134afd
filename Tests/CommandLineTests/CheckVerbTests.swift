// check: the faults of manifests, profiles and settings with their lines, and a profile's decoding of a trace.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("Checking files") final class CheckVerbTests {
    private let folder = makeDirectory("/tmp/wakecheck.XXXXXX")

    deinit { Directory.removeTree(folder) }

    private func check(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child(["env", "-C", folder, "WAKEBRIDGE_SOCKET=/nonexistent", Built.tool, "check"] + words).finish()
    }

    /// A manifest whose first four lines are sound.
    private func manifest(_ name: String, exec: String = "/bin/cat", user: String = "daemon", _ more: String = "") {
        let user = Machine.isRoot ? "user: \"\(user)\"," : ""
        put(
            """
            {
              modes: ["bluetooth-central"], \(user)
              watch: [{ profile: "heart-rate-monitor" }],
              exec: ["\(exec)"],
              \(more)
            }
            """, at: "\(folder)/\(name)")
    }

    @Test("a sound manifest is told so, with exit 0")
    func sound() throws {
        manifest("hr.json5")
        let outcome = try check("hr.json5")
        #expect(outcome.exit == 0 && outcome.output == "hr.json5: manifest without a fault\n" && outcome.talk == "")
    }

    @Test("all faults of a manifest are told, each with its line")
    func faults() throws {
        put(
            """
            {
              exec: ["/bin/cat"],
              \(Machine.isRoot ? "user: \"auto\"," : "")
              modes: ["bluetooth-central"],
              lifecicle: "oneshot",
              watch: [
                { profile: "heart-rate-monitor" },
                {
                  profile: "heart-rate-monitor", device: "a",
                  polcy: "all",
                },
                { device: "b" },
              ],
              timers: {
                budget: 10,
              },
            }
            """, at: folder + "/hr.json5")
        let outcome = try check("hr.json5")
        let lines = outcome.output.split(separator: "\n")
        #expect(outcome.exit == 1 && lines.count == 4, "\(outcome)")
        #expect(lines[0] == "hr.json5: line 5: unknown key \"lifecicle\"; did you mean \"lifecycle\"?")
        #expect(lines[1].hasPrefix("hr.json5: line 10: unknown key \"polcy\" in watch[1]"))
        #expect(lines[2] == "hr.json5: line 12: watch[2].profile is missing")
        #expect(lines[3].hasPrefix("hr.json5: line 15: timers.budget must be a duration"))
    }

    @Test("faults of keys, modes, profile, user and script are told in one pass, in the order of their lines")
    func onePass() throws {
        put(
            """
            {
              exec: ["/bin/sh", "beats.sh"],
              user: "no-such-user-here",
              modes: ["bluetooth-centrl"],
              watch: [{ profile: "heart-rate-moniter" }],
              lifecicle: "oneshot",
            }
            """, at: folder + "/hr.json5")
        let outcome = try check("hr.json5")
        let lines = outcome.output.split(separator: "\n").map { $0.dropFirst("hr.json5: ".count) }
        let beginnings = [
            "line 2: exec names \"beats.sh\", and there is no ", "line 3: user is ", "line 4: modes[0] is ",
            "line 5: watch[0].profile is ", "line 6: unknown key ",
        ]
        #expect(outcome.exit == 1 && lines.count == beginnings.count, "\(outcome)")
        for (line, beginning) in zip(lines, beginnings) { #expect(line.hasPrefix(beginning), "\(line)") }
    }

    @Test(
        "a script that the working directory does not hold is a fault, and so is a working directory that is not there")
    func scripts() throws {
        manifest("hr.json5", exec: "/usr/bin/env\", \"python3")
        #expect(try check("hr.json5").exit == 0)
        manifest("hr.json5", exec: "/bin/sh\", \"-u\", \"beats.sh", "cwd: \"\(folder)\",")
        let outcome = try check("hr.json5")
        let sentence =
            "exec names \"beats.sh\", and there is no \(folder)/beats.sh; write its absolute path, or set cwd to its folder"
        #expect(outcome.exit == 1 && outcome.output == "hr.json5: line 4: \(sentence)\n", "\(outcome)")
        put("true\n", at: folder + "/beats.sh", mode: 0o644)
        #expect(try check("hr.json5").exit == 0)
        manifest("hr.json5", exec: "/bin/sh\", \"beats.sh")
        #expect(try check("hr.json5").output.contains("/handlers/hr/beats.sh; write its absolute path"), "no cwd")
        manifest("hr.json5", "cwd: \"\(folder)/none\",")
        #expect(
            try check("hr.json5").output.hasPrefix(
                "hr.json5: line 5: there is no folder \(folder)/none, which cwd names"))
    }

    @Test("an unknown profile and a text that is no JSON5 are told with their lines")
    func others() throws {
        put(
            "{\n  exec: [\"/bin/cat\"], \(Machine.isRoot ? "user: \"daemon\"," : "")\n  modes: [\"bluetooth-central\"],\n"
                + "  watch: [{ profile: \"heart-rate-moniter\" }] }", at: folder + "/a.json5")
        let unknown = try check("a.json5")
        #expect(
            unknown.exit == 1
                && unknown.output.hasPrefix(
                    "a.json5: line 4: watch[0].profile is \"heart-rate-moniter\", which is no known"),
            "\(unknown)")
        put("{ exec: [\n  oops\n] }", at: folder + "/b.json5")
        #expect(try check("b.json5").output.hasPrefix("b.json5: line 2, column 3: oops is not a value"))
        let fault = try JSONValue(parsing: check("--json", "b.json5").output.utf8)["files"]?.array?.first?["faults"]?
            .array?.first
        #expect(fault?["line"] == .integer(2) && fault?["column"] == .integer(3), "\(fault ?? .null)")
    }

    @Test(
        "a user that this machine lacks, and a program that is missing or that its user may not run or reach, are faults",
        .enabled(if: Machine.isRoot, "only root's manifests name a user"))
    func programs() throws {
        manifest("user.json5", user: "no-such-user")
        #expect(
            try check("user.json5").output.contains(
                "line 2: user is \"no-such-user\", which this machine does not have"))
        put("#!/bin/sh\n", at: folder + "/hr.sh", mode: 0o644)
        put("#!/bin/sh\n", at: folder + "/secret.sh", mode: 0o711)
        put("#!/bin/sh\n", at: folder + "/good.sh", mode: 0o755)
        try Directory.create(folder + "/closed")
        put("#!/bin/sh\n", at: folder + "/closed/hr.sh", mode: 0o755)
        let sentences = [
            ("./gone.sh", "there is no \(folder)/gone.sh; put it there, or correct exec"),
            ("./hr.sh", "daemon may not run \(folder)/hr.sh; run 'chmod a+rx"),
            ("./secret.sh", "daemon may not read \(folder)/secret.sh"),
            (
                "./closed/hr.sh",
                "daemon may not enter \(folder)/closed; move the program to /opt, or beside its manifest"
            ),
            ("./closed", "\(folder)/closed is no program"),
            ("/bin/sh\", \"/opt/hr/hr.sh", "there is no /opt/hr/hr.sh"),
        ]
        for (exec, sentence) in sentences {
            manifest("hr.json5", exec: exec)
            let outcome = try check("hr.json5")
            #expect(outcome.exit == 1 && outcome.output.contains("line 4: \(sentence)"), "\(outcome)")
        }
        for exec in ["./good.sh", "/bin/sh\", \"\(folder)/good.sh", "/bin/cat\", \"/opt/none"] {
            manifest("hr.json5", exec: exec)
            #expect(try check("hr.json5").exit == 0, "\(exec)")
        }
        // Root needs no leave to enter, and runs what any user may.
        manifest("root.json5", exec: "./closed/hr.sh", user: "root")
        #expect(try check("root.json5").exit == 0)
        manifest("root.json5", exec: "./hr.sh", user: "root")
        #expect(try check("root.json5").output.contains("root may not run"))
    }

    @Test("a device that the daemon does not know is a warning; without a daemon and bluetoothd it is passed over")
    func devices() throws {
        let user = Machine.isRoot ? "user: \"daemon\"," : ""
        put(
            "{ exec: [\"/bin/cat\"], \(user) modes: [\"bluetooth-central\"], "
                + "watch: [{ profile: \"heart-rate-monitor\", device: \"chest-strp\" }] }", at: folder + "/hr.json5")
        let fixture = try Fixture { _ in
            .json(status: 200, Array(#"{"devices":[{"alias":"chest-strap","source":"/bluetooth/C0"}]}"#.utf8))
        }
        let outcome = try fixture.run([Built.tool, "--socket", fixture.path, "check", folder + "/hr.json5"])
        #expect(outcome.exit == 0)
        #expect(
            outcome.output.contains(
                "warning: handler \"hr\" watches a device \"chest-strp\": no device is called that; known: chest-strap; did you mean"
            ),
            "\(outcome)")
        let alone = try Child(
            [
                "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nonexistent", Built.tool, "--runtime", "/nonexistent",
                "check",
                folder + "/hr.json5",
            ]
        ).finish()
        #expect(alone.exit == 0 && !alone.output.contains("warning") && alone.talk == "", "\(alone)")
    }

    @Test("a profile with a fault and settings with a fault are told with their lines, and what is no such file too")
    func otherKinds() throws {
        put(
            "{\n name: \"p\", title: \"P\", mode: \"bluetooth-central\",\n match: { services: [\"180d\"] },\n"
                + " characteristics: {\n  \"2a19\": {\n   name: \"b\",\n   fields: [{ name: \"x\", type: \"uint9\" }],\n  },\n },\n}",
            at: folder + "/p.json5")
        let profile = try check("p.json5")
        #expect(profile.exit == 1 && profile.output.hasPrefix("p.json5: line 7: "), "\(profile)")
        put("{\n  storm: {\n    brust: 3,\n  },\n}", at: folder + "/wakebridge.json5")
        let settings = try check("wakebridge.json5")
        #expect(settings.output.hasPrefix("wakebridge.json5: line 3: unknown key \"brust\" in storm"), "\(settings)")
        let missing = try check("gone.json5")
        #expect(
            missing.exit == 1 && missing.talk.hasPrefix("wakebridge check: cannot check gone.json5: could not read"),
            "\(missing)"
        )
    }

    @Test("a file that cannot be read does not keep the others from being checked")
    func several() throws {
        manifest("good.json5")
        manifest("bad.json5", "lifecycl: 1")
        let outcome = try check("good.json5", "gone.json5", "bad.json5")
        #expect(
            outcome.exit == 1 && outcome.output.hasPrefix("good.json5: manifest without a fault\nbad.json5: line 5"))
        #expect(
            outcome.talk.contains("cannot check gone.json5") && outcome.talk.contains("; name a file that is there"))
    }

    @Test("a profile decodes a trace line by line, with the sum; what does not fit it is a fault")
    func trace() throws {
        let devices = "\(packageFolder)/Devices/heart-rate-monitor"
        let good = try check("--trace", devices + "/recording.trace", devices + "/profile.json5")
        #expect(good.exit == 0, "\(good.talk)")
        #expect(good.output.contains("line 9: 2a37 {\"bpm\":62,"), "\(good.output.prefix(600))")
        #expect(good.output.hasSuffix("94 values: 94 decoded, 0 left raw, 0 that do not fit\n"))
        put(
            """
            wakebridge-trace 1
            clock 2026-11-21T07:00:00Z
            device 1 bluetooth C0:F1:F2:F3:F4:01 service=180d
            +0 1 connect
            +1 1 data 2a37 0048
            +1 1 data 2a37 00
            +1 1 data 2a99 01
            end

            """, at: folder + "/bad.trace")
        let bad = try check("--json", "--trace", "bad.trace", devices + "/profile.json5")
        let file = try #require(try JSONValue(parsing: bad.output.utf8)["files"]?.array?.first)
        #expect(bad.exit == 1 && file["decoded"] == .integer(1) && file["undecodable"] == .integer(1), "\(bad)")
        let values = file["values"]?.array ?? []
        #expect(values.count == 3 && values[0]["value"]?["bpm"] == .integer(72) && values[2]["raw"] == .string("01"))
        #expect(values[1]["line"] == .integer(6) && values[1]["undecodable"]?.string?.hasPrefix("too short") == true)
        manifest("hr.json5")
        #expect(try check("--trace", "bad.trace", "hr.json5").exit == 2)
    }

    @Test(
        "a notification without fields, and a service of match that the trace's device lacks, are warnings with their lines"
    )
    func review() throws {
        let profile = folder + "/scale"
        try Directory.create(profile, mode: 0o755)
        put(
            """
            {
              name: "scale", title: "Scale", mode: "bluetooth-central",
              match: {
                services: [
                  "180d",
                  "181d",
                ],
              },
              notify: [
                "2a9d",
                "fff1",
              ],
            }
            """, at: profile + "/profile.json5")
        put(
            "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\n"
                + "device 1 bluetooth C0:F1:F2:F3:F4:01 alias=\"strap\" service=180d service=180f\nend\n",
            at: folder + "/ride.trace")
        let raw = "line 11: notify[1] is fff1, which is not among characteristics: its messages stay raw bytes"
        let lack =
            "line 6: match.services[1] asks for 181d, which strap does not offer in ride.trace; it offers 180d, 180f"
        let tool = ["env", "-C", folder, Built.tool, "profile", "check", "scale"]
        let alone = try Child(tool).finish()
        let file = "warning: scale/profile.json5: "
        #expect(
            alone.exit == 0 && alone.output == "\(file)\(raw)\nscale: 0 messages, 0 faults, 1 warning\n", "\(alone)")
        let both = try Child(tool + ["--trace", "ride.trace"]).finish()
        #expect(both.output == "\(file)\(raw)\n\(file)\(lack)\nscale: 0 messages, 0 faults, 2 warnings\n", "\(both)")
        let json = try Child(tool + ["--trace", "ride.trace", "--json"]).finish()
        let folders = try #require(try JSONValue(parsing: json.output.utf8)["folders"]?.array)
        #expect(folders.first?["warnings"]?.array?.count == 2 && folders.first?["faults"]?.array?.isEmpty == true)
        let checked = try check("--trace", "ride.trace", "scale/profile.json5")
        #expect(checked.exit == 0 && checked.output.contains("scale/profile.json5: warning: \(lack)\n"), "\(checked)")
        #expect(checked.output.contains("scale/profile.json5: warning: \(raw)\n"), "\(checked)")
        let gone = try Child(tool + ["--trace", "gone.trace"]).finish()
        #expect(gone.exit == 1 && gone.talk.contains("cannot read gone.trace"), "\(gone)")
    }

    @Test("with --json each file has its kind, and each fault its line")
    func json() throws {
        manifest("hr.json5", "lifecycl: 1")
        manifest("good.json5")
        let outcome = try check("--json", "hr.json5", "good.json5")
        let files = try #require(try JSONValue(parsing: outcome.output.utf8)["files"]?.array)
        #expect(outcome.exit == 1 && files.map { $0["kind"]?.string } == ["manifest", "manifest"])
        #expect(files[0]["faults"]?.array?.first?["line"] == .integer(5))
        #expect(files[1]["faults"] == .array([]))
    }
}
