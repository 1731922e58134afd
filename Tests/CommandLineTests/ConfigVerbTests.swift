// config show: each setting with its value and where it comes from, and the directories in use.
import Glibc
import TestBench
import Testing
import WakeSystem

@testable import wakebridge

@Suite("Settings in force", .enabled(if: Machine.isRoot, "to become an ordinary user, with settings of its own"))
final class ConfigVerbTests {
    private let folder = makeDirectory("/tmp/wakeconfig.XXXXXX")

    deinit { Directory.removeTree(folder) }

    /// As an ordinary user whose configuration lies in the test's folder.
    private func show(_ settings: String?, _ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Directory.create(folder + "/wakebridge", mode: 0o755)
        if let settings { put(settings, at: folder + "/wakebridge/wakebridge.json5") }
        let ordinary = [
            "setpriv", "--reuid=1", "--regid=1", "--clear-groups", "env", "-C", "/", "XDG_CONFIG_HOME=\(folder)",
        ]
        return try Child(ordinary + [Built.tool, "config", "show"] + words).finish()
    }

    private func row(_ key: String, in output: String) -> [Substring] {
        let rows = output.split(separator: "\n").map { $0.split(separator: " ") }
        return rows.first { $0.first == key[...] } ?? []
    }

    @Test("what the file sets is shown with the file, and all else as the default")
    func origins() throws {
        let shown = try show("{ storm: { burst: 77 }, timers: { budget: \"20s\" }, control_group: \"sudo\" }")
        let file = folder + "/wakebridge/wakebridge.json5"
        #expect(shown.exit == 0 && shown.talk == "", "\(shown)")
        #expect(row("storm.burst", in: shown.output) == ["storm.burst", "77", file[...]])
        #expect(row("timers.budget", in: shown.output) == ["timers.budget", "20s", file[...]])
        #expect(row("control_group", in: shown.output) == ["control_group", "sudo", file[...]])
        #expect(row("storm.enabled", in: shown.output) == ["storm.enabled", "true", "default"])
        #expect(row("journal.retention", in: shown.output) == ["journal.retention", "-", "default"])
        #expect(shown.output.contains("  manifests       \(folder)/wakebridge/handlers.d\n"), "\(shown.output)")
    }

    @Test("every key of the page on settings is shown, and no other")
    func keys() throws {
        let page = try Document("docs/reference/settings.md").text.split(separator: "\n")
            .filter { $0.hasPrefix("| `") }.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
        let objects = Set(
            page.filter { key in page.contains { $0.hasPrefix(key + ".") } })
        let shown = try show(nil).output.split(separator: "\n").compactMap {
            $0.split(separator: " ").first.map(String.init)
        }
        let keys = shown.drop { $0 != "KEY" }.dropFirst().prefix { $0 != "directories:" }.filter {
            !$0.hasPrefix("timers.")
        }
        #expect(Set(keys) == Set(page).subtracting(objects).subtracting(["timers"]))
    }

    @Test("without a file that is said, and a file with a fault is refused with its line")
    func files() throws {
        #expect(try show(nil).output.hasPrefix("there is no \(folder)/wakebridge/wakebridge.json5: every setting"))
        let json = try show("{ replay: { file: \"a.trace\", speed: \"max\" } }", "--json")
        #expect(json.output.contains(#"{"key":"replay.speed","value":"max","from":"file"}"#), "\(json)")
        let broken = try show("{\n  strom: {},\n}")
        #expect(
            broken.exit == 1 && broken.talk.contains("wakebridge.json5: line 2: unknown key \"strom\""), "\(broken)")
    }
}
