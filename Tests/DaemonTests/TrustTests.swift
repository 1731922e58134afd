// Configuration that another user could change under a daemon that runs as root.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("Configuration of other users", .serialized, .enabled(if: me == "root"))
struct TrustTests {
    private func shell(_ script: String) throws { #expect(try Child(["sh", "-c", script]).finish().exit == 0) }

    private func count(_ sentence: String, in text: String) -> Int {
        text.split(separator: "\n").count { $0.contains(sentence) }
    }

    @Test(
        "a linked manifest whose target becomes another user's, then a FIFO, is told and leaves its handler as it was")
    func linkedManifest() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.write(manifest("\(daemon.folder)/diary.py"), to: "far/linked.json5")
        try shell("ln -s \(daemon.folder)/far/linked.json5 \(daemon.manifests)")
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        try #require(daemon.wait { daemon.diary("linked").count > 0 }, "\(daemon.log)")

        try shell("chown nobody \(daemon.folder)/far/linked.json5")
        let sentence = "far/linked.json5 belongs to nobody; run 'chown root"
        // Two that are dropped in: the first has the folder read, the second finds nothing new.
        for id in ["first", "second"] {
            try daemon.drop(id, manifest("\(daemon.folder)/diary.py"))
            #expect(daemon.wait { (try? daemon.state(of: id)) == "idle" }, "\(daemon.log)")
            #expect(count(sentence, in: daemon.log) == 1, "\(daemon.log)")
        }
        #expect(try daemon.tool("reload").talk.contains(sentence))

        try shell("rm \(daemon.folder)/far/linked.json5 && mkfifo \(daemon.folder)/far/linked.json5")
        let reload = try daemon.tool("reload")
        let fifo = "could not read \(daemon.manifests)/linked.json5: Invalid argument (EINVAL); it is a FIFO"
        #expect(reload.exit == 1 && reload.talk.contains(fifo), "\(reload)")
        try daemon.tool("simulate", "disconnect", "strap")
        #expect(daemon.wait { daemon.diary("linked").contains { $0.hasPrefix("disconnected") } }, "\(daemon.log)")

        try daemon.write(manifest("\(daemon.folder)/diary.py"), to: "far/linked.json5")
        #expect(try daemon.tool("reload").exit == 0)
    }

    @Test("a manifest of another user, and one in a folder that all may write to, start nothing and are named")
    func ownManifest() throws {
        let daemon = try RunningDaemon.withStrap()
        try daemon.drop("his", manifest("\(daemon.folder)/diary.py"))
        try shell("chown nobody \(daemon.manifests)/his.json5")
        try daemon.start("--replay", "\(daemon.folder)/strap.trace")
        #expect(try daemon.state(of: "his") == "none")
        #expect(daemon.log.contains("it belongs to nobody; run 'chown root \(daemon.manifests)/his.json5'"))
        try shell("chown root \(daemon.manifests)/his.json5 && chmod 777 \(daemon.manifests)")
        let reload = try daemon.tool("reload")
        #expect(reload.talk.contains("every user may write to it; run 'chmod o-w \(daemon.manifests)'"), "\(reload)")
        #expect(try daemon.state(of: "his") == "none")
        try shell("chmod 755 \(daemon.manifests)")
        #expect(try daemon.tool("reload").exit == 0)
        #expect(try daemon.state(of: "his") != "none")
    }

    @Test("a profile of another user is no profile, and one that becomes so stays as it was read")
    func profiles() throws {
        let daemon = try RunningDaemon.withStrap()
        let text = { (name: String, title: String) in
            """
            { name: "\(name)", title: "\(title)", mode: "bluetooth-central", match: { services: ["180d"] },
              notify: ["2a37"] }
            """
        }
        for name in ["his", "mine"] { try daemon.write(text(name, name), to: "config/Devices/\(name)/profile.json5") }
        try shell("chown nobody \(daemon.configuration)/Devices/his")
        try daemon.start()
        #expect(daemon.log.contains("\(daemon.configuration)/Devices/his belongs to nobody; run"), "\(daemon.log)")
        try daemon.drop("a", manifest("\(daemon.folder)/diary.py").replacing("heart-rate-monitor", with: "his"))
        #expect(daemon.wait { daemon.log.contains("is \"his\", which is no known profile") }, "\(daemon.log)")
        try shell("chown nobody \(daemon.configuration)/Devices/mine/profile.json5")
        let reload = try daemon.tool("reload")
        #expect(reload.talk.contains("mine/profile.json5: could not read"), "\(reload)")
        try daemon.drop("b", manifest("\(daemon.folder)/diary.py").replacing("heart-rate-monitor", with: "mine"))
        #expect(daemon.wait { (try? daemon.state(of: "b")) == "idle" }, "\(daemon.log)")
    }

    @Test(
        "settings of another user, and a FIFO in their place, stop the start with their sentence",
        arguments: [
            ("touch % && chown nobody %", "it belongs to nobody; run 'chown root %'"),
            ("mkfifo %", "it is a FIFO; put a plain file there"),
        ])
    func settings(script: String, sentence: String) throws {
        let daemon = try RunningDaemon()
        let file = daemon.configuration + "/wakebridge.json5"
        try shell(script.replacing("%", with: file))
        let outcome = try daemon.startInVain()
        #expect(outcome.exit == 1 && outcome.talk.contains("cannot start: could not read \(file): "), "\(outcome)")
        #expect(outcome.talk.contains(sentence.replacing("%", with: file)), "\(outcome)")
    }
}
