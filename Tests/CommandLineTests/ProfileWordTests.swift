// run and replay with an unknown profile, which would never match anything, and with a manifest that names no program.
import Glibc
import TestBench
import Testing
import WakeSystem

@Suite("Misspelt profiles, and programs that the command line names") struct ProfileWordTests {
    private let directory = makeDirectory("/tmp/wakeprofile.XXXXXX")

    private func write(_ text: String, to name: String) throws -> String {
        try File.replace("\(directory)/\(name)", with: Array(text.utf8))
        return "\(directory)/\(name)"
    }

    @Test("run and replay refuse a profile that is not known, with the nearest name and exit 1")
    func refused() throws {
        defer { Directory.removeTree(directory) }
        let trace = try write(
            "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\ndevice 1 bluetooth C0:F1:F2:F3:F4:01 service=180d\nend\n",
            to: "a.trace")
        let manifest = try write(
            "{ exec: [\"/bin/true\"], modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitr\" }] }",
            to: "a.json5")
        let calls = [
            ["run", "--profile", "heart-rate-monitr", "--", "/bin/true"],
            ["run", "--profile", "heart-rate-monitr", "--replay", trace, "--", "/bin/true"],
            ["run", "--manifest", manifest, "--replay", trace, "--", "/bin/true"],
            ["replay", trace, "--manifest", manifest],
        ]
        for words in calls {
            let child = try Child(["timeout", "10", Built.tool] + words)
            let outcome = child.finish()
            #expect(outcome.exit == 1, "\(words): \(outcome.talk)")
            #expect(outcome.talk.contains("did you mean \"heart-rate-monitor\"?"), "\(words): \(outcome.talk)")
        }
        let known = ["run", "--profile", "heart-rate-monitor", "--replay", trace, "--speed", "max", "--", "/bin/cat"]
        #expect(try Child([Built.tool] + known).finish().exit == 0)
    }

    @Test("a manifest need not name a program that the command line names")
    func program() throws {
        defer { Directory.removeTree(directory) }
        let trace = try write(
            "wakebridge-trace 1\nclock 2026-11-21T07:00:00Z\ndevice 1 bluetooth C0:F1:F2:F3:F4:01 service=180d\nend\n",
            to: "a.trace")
        let bare = try write(
            "{ modes: [\"bluetooth-central\"], watch: [{ profile: \"heart-rate-monitor\" }] }", to: "bare.json5")
        let given = try Child([
            Built.tool, "run", "--manifest", bare, "--replay", trace, "--speed", "max", "--", "/bin/cat",
        ])
        .finish()
        #expect(given.exit == 0, "the command is the program, so the file names none: \(given.talk)")
        let none = try Child([Built.tool, "run", "--manifest", bare, "--replay", trace, "--speed", "max"]).finish()
        #expect(none.exit == 2 && none.talk.contains("a HANDLER must follow after '--'"), "\(none.talk)")
    }
}
