// A manifest that a real daemon refuses, as its maker sees it: at every verb that could say so, until it is mended.
import TestBench
import Testing
import WakeModel

@Suite("A manifest that is refused", .serialized) struct RefusedManifestTests {
    private let daemon: RunningDaemon

    init() throws { daemon = try RunningDaemon.withStrap() }

    private var file: String { "\(daemon.manifests)/diary.json5" }

    /// A manifest in which the third line, and the fourth if it is named, have a fault each.
    private func broken(_ profile: String, _ fourth: String = "") -> String {
        """
        { exec: ["/bin/cat"],
          user: "\(me)", modes: ["bluetooth-central"],
          watch: [{ profile: "\(profile)" }],
          \(fourth)
        }
        """
    }

    private func warnings() throws -> [JSONValue] {
        let all = try daemon.json("status")["bridge"]?["warnings"]?.array ?? []
        return all.filter { $0["code"]?.string == "manifest-refused" }
    }

    private func metric() throws -> String {
        let answer = try Child(["curl", "-s", "--unix-socket", "\(daemon.runtime)/control.sock", "http://w/metrics"])
            .finish()
        let line = answer.output.split(separator: "\n").first { $0.contains("code=\"manifest-refused\"") }
        return line?.split(separator: " ").last.map(String.init) ?? "none"
    }

    /// Waits until no surface has a word of it.
    private func expectMended() throws {
        #expect(try daemon.wait { try warnings().isEmpty }, "\(daemon.log)")
        #expect(try metric() == "0")
        for words in [["status"], ["handlers"], ["why"], ["doctor"]] {
            let outcome = try Child([Built.tool, "--runtime", daemon.runtime] + words).finish()
            #expect(!outcome.output.contains("is refused for"), "\(words): \(outcome.output)")
        }
    }

    @Test("doctor --config also reads a configuration that the running daemon does not use")
    func otherConfiguration() throws {
        try daemon.start("--no-bluetooth")
        try daemon.write(broken("hart-rate-monitor"), to: "other/handlers.d/diary.json5")
        let outcome = try daemon.tool("doctor", "--config", "\(daemon.folder)/other")
        #expect(outcome.output.contains("handler \"diary\" is refused"), "\(outcome)")
    }

    @Test(
        "one of an unknown profile is named by every verb with its line, its first fault and how many more, until it is mended"
    )
    func unknownProfile() throws {
        try daemon.drop("diary", broken("hart-rate-monitor", "max_batch: 0,"))
        try daemon.start("--no-bluetooth")
        let what = "the manifest of handler \"diary\" is refused for 2 faults"
        let advice =
            "correct \(file): line 3: watch[0].profile is \"hart-rate-monitor\", which is no known profile; "
            + "did you mean \"heart-rate-monitor\"?"
        let warning = try #require(try warnings().first)
        #expect(warning["handler"]?.string == "diary" && warning["what"]?.string == what, "\(warning)")
        #expect(warning["why"]?.string == "the handler does not run")
        let refused = warning["refused"]
        #expect(refused?["file"]?.string == file && refused?["more"]?.integer == 1, "\(warning)")
        #expect(refused?["former_in_force"]?.boolean == false)
        #expect(refused?["line"]?.integer == 3)
        for words in [["status"], ["handlers"], ["doctor"], ["why", "diary"], ["handlers", "diary"]] {
            let outcome = try Child([Built.tool, "--runtime", daemon.runtime] + words).finish()
            let text = outcome.output + outcome.talk
            #expect(text.contains("refused for 2 faults") && text.contains(advice), "\(words): \(text)")
        }
        #expect(try daemon.json("handlers")["warnings"]?.array?.first?["what"]?.string == what)
        #expect(try daemon.json("why", "diary")["why"]?.string?.contains(advice) == true)
        let start = try daemon.tool("start", "diary")
        #expect(start.exit == 5 && start.talk.contains(advice), "\(start)")
        #expect(try metric() == "1")

        try daemon.drop("diary", manifest(daemon.folder + "/diary.py"))
        try expectMended()
    }

    @Test("a broken overwrite leaves the sound one in force, which every verb says, and why of the handler says it too")
    func brokenOverwrite() throws {
        try daemon.drop("diary", manifest(daemon.folder + "/diary.py"))
        try daemon.start("--no-bluetooth")
        #expect(try warnings().isEmpty && metric() == "0")
        try daemon.drop("diary", broken("heart-rate-monitor", "polcy: 1,"))
        #expect(try daemon.wait { try !warnings().isEmpty }, "\(daemon.log)")
        let warning = try #require(try warnings().first)
        #expect(warning["why"]?.string == "the manifest from before stays in force")
        let refused = try #require(warning["refused"])
        #expect(refused["line"]?.integer == 4 && refused["more"]?.integer == 0, "\(warning)")
        #expect(refused["former_in_force"]?.boolean == true)
        #expect(refused["fault"]?.string?.hasPrefix("unknown key \"polcy\"") == true)
        let clause =
            "its changed manifest is refused for 1 fault, and the manifest from before stays in force; correct \(file): line 4: "
        #expect(try daemon.json("why", "diary")["why"]?.string?.contains(clause) == true)
        #expect(try daemon.state(of: "diary") == "idle")
        let handlers = try daemon.tool("handlers").output
        #expect(handlers.contains("warning: the manifest of handler \"diary\" is refused for 1 fault"), "\(handlers)")
        let found = try daemon.json("doctor")["findings"]?.array?.first { $0["code"]?.string == "manifest-refused" }
        #expect(found?["why"]?.string == "The manifest from before stays in force.")
        // It is reported once: the answer of reload has it as an error, and not as a warning too.
        let reload = try daemon.json("reload")
        #expect(reload["errors"]?.array?.count == 1 && reload["warnings"] == .array([]), "\(reload)")

        try daemon.drop("diary", manifest(daemon.folder + "/diary.py"))
        try expectMended()
    }
}
