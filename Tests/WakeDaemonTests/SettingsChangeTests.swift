// The changed settings that a running daemon applies, and those that it leaves to its next start.
import TestBench
import Testing

@testable import WakeEngine

@Suite("Settings that change") struct SettingsChangeTests {
    private func settings(_ text: String) throws -> BridgeSettings {
        try BridgeSettings(text: Array(text.utf8), file: "wakebridge.json5")
    }

    private func change(_ running: String, _ read: String) throws -> SettingsChange {
        SettingsChange(from: try settings(running), to: try settings(read))
    }

    @Test(
        "alerts, broadcasts, the log's limits and the rules of MQTT fields are taken at once, all else at the next start"
    )
    func parts() throws {
        let change = try change(
            "{ mqtt: { broker: \"mqtt://hub\", fields: { \"s.bpm\": { deadband: 1 }, \"s.rr\": { deadband: 1 } } } }",
            """
            { log: { burst: 5, lines_per_second: 3, longest_line: "1KiB" }, alerts: { ntfy: "https://a/b" },
              broadcasts: { learn: true }, storm: { burst: 7 }, remote: [{ broker: "mqtt://hub", bridge: "attic" }],
              mqtt: { broker: "mqtt://hub", outbox: "1MiB", fields: { "s.bpm": { deadband: 2 }, "s.rr": { deadband: 1 } } } }
            """)
        #expect(
            change.applied == [
                "broadcasts.learn", "log.lines_per_second", "log.burst", "alerts.ntfy", "mqtt.fields.s.bpm",
            ])
        #expect(change.postponed == ["storm.burst", "log.longest_line", "mqtt.outbox", "remote"])
        #expect(change.settings.log.burst == 5 && change.settings.storm.burst == BridgeSettings().storm.burst)
    }

    @Test("an object that comes or goes is one change, and waits whole")
    func wholes() throws {
        let added = try change("{}", "{ web: {}, mqtt: { broker: \"mqtt://hub\", fields: { \"s.bpm\": {} } } }")
        #expect(added.applied == [] && added.postponed == ["web", "mqtt"])
        let removed = try change("{ replay: { file: \"a\" } }", "{}")
        #expect(removed.postponed == ["replay"] && removed.settings.replay != nil)
    }

    @Test("what waits is named until the next start, and what was taken is not named again")
    func again() throws {
        let read = try settings("{ log: { burst: 5 }, storm: { burst: 7 } }")
        let first = SettingsChange(from: BridgeSettings(), to: read)
        let second = SettingsChange(from: first.settings, to: read)
        #expect(second.applied == [] && second.postponed == ["storm.burst"])
        #expect(SettingsChange(from: read, to: read).postponed == [])
    }

    @Test("the page on settings lists what takes effect at once, and no other key")
    func page() throws {
        let page = try Document("docs/reference/settings.md").text
        let list = page.split(separator: "\n").drop { $0 != "## Without a restart" }.dropFirst().prefix {
            !$0.hasPrefix("##")
        }
        var named: Set<String> = []
        for line in list where line.hasPrefix("- `") {
            let pieces = line.split(separator: "`").map(String.init)
            named.formUnion(pieces.enumerated().compactMap { $0.offset % 2 == 1 ? $0.element : nil })
        }
        let taken: Set<String> = [
            "alerts.command", "alerts.user", "alerts.ntfy", "broadcasts.learn", "broadcasts.presence", "log.burst",
            "log.lines_per_second", "mqtt.fields",
        ]
        #expect(named == taken)
    }
}
