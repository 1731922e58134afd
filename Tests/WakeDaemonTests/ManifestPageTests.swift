// The defaults and ranges in docs/reference/manifest.md and settings.md, and the files that the pages and examples show.
import TestBench
import Testing
import WakeCore
import WakeModel
import WakeProfiles

@testable import WakeDaemon
@testable import WakeEngine

/// A row of one of the page's tables.
private struct Row {
    let key: String
    let standard: String
    let meaning: String

    init?(_ line: Substring) {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { cell in
            String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        guard line.hasPrefix("| `"), cells.count >= 5 else { return nil }
        key = cells[1].filter { $0 != "`" }
        standard = cells[2].filter { $0 != "`" }
        meaning = cells[3...].joined(separator: " ")
    }

    /// `1 to 1000000`, `256B to 128KiB`, `0.01 to 1000`: the ends as text.
    var range: (least: String, most: String)? {
        let words = meaning.split { " ,.;".contains($0) && $0 != "." }.map(String.init)
        guard let place = words.firstIndex(of: "to"), place > 0, place + 1 < words.count else { return nil }
        let ends = [words[place - 1], words[place + 1]].map { word in word.last == "." ? String(word.dropLast()) : word
        }
        guard ends.allSatisfy({ $0.first?.isNumber == true }) else { return nil }
        return (ends[0], ends[1])
    }
}

@Suite("The manifests' page")
struct ManifestPageTests {
    private let rows: [Row]

    init() throws {
        let pages = try ["manifest", "settings"].map { try Document("docs/reference/\($0).md") }
        rows = pages.flatMap { $0.text.split(separator: "\n") }.compactMap(Row.init)
    }

    private func standard(_ key: String) -> String? { rows.first { $0.key == key }?.standard }

    private func faults(_ settings: String) -> [String] {
        do {
            _ = try BridgeSettings(text: Array(settings.utf8), file: "wakebridge.json5")
            return []
        } catch { return error.all.map(\.sentence) }
    }

    @Test("the page's defaults of a manifest are the real ones")
    func manifestDefaults() throws {
        let handler = try HandlerManifest(
            id: "hr", file: "hr.json5",
            text: Array("{exec: [\"/bin/cat\"], modes: [], watch: [{profile: \"p\"}]}".utf8),
            isRoot: false)
        let settings = handler.settings
        let watch = try #require(settings.subscriptions.first)
        var oneshot = settings
        oneshot.lifecycle = .oneshot
        let defaults = [
            "lifecycle": "\"\(settings.lifecycle.rawValue)\"", "ready": "\"\(settings.readiness.rawValue)\"",
            "ack": "\"\(settings.acknowledgement.rawValue)\"", "on_overrun": "\"\(settings.onOverrun.rawValue)\"",
            "stop_events": "\"\(settings.stoppedEvents.rawValue)\"", "autostart": "\(settings.startsAtBoot)",
            "enabled": "\(settings.isEnabled)", "notify": "\(handler.notifies)",
            "allow_background_children": "\(settings.allowsBackgroundChildren)",
            "max_batch": "\(settings.batchLimit); oneshot \(oneshot.batchLimit)",
            "queue_cap": "\(settings.queueCap >> 20)MiB", "budget": settings.timers.budget.text,
            "max_extension": settings.timers.maxExtension.text, "idle_exit": settings.timers.idleExit.text,
            "env": handler.environment.isEmpty ? "{}" : "?", "require": settings.requirements.isEmpty ? "[]" : "?",
            "watch[].wake": "\(watch.wakes)", "watch[].policy": "\"\(watch.policy.rawValue)\"",
            "watch[].durability": "\"\(watch.durability.rawValue)\"", "watch[].queue_cap": "\(watch.queueCap >> 20)MiB",
            "watch[].retention": watch.retention == nil ? "until acknowledged" : "?",
            "watch[].device": watch.device == nil ? "every device" : "?",
        ]
        for (key, value) in defaults { #expect(standard(key) == value, "\(key)") }
    }

    @Test("the page's defaults of the daemon are the real ones")
    func settingDefaults() {
        let bridge = BridgeSettings()
        let defaults = [
            "control_role": "\"\(bridge.controlRole.rawValue)\"", "web": bridge.web == nil ? "none" : "?",
            "web.listen": "\"\(WebConfiguration.usualAddress)\"",
            "control_group": bridge.controlGroup ?? "none", "suspend": "\"\(bridge.suspension.rawValue)\"",
            "storm.enabled": "\(bridge.storm.isEnabled)", "storm.events_per_second": "\(bridge.storm.eventsPerSecond)",
            "storm.burst": "\(bridge.storm.burst)", "flips.count": "\(bridge.flips.count)",
            "flips.within": bridge.flips.within.text, "log.lines_per_second": "\(bridge.log.linesPerSecond)",
            "log.burst": "\(bridge.log.burst)", "log.longest_line": "\(bridge.log.longestLine >> 10)KiB",
            "journal.retention": bridge.journal.retention?.text ?? "until acknowledged",
            "journal.max_size": "\(bridge.journal.maxSize >> 30)GiB",
            "memory.reclaim_below": "\(bridge.memory.reclaimBelow >> 20)MiB",
            "memory.reclaim_below_percent": "\(bridge.memory.reclaimBelowPercent)",
            "thermal.enabled": "\(bridge.thermal.isEnabled)",
            "thermal.limit_celsius": bridge.thermal.limitCelsius.map { "\($0)" } ?? "each sensor's own",
            "metered_links": "[\(bridge.meteredLinks.map { "\"\($0)\"" }.joined(separator: ", "))]",
            "replay": bridge.replay == nil ? "none" : "?",
        ]
        for (key, value) in defaults { #expect(standard(key) == value, "\(key)") }
    }

    /// The same unit, another number.
    private func written(_ text: String, _ change: (Int) -> Int) -> String? {
        let digits = text.prefix { $0.isNumber }
        return Int(digits).map { "\(change($0))" + text.dropFirst(digits.count) }
    }

    @Test("the page's ranges of the daemon's settings are the real ones")
    func ranges() throws {
        let ranged = rows.filter { row in
            let section = row.key.split(separator: ".").first.map(String.init) ?? ""
            return row.key.contains(".") && BridgeSettings.keys.contains(section) && section != "timers"
                && row.range != nil
        }
        #expect(ranged.count >= 11)
        for row in ranged {
            let parts = row.key.split(separator: ".")
            let range = try #require(row.range)
            func taken(_ text: String) -> Bool {
                let value = text.allSatisfy { $0.isNumber || $0 == "." } ? text : "\"\(text)\""
                let required = ["replay": ", file: \"a\"", "mqtt": ", broker: \"mqtt://hub\""]
                let more = required[String(parts[0])] ?? ""
                return faults("{ \(parts[0]): { \(parts[1]): \(value)\(more) } }").isEmpty
            }
            #expect(taken(range.least) && taken(range.most), "\(row.key): \(range)")
            let beyond = [written(range.most) { $0 + 1 }, written(range.least) { $0 - 1 }]
            for text in beyond.compactMap({ $0 }) where !text.hasPrefix("-") && !range.least.contains(".") {
                #expect(!taken(text), "\(row.key) takes \(text)")
            }
        }
    }

    @Test("the daemon accepts every manifest, profile and settings file that a page or an example shows")
    func shown() throws {
        let blocks = try Document.pages.flatMap { page in
            try Document(page).blocks.filter { $0.language == "json5" }.map(\.text)
        }
        var manifests = blocks.filter { $0.contains("exec:") }
        let settings = blocks.filter { block in !["exec:", "match:", "vectors:"].contains { block.contains($0) } }
        var sources = blocks.filter { $0.contains("match:") }.map { text in
            let name = text.split(separator: "\"").dropFirst().first.map(String.init) ?? ""
            return ProfileLibrary.Source(name: name, file: "Devices/\(name)/profile.json5", text: Array(text.utf8))
        }
        #expect(sources.count >= 2 && !settings.isEmpty)
        sources += names(in: "\(packageFolder)/Devices").filter { $0 != "gatt" }.map { name in
            let file = "Devices/\(name)/profile.json5"
            return ProfileLibrary.Source(name: name, file: file, text: bytes(of: "\(packageFolder)/\(file)"))
        }
        let (profiles, errors) = ProfileLibrary.load(sources)
        #expect(errors.isEmpty, "\(errors)")
        for text in settings { #expect(faults(text) == [], "\(text)") }
        for name in names(in: "\(packageFolder)/Examples/handlers") where name.hasSuffix(".json5") {
            manifests.append(text(of: "\(packageFolder)/Examples/handlers/\(name)"))
        }
        #expect(manifests.count >= 6)
        for text in manifests {
            let manifest = try HandlerManifest(id: "hr", file: "hr.json5", text: Array(text.utf8), isRoot: true)
            #expect(manifest.faults(against: profiles).isEmpty, "\(text)")
        }
    }

    @Test("the setting of the control group that the first tutorial shows is valid")
    func group() throws {
        let words = try Document("docs/tutorials/install-on-a-raspberry-pi.md").text.split(separator: "`").filter {
            $0.hasPrefix("{ control_group:")
        }
        #expect(!words.isEmpty)
        for text in words { #expect(try BridgeSettings(text: Array(text.utf8), file: "w").controlGroup == "sudo") }
    }
}
