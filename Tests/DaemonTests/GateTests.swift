// Gates, `after` in a manifest, with real mounts: a mount namespace of the daemon's own, in which a test mounts and unmounts.
import Glibc
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite(
    "Gates", .serialized, .timeLimit(.minutes(3)),
    .enabled(if: Machine.makesNamespaces, "needs root and namespaces"))
struct GateTests {
    private func within(_ planner: Planner, _ words: String...) throws {
        let enter = ["nsenter", "-t", "\(planner.daemon.process)", "-m"]
        let (exit, _, talk) = try Child(enter + words).finish()
        try #require(exit == 0, "\(words): \(talk)")
    }

    private func mount(_ planner: Planner, _ place: String) throws {
        try within(planner, "mount", "-t", "tmpfs", "tmpfs", place)
    }

    /// - Parameter more: beside the gate on a mount at the returned place.
    private func gated(_ agenda: String) throws -> (Planner, place: String) {
        let planner = try Planner(isStepped: true)
        let place = planner.daemon.folder + "/data"
        try Directory.create(place)
        // The kernel's name for the boot is a file of the test's, so that a test can boot anew.
        try planner.daemon.write(text(of: "/proc/sys/kernel/random/boot_id"), to: "boot")
        let boot = "mount --bind '\(planner.daemon.folder)/boot' /proc/sys/kernel/random/boot_id"
        planner.daemon.wrapper = ["unshare", "--mount", "sh", "-c", "\(boot) && exec \"$@\"", "sh"]
        try planner.employ(
            "vault", "\(agenda), after: [\"mount:\(place)\"]", words: ["ack"], more: "autostart: true")
        return (planner, place)
    }

    /// How many processes it has had in this life of the daemon.
    private func launches(_ planner: Planner) throws -> Int64? { try planner.daemon.handler("vault")["epoch"]?.integer }

    @Test(
        "nothing launches a gated handler before its mount is there: neither its autostart, nor an alarm, nor a person")
    func nothingBefore() throws {
        let (planner, place) = try gated("alarms: [{ id: \"early\", every: \"1m\", phase: \"1s\" }]")
        try planner.start()
        try planner.daemon.tool("start", "vault")
        let wake = try planner.daemon.tool("simulate", "wake", "vault")
        #expect(wake.exit == 5 && wake.talk.contains("cannot be woken before its gates have opened"), "\(wake)")
        #expect(wake.talk.contains("they wait for mount:\(place)"), "\(wake)")
        let attached = try planner.daemon.following("attach", "vault")
        try planner.daemon.advance(by: .seconds(4))
        #expect(try planner.daemon.state(of: "vault") == "idle")
        #expect(try launches(planner) == 0, "\(planner.daemon.log)")
        kill(attached.process, SIGTERM)
        #expect(planner.heard("vault").isEmpty)
        #expect(try planner.daemon.tool("why", "vault").output.contains("gate"))

        try mount(planner, place)
        let fired = try planner.await(1, "alarm.fired", of: "vault")[0]
        #expect(fired.name == "early" && (fired.data["late_s"]?.integer ?? 0) >= 2)
        #expect(planner.heard("vault").first?.type == "restored")
        #expect(try launches(planner) == 1)
    }

    @Test("an open gate stays open when its mount goes; the handler is told that it went, and that it came back")
    func storage() throws {
        let (planner, place) = try gated("alarms: []")
        try planner.start()
        try mount(planner, place)
        try planner.await(1, "restored", of: "vault")
        try within(planner, "umount", place)
        let gone = try planner.await(1, "storage", of: "vault", within: 30)[0]
        #expect(gone.data["path"]?.string == place && gone.data["available"] == .boolean(false))
        try mount(planner, place)
        let back = try planner.await(2, "storage", of: "vault")[1]
        #expect(back.data["path"]?.string == place && back.data["available"] == .boolean(true))
        #expect(try launches(planner) == 1)
    }

    @Test("a restart of the daemon leaves an open gate open, and a reboot closes it until its mount is there again")
    func latched() throws {
        let (planner, place) = try gated("alarms: []")
        try planner.start()
        try mount(planner, place)
        try planner.await(1, "restored", of: "vault")
        // The new daemon has a mount namespace of its own, in which nothing is mounted there.
        try planner.restart()
        try planner.await(2, "restored", of: "vault")

        try planner.daemon.stop()
        try planner.daemon.write("11111111-2222-3333-4444-555555555555\n", to: "boot")
        try planner.start()
        try planner.daemon.advance(by: .seconds(3))
        #expect(planner.heard("vault", "restored").count == 2, "it is gated again")
        #expect(try launches(planner) == 0)
        try mount(planner, place)
        try planner.await(3, "restored", of: "vault")
    }
}
