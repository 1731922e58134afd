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
        #expect(why.contains("; there is no \(program), which its manifest names in exec"), "\(why)")
        #expect(why.contains("; it said last: ") && why.contains("No such file"), "\(why)")
        #expect(try daemon.tool("status").output.contains("there is no \(program)"))

        try daemon.write(Script.diary, to: "late/diary.py")
        #expect(daemon.wait { !daemon.diary("late").isEmpty }, "\(daemon.log)")
        #expect(daemon.log.contains("late: \(program) has changed, so it may start again"))
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

    @Test("where no device has the profile that a handler watches, why says so and what looks for one")
    func noDevice() throws {
        try daemon.drop("diary", manifest(daemon.folder + "/diary.py"))
        try daemon.start("--no-bluetooth")
        let why = try why("diary")
        #expect(why.hasSuffix("is known; 'wakebridge setup' looks for one"), "\(why)")
    }
}
