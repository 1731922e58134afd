// What the pages name of this checkout: make targets, files, suites of tests, scenarios of the lab, variables of tests.
import TestBench
import Testing
import WakeSystem

@Suite("What the pages name")
struct PagesTests {
    static let pages = Document.pages + ["docs/man/wakebridge.1", "docs/man/wakebridged.8"]

    /// The pieces in backticks, and the lines of code blocks; what programs print is none.
    private func quoted(in page: Document) -> [Substring] {
        let prose = page.text.split(separator: "```", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 0 }.map(\.element)
        let spans = prose.flatMap { text -> [Substring] in
            text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map(\.element)
        }
        return spans + page.blocks.filter { $0.language != "text" }.flatMap { $0.text.split(separator: "\n") }
            + indented(in: page)
    }

    private func indented(in page: Document) -> [Substring] {
        page.text.split(separator: "\n").filter { $0.hasPrefix("    make ") }
    }

    private func words(in page: String) throws -> [String] {
        let code: [Substring] = try quoted(in: Document(page)).map { $0.split(separator: "#").first ?? "" }
        return code.flatMap { $0.split { " ,;:()\"'".contains($0) } }.map(String.init)
    }

    @Test("every make target that a page names is one of the Makefile's", arguments: pages)
    func targets(page: String) throws {
        let makefile = lines(of: "\(packageFolder)/Makefile")
        let words = try words(in: page)
        for (word, next) in zip(words, words.dropFirst()) where word == "make" && next.first?.isLowercase == true {
            #expect(makefile.contains { $0.hasPrefix("\(next):") }, "\(page): make \(next)")
        }
    }

    @Test("every file of this checkout that a page names is there", arguments: pages)
    func files(page: String) throws {
        let roots = ["Tests/", "Scripts/", "Sources/", "Devices/", "Examples/", "docs/", "udev/"]
        for word in try words(in: page) where roots.contains(where: word.hasPrefix) && !word.contains("<") {
            #expect(File.exists("\(packageFolder)/\(word)"), "\(page): \(word)")
        }
    }

    /// The tests that the last cell of each row names, which must be there under exactly that name. Targets of make are looked
    /// for by another test.
    private func expectProofs(in page: String, ofRows prefix: String, atLeast count: Int) throws {
        let rows = try Document(page).text.split(separator: "\n").filter { $0.hasPrefix(prefix) }
        #expect(rows.count >= count)
        expectProofs(ofRows: rows)
    }

    private func expectProofs(ofRows rows: [Substring]) {
        let written = SourceTree.tests.map(\.text).joined()
        for row in rows {
            let cell: Substring = row.split(separator: "|").last ?? ""
            let names = cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 }.map(\.element)
            for name in names where !name.hasPrefix("make ") {
                let isThere = written.contains("\"\(name)\"")
                #expect(isThere, "there is no test called: \(name)")
            }
            let isRead = cell.hasSuffix(", read ") || cell == " not shown "
            #expect(!names.isEmpty || isRead, "no test is named for: \(row)")
        }
    }

    @Test("each defence in docs/dev/defences.md names tests that exist")
    func defences() throws { try expectProofs(in: "docs/dev/defences.md", ofRows: "| to ", atLeast: 10) }

    @Test("each of the thirteen invariants in docs/dev/invariants.md names tests that exist")
    func invariants() throws { try expectProofs(in: "docs/dev/invariants.md", ofRows: "| I", atLeast: 13) }

    @Test("each of the seventeen steps in docs/dev/newcomers.md names tests that exist, or says that none shows it")
    func newcomers() throws { try expectProofs(in: "docs/dev/newcomers.md", ofRows: "| N", atLeast: 17) }

    @Test("each row of the scheduled wakes in docs/reference/what-wakes-when.md names the test that runs it")
    func wakes() throws {
        let lines = try Document("docs/reference/what-wakes-when.md").text.split(separator: "\n")
        let section = lines.drop { $0 != "## By schedule" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let rows = section.filter { $0.hasPrefix("| ") }.dropFirst()
        expectProofs(ofRows: Array(rows))
        let causes = [
            "daily", "every", "in_s", "missed", "alert", "poll", "refresh", "processing", "continued", "deadline",
            "condition", "given back", "gate", "stopped", "transfer",
        ]
        for cause in causes {
            #expect(rows.contains { $0.split(separator: "|")[0].contains(cause) }, "no row is about \(cause)")
        }
    }

    @Test("each row of the wakes by sockets in docs/reference/what-wakes-when.md names the test that runs it")
    func wakesBySockets() throws {
        let lines = try Document("docs/reference/what-wakes-when.md").text.split(separator: "\n")
        let section = lines.drop { $0 != "## By socket" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        let rows = section.filter { $0.hasPrefix("| ") }.dropFirst()
        #expect(rows.count >= 10)
        expectProofs(ofRows: Array(rows))
    }

    /// Runs a few lines of Python beside Scripts/follow.py.
    private func following(_ program: String) -> (status: Int32, output: String) {
        run("python3 -c 'import sys; sys.path.insert(0, \"Scripts\"); import follow\n\(program)'")
    }

    @Test("Scripts/follow.py finds commands, files with names and outputs in every tutorial, and knows what is needed")
    func tutorials() {
        let program = """
            import glob
            for page in glob.glob("docs/tutorials/*.md"):
                for block in follow.blocks(page):
                    assert block.commands() and (not block.is_file() or block.said.startswith("hr.") or block.needs)
                    assert block.needs in {None, "strap"} | set(follow.ELSEWHERE), block.needs
            """
        let (status, output) = following(program)
        #expect(status == 0, "\(output)")
    }

    @Test(
        "what is shown is compared with what was printed, but for times, sizes and what an ellipsis stands for",
        arguments: [
            ("one\\n…\\nfour", "one\\ntwo\\nthree\\nfour", true), ("one\\n…\\nfour", "one\\ntwo", false),
            ("12:00:00.5 a", "2026-11-25 13:01:02 a", true), ("up 3 s", "up 14.2 s", true),
            ("up … s", "up x y s", true),
            ("bpm 62", "bpm 63", false), ("one", "one\\ntwo", false), ("frozen 3 times", "frozen 4 times", true),
        ])
    func shown(_ shown: String, printed: String, isEqual: Bool) {
        let compare = "follow.pattern(\"\(shown)\").fullmatch(follow.plain(\"\(printed)\"))"
        #expect(following("print(bool(\(compare)))").output == (isEqual ? "True\n" : "False\n"))
    }

    @Test("every suite of tests that a page names as proof is there")
    func suites() throws {
        let written = run("grep -rhoE '(struct|class|name:) \"?[A-Z][A-Za-z]*(Tests|Stories)\\b' Tests Package.swift")
            .output
        let suites = Set(written.split { !$0.isLetter })
        for page in Self.pages {
            for word in try words(in: page) where word.hasSuffix("Tests") || word.hasSuffix("Stories") {
                guard word.first?.isUppercase == true, word.allSatisfy(\.isLetter) else { continue }
                #expect(suites.contains(Substring(word)), "\(page): \(word)")
            }
        }
    }

    @Test("every scenario and every part of the lab that a page names is there")
    func scenarios() throws {
        let scenarios = Set(names(in: "\(packageFolder)/Tests/Lab/scenarios").map { String($0.dropLast(3)) })
        let rows = try Document("docs/dev/accessories.md").text.split(separator: "\n").filter {
            $0.contains("in the lab `")
        }
        let named = rows.flatMap { row -> [String] in
            let rest = row.split(separator: "in the lab ").last ?? ""
            return rest.prefix { $0 != ";" }.split(separator: "`").map(String.init).filter {
                $0.first?.isLetter == true
            }
        }
        let proofs = named.filter { $0.hasPrefix("accessory-") || $0 == "rfcomm" }
        #expect(proofs.count >= 15 && Set(proofs).subtracting(scenarios) == [], "\(proofs)")
        for part in try Document("docs/dev/lab.md").words(below: "## What is played") {
            #expect(File.exists("\(packageFolder)/Tests/Lab/\(part)"), "\(part)")
        }
    }

    @Test("every variable by which a page steers tests and benchmarks is read by one of them")
    func variables() throws {
        let prefixes = ["LAB_", "BREAK_", "TEST_", "SANITIZE_", "WAKEBRIDGE_COUNTS"]
        let pieces = try Self.pages.flatMap { quoted(in: try Document($0)) }
        let words = Set(pieces.flatMap { $0.split { !$0.isLetter && $0 != "_" } })
        let variables = words.filter { word in prefixes.contains { word.hasPrefix($0) } }
        #expect(variables.contains("LAB_SOAK") && variables.contains("BREAK_SEED"))
        for name in variables {
            #expect(run("grep -rqE '[\"{$]\(name)\\b' Tests Scripts Makefile").status == 0, "\(name)")
        }
    }

    @Test("docs/README.md names every page, and each manual page once")
    func index() throws {
        let linked = Set(try Document("docs/README.md").linkedPaths)
        for page in Self.pages where page != "docs/README.md" && page.hasPrefix("docs/") {
            #expect(linked.contains(page), "\(page)")
        }
        let manual = names(in: "\(packageFolder)/docs/man").map { "docs/man/\($0)" }
        #expect(!manual.isEmpty && Set(manual).isSubset(of: Self.pages))
    }

    @Test("what a name of iOS is called here stands in one table; other pages link to it")
    func namesOfIOS() throws {
        let table = "docs/tutorials/from-corebluetooth.md"
        let tables = try Self.pages.filter { try File.text(at: "\(packageFolder)/\($0)").contains("| iOS |") }
        #expect(tables == [table])
        for page in ["docs/reference/swift-api.md", "docs/explanation/versus-the-others.md"] {
            let links = try Document(page).linkedPlaces.filter { $0.page.hasSuffix("tutorials/from-corebluetooth.md") }
            #expect(links.map(\.anchor) == ["the-names"], "\(page)")
        }
    }

    @Test("no function stands in two of the scripts that share one file of them")
    func functionsOfScripts() {
        let scripts = run("grep -lE '^[.] Scripts/debian[.]sh$' Scripts/*.sh").output.split(separator: "\n")
        #expect(scripts.count >= 4)
        let files = "Scripts/debian.sh Scripts/preparing.sh " + scripts.joined(separator: " ")
        let defined = run("grep -hoE '^[a-z_]+\\(\\)' \(files)")
        let twice = Dictionary(grouping: defined.output.split(separator: "\n")) { $0 }.filter { $0.value.count > 1 }
        // Each enters a Debian of its own.
        #expect(Set(twice.keys).subtracting(["inside()"]) == [])
    }

    @Test("no Swift package is fetched: the package depends on none")
    func fetchesNothing() {
        let manifest = text(of: "\(packageFolder)/Package.swift")
        #expect(!manifest.contains(".package(") && !File.exists("\(packageFolder)/Package.resolved"))
    }

    @Test("the programs ask for the libraries that the README names, and for no other of Debian's")
    func libraries() throws {
        let own = [
            "libswift", "libFoundationEssentials", "lib_Foundation", "libc.so", "libm.so", "ld-linux", "libgcc_s",
            "libstdc++",
        ]
        let named = ["libsystemd.so", "libudev.so", "libsqlite3.so", "libcurl.so", "libz.so"]
        for program in ["wakebridge", "wakebridged"] {
            let asked = try ElfDependencies.names(of: "\(builtPrograms)/\(program)")
            let others = asked.filter { name in !(own + named).contains { name.hasPrefix($0) } }
            #expect(others == [] && asked.contains { $0.hasPrefix("libsqlite3.so") }, "\(program): \(others)")
        }
    }
}
