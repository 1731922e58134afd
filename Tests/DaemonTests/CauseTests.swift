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
        try daemon.write("import sys\nsys.exit('the cloud has no such key')\n", to: "broken.py")
        try daemon.drop("broken", manifest(daemon.folder + "/broken.py", Self.quick))
        try play()
        #expect(try daemon.wait(30) { try daemon.state(of: "broken") == "quarantined" }, "\(daemon.log)")
        #expect(try why("broken").hasSuffix("; it said last: the cloud has no such key"))
        try daemon.write(Script.diary, to: "broken.py")
        #expect(daemon.wait { !daemon.diary("broken").isEmpty }, "\(daemon.log)")
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
