// The README's commands, snippets, outputs and links, taken from its text and tried.
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
        .replacing("/usr/share/wakebridge/Devices", with: "'\(package)/Devices'")
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

    @Test("the first handler acknowledges every event of the recording, and prints what the tutorial says")
    func firstHandler() throws {
        let handler = try #require(tutorial.block("sh", with: "#!/bin/sh"))
        #expect(handler.lines.count == 10, "the handler is ten lines long")
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

    @Test("the tutorial's manifest is one that the daemon takes, as root too")
    func manifest() throws {
        let block = try #require(tutorial.block("json5", with: "exec"))
        let manifest = try HandlerManifest(id: "hr", file: "hr.json5", text: Array(block.text.utf8), isRoot: true)
        #expect(manifest.exec == ["./hr.sh"])
    }

    @Test("every make target and every page that the README names is there")
    func names() throws {
        let makefile = try File.text(at: "\(package)/Makefile").split(separator: "\n")
        let words = readme.text.split { " \n`:;,.".contains($0) }
        let targets = zip(words, words.dropFirst()).filter { $0.0 == "make" }.map(\.1)
        #expect(Set(targets).isSuperset(of: ["demo", "test"]))
        for target in targets { #expect(makefile.contains { $0.hasPrefix("\(target):") }, "make \(target)") }
    }

    @Test("what a wake costs is the same in the README and on the page of performance, but for its rounding")
    func costOfWake() throws {
        let page = try Document("docs/explanation/performance.md").text.replacing("\n", with: " ")
        let figures = /takes ([0-9.]+) times the limit after 1 ms of silence, and ([0-9.]+) times/
        let measured = try #require(page.firstMatch(of: figures))
        let said = try #require(readme.text.firstMatch(of: /performance\.md\): ([0-9.]+) to ([0-9.]+) times/))
        for (rounded, exact) in [(said.1, measured.1), (said.2, measured.2)] {
            let difference = try #require(Double(rounded)) - #require(Double(exact))
            #expect(abs(difference) <= 0.05, "\(rounded) is not \(exact)")
        }
    }

    @Test("links between pages lead somewhere", arguments: Document.pages)
    func links(page: String) throws {
        for path in try Document(page).linkedPaths { #expect(File.exists("\(package)/\(path)"), "\(page) -> \(path)") }
    }

    @Test("links to a place in a page name one of its headings", arguments: Document.pages)
    func places(page: String) throws {
        for place in try Document(page).linkedPlaces {
            let anchors = try Document(place.page).anchors
            #expect(anchors.contains(place.anchor), "\(page) -> \(place.page)#\(place.anchor)")
        }
    }

    @Test(
        "what a handler is said to get is shown by tests that are there, by the names that the page of proofs gives them"
    )
    func proofs() throws {
        let rows = try Document("docs/dev/proofs.md").text.split(separator: "\n").filter {
            $0.hasPrefix("| ") && $0.hasSuffix("` |")
        }
        #expect(rows.count == 7)
        let written = SourceTree.tests.map(\.text).joined()
        for row in rows {
            let cell: Substring = row.split(separator: "|").last ?? ""
            let names: [Substring] = cell.split(separator: "`").filter { $0.utf8.count > 2 }
            #expect(!names.isEmpty)
            for name in names {
                let isThere = written.contains("\"\(name)\"")
                #expect(isThere, "there is no test called: \(name)")
            }
        }
    }

    @Test(
        "CI calls `make check`, the README's test command, the longer tests, the package's and Debian 13's build, and no other test"
    )
    func continuousIntegration() throws {
        let commands = try #require(readme.block("sh", with: "make demo"))
        #expect(commands.lines == ["make demo", "make test"])
        let script = try File.text(at: "\(package)/.ci/run").split(separator: "\n").filter { !$0.hasPrefix("#") }
        let called = script.joined(separator: "\n").matches(of: /make ([a-z0-9- ]*[a-z0-9])/).map { String($0.1) }
        #expect(called == ["check", "test", "prepare-lab", "check-debian13", "test-deb", "build", "test-rest"])
    }
}
