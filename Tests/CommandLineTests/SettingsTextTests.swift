// config set: one value of wakebridge.json5 changes, the rest of the text stays, and nothing is written that a daemon would refuse.
import TestBench
import Testing
import WakeSystem

@testable import wakebridge

@Suite("Setting a setting") final class SettingsTextTests {
    private let folder = makeDirectory("/tmp/wakeset.XXXXXX")

    deinit { Directory.removeTree(folder) }

    private var file: String { folder + "/wakebridge.json5" }

    private func changed(_ text: String, _ key: String, _ value: String) -> String? {
        var settings = SettingsText(Array(text.utf8))
        guard settings.set(SettingsText.names(of: key), to: value) else { return nil }
        return String(decoding: settings.text, as: UTF8.self)
    }

    private func set(_ words: String...) throws -> (exit: Int32, output: String, talk: String) {
        try Child([Built.tool, "--runtime", folder, "config", "set", "--config", folder] + words).finish()
    }

    @Test("a value is replaced where it stands, with the comments around it")
    func replaces() {
        let text =
            "{\n  // mine\n  log: { burst: 5 /* few */, lines_per_second: 7 }, // end\n  metered_links: [\"a]\", 'b'],\n}\n"
        #expect(changed(text, "log.burst", "9") == text.replacing("burst: 5", with: "burst: 9"))
        #expect(changed(text, "log.lines_per_second", "9") == text.replacing("second: 7", with: "second: 9"))
        #expect(changed(text, "metered_links", "[]") == text.replacing("[\"a]\", 'b']", with: "[]"))
        #expect(changed("{log:{burst:5}}", "log", "{}") == "{log:{}}")
        #expect(changed("{a:{// }\n b:1}}", "a", "2") == "{a:2}")
    }

    @Test("a key that is not there is added to its object, or with the objects that lead to it")
    func adds() {
        #expect(changed("", "log.burst", "9") == "{\n  log: { burst: 9 },\n}\n")
        #expect(changed("{ // mine\n}", "suspend", "\"auto\"") == "{\n  suspend: \"auto\", // mine\n}")
        #expect(
            changed("{\n  log: { burst: 5 },\n}", "log.lines_per_second", "3")
                == "{\n  log: { lines_per_second: 3, burst: 5 },\n}")
        #expect(changed("{log:{}}", "log.burst", "3") == "{log:{ burst: 3 }}")
        #expect(
            changed("{\n  mqtt: {\n    broker: \"mqtt://h\",\n  },\n}", "mqtt.fields.chest-strap.bpm.deadband", "2")
                == "{\n  mqtt: {\n    fields: { \"chest-strap.bpm\": { deadband: 2 } },\n    broker: \"mqtt://h\",\n  },\n}"
        )
        #expect(changed("{ log: 5 }", "log.burst", "9") == nil && changed("{", "log.burst", "9") == nil)
    }

    @Test("a value is written as a person would write it, and its names as the file writes names")
    func style() {
        let typed = #"{deadband:0.2,"every":"10s",x:[1,2 , 3,],o:{}}"#
        let loose = #"{ deadband: 0.2, every: "10s", x: [1, 2, 3], o: {} }"#
        #expect(changed("{\n  a: 1,\n}", "a", typed) == "{\n  a: \(loose),\n}")
        let quoted = #"{ "deadband": 0.2, "every": "10s", "x": [1, 2, 3], "o": {} }"#
        #expect(changed("{ // \"no\"\n\t\"a\": 1\n}", "a", typed) == "{ // \"no\"\n\t\"a\": \(quoted)\n}")
        #expect(changed("{\n\t\"a\": 1\n}", "b.c", "'x:y'") == "{\n\t\"b\": { \"c\": 'x:y' },\n\t\"a\": 1\n}")
        #expect(changed("{\n    a: {\n    },\n}", "a.b", "1") == "{\n    a: {\n        b: 1,\n    },\n}")
        // Its writer has set the lines, or says more than a value.
        for text in ["{\n  b: 1 }", "{b:1 /* why */}"] { #expect(changed("{ a: 1 }", "a", text) == "{ a: \(text) }") }
        #expect(changed("{ a: 1 }", "a", #"{"a b":1,"2":0x1F}"#) == #"{ a: { "a b": 1, "2": 0x1F } }"#)
    }

    @Test("a setting is written with its comments kept, and the answer says when it takes effect")
    func writes() throws {
        put("{\n  // mine\n}\n", at: file)
        let done = try set("journal.max_size", "256MiB")
        #expect(done.exit == 0 && done.output.contains("it takes effect when it starts"), "\(done)")
        #expect(text(of: file) == "{\n  journal: { max_size: \"256MiB\" },\n  // mine\n}\n")
        #expect(try set("journal.max_size", "256MiB").output.contains("it was so already"))
        let json = try set("control_group", "1000", "--json")
        #expect(json.output.contains(#""in_force":false,"applied":[],"postponed":["control_group"]"#), "\(json)")
        #expect(text(of: file).contains("control_group: \"1000\""))
    }

    @Test("a value or a key that a daemon would refuse is not written, and the sentence says why")
    func refuses() throws {
        put("{ suspend: \"auto\" }\n", at: file)
        for (words, sentence) in [
            (["storm.burst", "many"], "storm.burst must be a whole number"),
            (["strom.burst", "5"], "unknown key \"strom\""),
            (["suspend.how", "5"], "whose form is unusual"),
        ] {
            let refused = try Child([Built.tool, "--runtime", folder, "config", "set", "--config", folder] + words)
                .finish()
            #expect(refused.exit == 1 && refused.talk.contains(sentence), "\(refused)")
            #expect(refused.talk.hasSuffix("nothing was written\n") && text(of: file) == "{ suspend: \"auto\" }\n")
        }
    }

    @Test("enabling the page without a daemon says what was written, and what is left to do")
    func enable() throws {
        let words = ["--runtime", folder, "web", "--enable", "--config", folder]
        let enabled = try Child([Built.tool] + words).finish()
        #expect(
            enabled.exit == 3 && enabled.output == "wrote web: { listen: \"127.0.0.1:8787\" } to \(file)\n",
            "\(enabled)")
        #expect(enabled.talk.contains("\(file) was changed, and no token was made"))
        #expect(try Child([Built.tool] + words).finish().talk.contains("\(file) had the setting already"))
        let disabled = try Built.run("web", "--disable", "--config", folder)
        #expect(
            disabled.exit == 0 && disabled.output.hasPrefix("took web: {") && text(of: file) == "{\n}\n", "\(disabled)")
    }
}
