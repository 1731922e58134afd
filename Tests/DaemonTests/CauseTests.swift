// What `why` and `status` say behind a handler's state: the cause, where the daemon can see one; and what ends the wait.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The causes that why tells", .serialized) struct CauseTests {
    private let daemon: RunningDaemon
    private static let quick = #"timers: { failure_base: "1ms", failure_cap: "1ms" }"#

    init() throws { daemon = try RunningDaemon.withStrap() }

    private func why(_ id: String) throws -> String { try daemon.json("why", id)["why"]?.string ?? "" }

    private func play() throws { try daemon.start("--replay", daemon.folder + "/strap.trace") }

    @Test("a handler whose program is missing says which, and starts by itself once the program is there")
    func missingProgram() throws {
        try daemon.stepTime()
        let program = daemon.folder + "/late/diary.py"
        try daemon.drop("late", manifest(program, Self.quick))
        try play()
        #expect(try daemon.wait(30) { try daemon.state(of: "late") == "quarantined" }, "\(daemon.log)")
        let why = try why("late")
        #expect(why.contains("; there is no \(program) (exec in line 1 of \(daemon.manifests)/late.json5)"), "\(why)")
        #expect(why.contains("; it said last: ") && why.contains("No such file"), "\(why)")
        #expect(try daemon.tool("status").output.contains("there is no \(program)"))

        try daemon.write(Script.diary, to: "late/diary.py")
        #expect(daemon.wait { !daemon.diary("late").isEmpty }, "\(daemon.log)")
        #expect(daemon.log.contains("late: \(program) has changed, so it may start again"))
    }

    @Test("a program that is removed while its handler waits is among the warnings after the next failed start")
    func removedProgram() throws {
        try daemon.stepTime()
        try daemon.write(Script.diary, to: "late/diary.py")
        try daemon.drop("late", manifest(daemon.folder + "/late/diary.py", Self.quick))
        try daemon.start("--no-bluetooth")
        #expect(!(try daemon.tool("status").output.contains("there is no")), "\(daemon.log)")
        try File.remove(daemon.folder + "/late/diary.py")
        #expect(try daemon.tool("simulate", "wake", "late").exit == 0)
        let sentence = "there is no \(daemon.folder)/late/diary.py"
        #expect(try daemon.wait(30) { try daemon.tool("status").output.contains(sentence) }, "\(daemon.log)")
    }

    @Test("a quarantined handler whose program is fixed in its place runs again without an operator")
    func fixedProgram() throws {
        try daemon.stepTime()
        try daemon.write("import sys\nsys.exit('the cloud has no such key')\n", to: "broken.py")
        try daemon.drop("broken", manifest(daemon.folder + "/broken.py", Self.quick))
        try play()
        #expect(try daemon.wait(30) { try daemon.state(of: "broken") == "quarantined" }, "\(daemon.log)")
        #expect(try why("broken").hasSuffix("; it said last: the cloud has no such key"))
        try daemon.write(Script.diary, to: "broken.py")
        #expect(daemon.wait { !daemon.diary("broken").isEmpty }, "\(daemon.log)")
    }

    @Test(
        "a program behind a link is seen to be fixed where it really is, and where the link is turned to another version"
    )
    func linkedProgram() throws {
        try daemon.stepTime()
        for version in ["v0", "v1", "v2"] { try Directory.create("\(daemon.folder)/\(version)", mode: 0o755) }
        try daemon.write("import sys\nsys.exit('broken')\n", to: "v0/first.py")
        try daemon.write("import sys\nsys.exit('broken')\n", to: "v1/second.py")
        try daemon.write(Script.diary, to: "v2/second.py")
        symlink(daemon.folder + "/v1", daemon.folder + "/current")
        try Directory.create(daemon.folder + "/bin", mode: 0o755)
        symlink("../v0/first.py", daemon.folder + "/bin/first.py")
        try daemon.drop("first", manifest(daemon.folder + "/bin/first.py", Self.quick))
        try daemon.drop("second", manifest(daemon.folder + "/current/second.py", Self.quick))
        try play()
        for id in ["first", "second"] {
            #expect(try daemon.wait(30) { try daemon.state(of: id) == "quarantined" }, "\(daemon.log)")
        }
        // The first look comes a moment after the quarantine; only a report of the kernel brings another one.
        try daemon.advance(by: .seconds(5))
        try daemon.write(Script.diary, to: "v0/first.py")
        #expect(daemon.wait { !daemon.diary("first").isEmpty }, "\(daemon.log)")
        symlink(daemon.folder + "/v2", daemon.folder + "/next")
        try File.move(daemon.folder + "/next", to: daemon.folder + "/current")
        #expect(daemon.wait { !daemon.diary("second").isEmpty }, "\(daemon.log)")
    }

    @Test("a program is seen to be fixed in a folder in which something always changes")
    func busyFolder() throws {
        try Directory.create(daemon.folder + "/busy", mode: 0o755)
        try daemon.write("import sys\nsys.exit('broken')\n", to: "busy/broken.py")
        try daemon.drop("broken", manifest(daemon.folder + "/busy/broken.py", Self.quick))
        try play()
        #expect(try daemon.wait(30) { try daemon.state(of: "broken") == "quarantined" }, "\(daemon.log)")
        let busy = try Child(["sh", "-c", "while :; do : > \(daemon.folder)/busy/other; sleep 0.05; done"])
        try daemon.write(Script.diary, to: "busy/broken.py")
        #expect(daemon.wait { !daemon.diary("broken").isEmpty }, "\(daemon.log)")
        withExtendedLifetime(busy) {}
    }

    @Test("a device that nothing is called is named by why, with those that it could be")
    func unknownAlias() throws {
        let watch = #"watch: [{ profile: "heart-rate-monitor", device: "my-strap" }]"#
        try daemon.drop(
            "typo", #"{ exec: ["/bin/cat"], user: "\#(me)", modes: ["bluetooth-central"], \#(watch) }"#)
        try play()
        #expect(try daemon.wait { try !daemon.json("status")["devices"]!.array!.isEmpty })
        let alias = try #require(try daemon.json("status")["devices"]?.array?.first?["alias"]?.string)
        let why = try why("typo")
        #expect(why.hasSuffix("; no device is called my-strap; known: \(alias)"), "\(why)")
    }

    @Test(
        "where no device has the profile that a handler watches, why says so, and what to do for such a device",
        arguments: [
            ("heart-rate-monitor", "bluetooth-central", "'wakebridge setup' looks for one"),
            ("ruuvitag", "bluetooth-central", "'wakebridge add' lists the sensors near by and names them"),
            (
                "barcode-scanner-serial", "external-accessory",
                "plug it in; 'wakebridge scan --all' shows each accessory that is attached, with its profile"
            ),
            ("elm327-bluetooth", "external-accessory", "'wakebridge pair' lists the devices near by and pairs one"),
        ])
    func noDevice(profile: String, mode: String, advice: String) throws {
        try daemon.drop(
            "diary",
            """
            { exec: ["/bin/cat"], user: "\(me)", modes: ["\(mode)"], watch: [{ profile: "\(profile)" }] }
            """)
        try daemon.start("--no-bluetooth")
        let why = try why("diary")
        #expect(why.hasSuffix("no device with the profile \(profile) is known; \(advice)"), "\(why)")
    }

    @Test(
        "a handler that was never started says in why which program is missing or may not run, and the manifest's line")
    func neverStarted() throws {
        let file = "\(daemon.manifests)/idle.json5"
        func drop(_ exec: String) throws {
            try daemon.drop(
                "idle",
                """
                { user: "\(me)", modes: ["bluetooth-central"],
                  watch: [{ profile: "heart-rate-monitor" }],
                  exec: [\(exec)] }
                """)
        }
        try drop("\"/opt/none/hr\"")
        try daemon.start("--no-bluetooth")
        let clauses = [
            ("\"/opt/none/hr\"", "there is no /opt/none/hr (exec in line 3 of \(file)); put it there, or correct exec"),
            (
                "\"/usr/bin/env\", \"python3\", \"-u\", \"/opt/none/hr.py\"",
                "there is no /opt/none/hr.py (exec in line 3 of \(file)); put it there, or correct exec"
            ),
            (
                "\"\(daemon.folder)/diary.py\"",
                "\(me) may not run \(daemon.folder)/diary.py (exec in line 3 of \(file)); "
                    + "run 'chmod a+rx \(daemon.folder)/diary.py'"
            ),
        ]
        for (exec, clause) in clauses {
            try drop(exec)
            #expect(try daemon.tool("reload").exit == 0)
            let isSaid = try daemon.wait { try why("idle").contains("; \(clause)") }
            let said = try why("idle")
            #expect(isSaid, "\(said)")
        }
        try drop("\"/bin/cat\"")
        #expect(try daemon.wait { try !why("idle").contains("exec in line") })
    }

    @Test(
        "a Bluetooth address that is no accessory is refused with what pairs or adds it, and without Bluetooth with that"
    )
    func bluetoothAddress() throws {
        try daemon.start("--no-bluetooth")
        let address = "A4:C1:38:00:11:22"
        let added = try daemon.tool("add", "\(address)=cellar")
        #expect(
            added.exit == 5
                && added.talk.contains(
                    "'/bluetooth/\(address)' is a Bluetooth device, and this daemon watches no Bluetooth"),
            "\(added)")
        #expect(added.talk.contains("start it without --no-bluetooth"), "\(added)")
        try daemon.stop()
        try daemon.start()
        let order = ["curl", "-s", "--unix-socket", "\(daemon.runtime)/control.sock", "http://w/v1/devices/name", "-d"]
        let answer = try Child(order + [#"{"device":"\#(address)","name":"strap"}"#]).finish().output
        let error = try JSONValue(parsing: Array(answer.utf8))["error"]
        #expect(
            error?["message"]?.string == "'\(address)' is a Bluetooth address, and no device of it is known",
            "\(answer)")
        #expect(
            error?["advice"]?.string
                == "pair it with: wakebridge pair \(address); if it only broadcasts, name it with: wakebridge add \(address)=NAME",
            "\(answer)")
    }
}
