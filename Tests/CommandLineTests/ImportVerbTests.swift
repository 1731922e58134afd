// The import verb: what --list says of a recording, and that a failed import leaves no file half written.
import TestBench
import Testing
import WakeModel
import WakeSystem

@Suite("The import verb") final class ImportVerbTests {
    private static let recording = """
        # EVEMU 1.3
        # Input device name: "Pad"
        # Input device ID: bus 0x03 vendor 0x738 product 0x4716 version 0x410
        E: 1.000001 0001 001e 1
        E: 1.000001 0000 0000 0
        E: 1.500001 0001 001e 0
        E: 1.500001 0000 0000 0

        """

    private let directory: String

    init() throws { directory = try Directory.makeTemporary(prefix: "import") }
    deinit { Directory.removeTree(directory) }

    private func path(_ name: String) -> String { directory + "/" + name }

    @Test("--list says what a file is, what it is packed in, when it begins, and what each device sent")
    func lists() throws {
        put(Self.recording, at: path("pad.events"))
        #expect(try Child(["gzip", path("pad.events")]).finish().exit == 0)
        let file = path("pad.events.gz")
        let listed = try Child(["env", "TZ=UTC", Built.tool, "import", file, "--list"]).finish()
        let text = """
            \(file): gzip
            \(file): evemu
            begins 1970-01-01 00:00:01.000+00:00, 4 records
            /accessory/0738:4716:@input (Pad)
              input: 2 values

            """
        #expect(listed.exit == 0 && listed.output == text, "\(listed.output)")
        let told = try JSONValue(parsing: Array(try Built.run("import", file, "--list", "--json").output.utf8))
        #expect(told["parts"]?.array?.compactMap { $0["kind"]?.string } == ["gzip", "evemu"])
        #expect(told["records"]?.integer == 4 && told["messages"]?.integer == 2 && told["devices"]?.integer == 1)
        #expect(try Directory.names(in: directory) == ["pad.events.gz"])
    }

    @Test("what was recorded of a device that a profile knows is cut as the daemon cuts it")
    func cuts() throws {
        func block(_ millivolts: Int) -> [UInt8] {
            let text = "\r\nPID\t0xA071\r\nV\t\(millivolts)\r\nChecksum\t"
            return Array(text.utf8) + [0 &- Array(text.utf8).reduce(0, &+)]
        }
        let blocks = [26_100, 26_110, 26_120].map(block)
        put(Array(blocks.joined()), at: path("line.bin"))
        let line = try Built.run("import", path("line.bin"), "--serial", "--as", "ve-direct", "-o", path("line.trace"))
        #expect(line.exit == 0, "\(line.talk)")
        let messages = lines(of: path("line.trace")).filter { $0.contains(" data serial ") }
        #expect(messages.map { $0.split(separator: " ").last.map(String.init) } == blocks.map(\.hexadecimal))

        var keys = "# EVEMU 1.3\nN: Scanner\nI: 0003 0c2e 0901 0111\n"
        for (place, code) in ["0005", "000b", "001c"].enumerated() {
            for value in [1, 0] {
                let time = "1.\(String(1_000 + place * 10 + 1 - value).dropFirst())"
                keys += "E: \(time) 0001 \(code) \(value)\nE: \(time) 0000 0000 0\n"
            }
        }
        put(keys, at: path("scan.evemu"))
        let scan = try Built.run("import", path("scan.evemu"), "-o", path("scan.trace"))
        #expect(scan.exit == 0, "\(scan.talk)")
        #expect(lines(of: path("scan.trace")).count { $0.contains(" data input ") } == 1)
        let replayed = try Built.run("replay", path("scan.trace"))
        #expect(replayed.output.contains(#""text":"40""#), "\(replayed.output)")
    }

    @Test("an import that fails leaves no file, and one that was there as it was; with --partial it is the part before")
    func leavesNothing() throws {
        let bytes = Array(Self.recording.utf8)
        put(Array(bytes.dropLast(5)), at: path("cut.events"))
        let output = path("pad.trace")
        for before in [nil, "as it was\n"] {
            if let before { put(before, at: output) }
            let refused = try Built.run("import", path("cut.events"), "-o", output)
            #expect(refused.exit == 1 && refused.talk.contains("at byte ") && refused.talk.contains("--partial"))
            #expect(text(of: output) == before ?? "" && File.exists(output) == (before != nil))
            let names = try Directory.names(in: directory)
            #expect(names.sorted() == ["cut.events"] + (before == nil ? [] : ["pad.trace"]))
        }
        let kept = try Built.run("import", path("cut.events"), "-o", output, "--partial")
        #expect(kept.exit == 0 && kept.talk.contains("what came before is kept"), "\(kept.talk)")
        #expect(lines(of: output).count { $0.contains(" data input ") } == 1)
    }

    @Test("what cannot be imported at all is refused without a word of a damage that is not there")
    func refuses() throws {
        put("wakebridge-trace 1\nclock 2026-11-21T07:42:46Z\nend\n", at: path("a.trace"))
        let refused = try Built.run("import", path("a.trace"), "-o", path("b.trace"))
        #expect(
            refused.exit == 1 && refused.talk.hasSuffix("a.trace: this is a trace already, which cannot be imported\n"),
            "\(refused)")
    }

    @Test("what a sensor says in a scan response is read, also where its name or a beacon comes before it")
    func scanResponses() throws {
        let words = "02010607030a18f5fe88ec1109476f7665655f48353037345f34303530"
        let beacon = "0201061aff4c000215494e54454c4c495f524f434b535f48575074f2ffc2"
        let values = ["68ffe9085c02", "69ffe9085c02", "6affe9085c02"].map { "0aff88ec00" + $0 }
        for first in [words, beacon] {
            let said = values.flatMap { [first, $0] }.map { "+1 1 data advertisement \($0)" }
            let lines = [
                "wakebridge-trace 1", "clock 2026-11-21T07:42:46.727125Z", "device 1 bluetooth E3:10:20:30:40:50",
            ]
            put((lines + said + ["end", ""]).joined(separator: "\n"), at: path("said.trace"))
            #expect(try Built.run("export", path("said.trace"), "-o", path("said.btsnoop"), "--force").exit == 0)
            let imported = try Built.run(
                "import", path("said.btsnoop"), "--broadcasts", "-o", path("heard.trace"))
            #expect(imported.exit == 0, "\(imported.talk)")
            let events = try Built.run("replay", path("heard.trace"), "--speed", "max").output.split(separator: "\n")
                .map { try JSONValue(parsing: Array($0.utf8)) }
            let heard = events.compactMap { $0["data"]?["value"] }
            #expect(heard.compactMap { $0["temperature_c"]?.number } == [-1.52, -1.51, -1.5], "\(first)")
            #expect(heard.allSatisfy { $0["humidity_percent"]?.number == 22.81 })
            #expect(events.compactMap { $0["data"]?["profile"]?.string }.allSatisfy { $0 == "govee-h5074" })
        }
    }
}
