// The commands, snippets and outputs of the README and the first tutorial, taken from their text and tried.
import TestBench
import Testing
import WakeDaemon
import WakeEngine
import WakeSystem

@Suite("README")
struct ReadmeTests {
    private let readme: Document
    private let tutorial: Document

    init() throws {
        readme = try Document("README.md")
        tutorial = try Document("docs/tutorials/your-first-strap.md")
    }

    /// What was printed holds these lines in this order; a line with an ellipsis stands for any number of lines, and a
    /// line that counts freezes is held to its first half, since the second is the machine's.
    private func expect(_ printed: String, holds block: Document.Block) {
        var rest = printed.split(separator: "\n")[...]
        for line in block.lines where line != "…" {
            let wanted = line.split(separator: ";").first ?? line
            guard let place = rest.firstIndex(where: { wanted == line ? $0 == line : $0.hasPrefix(wanted) }) else {
                Issue.record("missing, or out of order: \(line)\nprinted was:\n\(printed)")
                return
            }
            rest = rest[(place + 1)...]
        }
    }

    /// The same commands, on the programs that were built with this test, and quicker.
    private func tried(_ command: String) -> String {
        command.replacing("sudo ", with: "").replacing(
            "wakebridge replay", with: "'\(builtPrograms)/wakebridge' replay"
        )
        .replacing("/usr/share/wakebridge/Devices", with: "'\(packageFolder)/Devices'")
        .replacing("--speed 4", with: "--speed max")
    }

    @Test("`make demo` shows each beat as the README does, and the process running at it and frozen after it")
    func demo() throws {
        let block = try #require(readme.block("text", with: "beat 1:"))
        let (status, output) = run("SPEED=20 LOOKS=2 WAKEBRIDGE='\(builtPrograms)/wakebridge' Scripts/demo.sh")
        #expect(status == 0)
        // The strip is the machine's: what it must hold is looked at below.
        let plain = { (text: Substring) in String(text.prefix(36).prefix { !"#.?".contains($0) }) }
        let beats = block.lines.filter { $0.contains("beat") }
        for beat in beats {
            #expect(output.split(separator: "\n").contains { plain($0) == plain(beat) }, "\(beat) in \(output)")
        }
        #expect(output.contains("96 events, 96 acknowledged; frozen "))
        let strips = output.split(separator: "\n").filter { $0.hasPrefix("  beat ") }.compactMap {
            $0.split(separator: " ").last
        }
        #expect(strips.count == 91)
        if !output.contains("no cgroup could be had") {
            #expect(strips.contains { $0.contains("#") } && strips.contains { $0.contains(".") }, "\(output)")
        }
    }

    @Test("the terminal that the README pictures shows what the tool prints today")
    func pictured() throws {
        let folder = try Directory.makeTemporary(prefix: "wakebridge-readme")
        defer { Directory.removeTree(folder) }
        let drawn = "\(folder)/first-beat.svg"
        let (status, output) = run("WAKEBRIDGE='\(builtPrograms)/wakebridge' Scripts/cast.py '\(drawn)'")
        #expect(status == 0, "\(output)")
        #expect(
            text(of: drawn) == text(of: "\(packageFolder)/docs/pictures/first-beat.svg"),
            "to draw it again, run: WAKEBRIDGE='\(builtPrograms)/wakebridge' Scripts/cast.py"
        )
    }

    @Test("the first handler acknowledges every event of the recording, and prints what the tutorial says")
    func firstHandler() throws {
        let handler = try #require(tutorial.block("sh", with: "#!/bin/sh"))
        #expect(handler.lines.count == 8, "the handler is eight lines long")
        let command = try #require(tutorial.block("sh", with: "-- /bin/sh hr.sh"))
        let expected = try #require(tutorial.block("text", with: "heart rate 62"))
        let folder = try Directory.makeTemporary(prefix: "wakebridge-readme")
        defer { Directory.removeTree(folder) }
        try File.replace("\(folder)/hr.sh", with: Array((handler.text + "\n").utf8))
        let (status, output) = run(tried(command.text).replacing("hr.sh", with: "\(folder)/hr.sh"))
        #expect(status == 0, "\(output)")
        expect(output, holds: expected)
    }

    @Test("a replay without a handler prints the event line that the tutorial shows")
    func eventLine() throws {
        let command = try #require(tutorial.block("sh", with: "--speed max"))
        let expected = try #require(tutorial.block("text", with: "specversion"))
        let (status, output) = run(tried(command.text))
        #expect(status == 0)
        expect(output, holds: expected)
    }

    @Test("the commands, programs and outputs of the tutorials that need no device are as they are shown")
    func followed() throws {
        let pages =
            ["every-beat-to-csv", "log-a-gps-track", "your-own-esp32"].map { "docs/tutorials/\($0).md" }
            + ["docs/how-to/wake-on-a-usb-scanner.md"]
        let (status, output) = run(
            "python3 Scripts/follow.py --here '\(builtPrograms)' \(pages.joined(separator: " "))")
        #expect(status == 0 && output.contains("\(pages.count) pages work as they say"), "\(output)")
    }

    @Test("the tutorial's manifest is one that the daemon takes, as root too")
    func manifest() throws {
        let block = try #require(tutorial.block("json5", with: "exec"))
        let manifest = try HandlerManifest(id: "hr", file: "hr.json5", text: Array(block.text.utf8), isRoot: true)
        #expect(manifest.exec == ["./hr.sh"])
    }
}
