// The Makefile's doors: what each one starts and with which words, also of those that are too dear to be gone through.
import Glibc
import TestBench
import Testing
import WakeSystem

/// The targets that the Makefile declares.
private let targets: [String] = {
    let text = text(of: "\(packageFolder)/Makefile").replacing("\\\n", with: " ")
    let line = text.split(separator: "\n").first { $0.hasPrefix(".PHONY:") } ?? ""
    return line.split { " \t".contains($0) }.dropFirst().map(String.init)
}()
private let scripts =
    SourceTree.everything.map(\.path).filter { $0.hasSuffix(".sh") || $0.hasSuffix(".py") } + [".ci/run"]

@Suite("Scripts and what starts them")
struct ScriptTests {
    @Test("every target has a recipe, and every script that it starts is there and may be run", arguments: targets)
    func starts(target: String) throws {
        let (status, output) = run("env -u MAKEFLAGS make -n \(target)")
        #expect(status == 0 && !output.contains("Nothing to be done"), "\(output)")
        for word in output.split(whereSeparator: { " \n\t\"$();".contains($0) }) {
            guard ["Scripts/", "Tests/"].contains(where: word.hasPrefix) else { continue }
            #expect(access("\(packageFolder)/\(word)", word.hasSuffix(".py") ? R_OK : X_OK) == 0, "\(target): \(word)")
        }
    }

    @Test("every script is one that its interpreter can read")
    func parses() {
        #expect(scripts.contains("Scripts/bench-lab.sh") && scripts.contains("Tests/Scale/fleet.py"))
        for script in scripts where !script.hasSuffix(".py") { #expect(run("sh -n '\(script)'") == (0, "")) }
        let python = scripts.filter { $0.hasSuffix(".py") }.joined(separator: " ")
        let program = "import ast, sys; [ast.parse(open(path).read(), path) for path in sys.argv[1:]]"
        #expect(run("python3 -c '\(program)' \(python)") == (0, ""))
    }
}

@Suite("The runner of tests")
struct RunnerTests {
    @Test("every file that holds tests runs in exactly one stage, and its tags say in which")
    func stages() throws {
        let (status, output) = run("python3 Scripts/test.py list")
        #expect(status == 0)
        var stages: [String: String] = [:]
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            #expect(words.count == 3 && stages["\(words[0]).\(words[2])"] == nil, "\(line)")
            stages["\(words[0]).\(words[2])"] = words[1]
        }
        let holding = SourceTree.tests.filter { file in
            file.text.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("@Test") }
        }
        #expect(stages.count == holding.count)
        #expect(stages["LabTests.LabTests"] == "unhurried" && stages["BreakTests.BreakTests"] == "rest")
        #expect(stages["CountedTests.CallTests"] == "alone" && stages["CountedTests.CountedTests"] == "together")
    }

    @Test("what a list of skips names is left out and told with its reason, and all else runs")
    func skips() throws {
        let folder = try Directory.makeTemporary(prefix: "wakebridge-skips")
        defer { Directory.removeTree(folder) }
        for name in ["Scripts", "Tests", "Tests/ATests", "Tests/BTests"] { try Directory.create("\(folder)/\(name)") }
        #expect(run("cp Scripts/test.py '\(folder)/Scripts'").status == 0)
        for file in ["ATests/One", "ATests/Two", "BTests/Three"] { put("@Test\n", at: "\(folder)/Tests/\(file).swift") }
        put("# why\nBTests needs b\nATests.Two needs two\nATests.Some/test needs some\n", at: folder + "/skips")
        let bundle = "echo \"$@\" >>'\(folder)/asked'; echo 'Test run with 1 test in 1 suite passed after 1 second.'"
        put("#!/bin/sh\n\(bundle)\n", at: folder + "/bundle", mode: 0o755)
        let variables = "TEST_BUNDLE='\(folder)/bundle' TEST_SKIPS='\(folder)/skips'"
        let (status, output) = run("\(variables) python3 '\(folder)/Scripts/test.py' units")
        #expect(status == 0 && output.contains("\nPASS: 1 tests, 0 of them skipped, "), "\(output)")
        for told in ["BTests: needs b", "ATests.Two: needs two", "ATests.Some/test: needs some"] {
            #expect(output.contains("SKIPPED: \(told)\n"), "\(output)")
        }
        let asked = lines(of: folder + "/asked")
        #expect(asked.count == 1 && asked.first?.contains("/One\\.swift") == true, "\(asked)")
        #expect(asked.first?.hasSuffix("--skip ^ATests\\.Some/test") == true, "\(asked)")
    }

    @Test("everything that arm64's unit tests leave out is there, and has a reason")
    func arm64Skips() {
        let rows = lines(of: "Scripts/arm64.skips").filter { !$0.hasPrefix("#") }
        #expect(!rows.isEmpty)
        for row in rows {
            let words = row.split(separator: " ").map(String.init)
            let place = words[0].split { "./".contains($0) }.map(String.init)
            let files = SourceTree.tests.filter { $0.path.contains("/\(place[0])/") }
            #expect(words.count > 3 && !files.isEmpty, "\(row)")
            guard let last = place.dropFirst().last else { continue }
            let isThere = files.contains { file in
                place.count == 2 ? file.path.hasSuffix("/\(last).swift") : file.text.contains("func \(last)(")
            }
            #expect(isThere, "\(row)")
        }
    }
}

@Suite("Makefile")
struct MakefileTests {
    /// A folder with the Makefile alone, beside scripts that only say what they were asked for.
    private let folder: String

    init() throws {
        folder = try Directory.makeTemporary(prefix: "wakebridge-makefile")
        #expect(run("cp Makefile '\(folder)'").status == 0)
        for name in ["Scripts", "Tests", "Tests/Lab", "Tests/Scale", ".build"] {
            try Directory.create("\(folder)/\(name)")
        }
        for path in scripts where path.hasPrefix("Scripts/") || path.hasPrefix("Tests/Lab/record") {
            let asked = "$LAB_SOAK,$LAB_LIMIT,$TEST_SILENCE,$LAB_SCENARIOS,$BREAK_SECONDS,$BREAK_RATE,$WAKEBRIDGED"
            put("#!/bin/sh\necho \"\(path) $*: \(asked)\"\n", at: "\(folder)/\(path)", mode: 0o755)
        }
        put("#!/bin/sh\necho built\n", at: "\(folder)/Scripts/release.sh", mode: 0o755)
        put("import sys\nprint('fleet', *sys.argv[1:])\n", at: "\(folder)/Tests/Scale/fleet.py")
    }

    /// What a target makes there; the variables of the shell that runs these tests stay outside.
    private func make(_ words: String) -> [String] {
        let (status, output) = run("cd '\(folder)' && env -i PATH=\"$PATH\" HOME='\(folder)' make -s \(words)")
        #expect(status == 0, "\(output)")
        return output.split(separator: "\n").map(String.init)
    }

    @Test("make help names every target but the preparations, each with a sentence beside it")
    func help() {
        defer { Directory.removeTree(folder) }
        let rows = make("help").filter { $0.hasPrefix("  make ") }.map { $0.split(separator: " ").map(String.init) }
        #expect(Set(rows.map { $0[1] }) == Set(targets.filter { !$0.hasPrefix("prepare") }))
        #expect(rows.count == Set(rows.map { $0[1] }).count)
        for row in rows { #expect(row.count > 4, "\(row)") }
    }

    @Test("a break test lasts ten minutes at 10,000 events/s on what was built for speed, unless it is told otherwise")
    func breaks() {
        defer { Directory.removeTree(folder) }
        let words = "Scripts/test.py --no-parallel --filter BreakTests: ,,,,"
        #expect(make("break").last == words + "600,10000,built/wakebridged")
        let told = make("break BREAK_SECONDS=60 BREAK_RATE=2000")
        #expect(told.last == words + "60,2000,built/wakebridged")
    }

    @Test("a soak lasts half an hour or for LAB_SOAK seconds, and its guest and its silence are allowed longer")
    func soaks() {
        defer { Directory.removeTree(folder) }
        let words = "Scripts/test.py --filter LabTests: "
        #expect(make("lab-soak").last == words + "1800,4200,4500,soak,,,")
        #expect(make("lab-soak LAB_SOAK=60").last == words + "60,720,1020,soak,,,")
        #expect(make("lab LAB_SCENARIOS='talk session'").last == words + ",,,talk session,,,")
    }

    @Test("benchmarks are handed ARGS, prepared before the one and without preparation for the other")
    func benchmarks() {
        defer { Directory.removeTree(folder) }
        #expect(make("bench ARGS='latency idle'").last?.hasPrefix("Scripts/bench.sh latency idle:") == true)
        #expect(make("bench").contains { $0.hasPrefix("Scripts/prepare-bench.sh :") })
        #expect(make("bench-fleet ARGS='--bridges 10'") == ["fleet --bridges 10"])
    }

    @Test("make install and make uninstall go where DESTDIR, PREFIX and UNITDIR say, and nothing is left")
    func installs() {
        defer { Directory.removeTree(folder) }
        let places = "DESTDIR='\(folder)/there' PREFIX=/opt/wake UNITDIR=/opt/units"
        // What was built for these tests is installed: to build for speed takes minutes.
        let built = "RELEASE=\"sh -c 'echo \(builtPrograms)'\""
        let (status, output) = run("env -u MAKEFLAGS make -s -o build install \(built) \(places)")
        #expect(status == 0, "\(output)")
        for path in ["opt/wake/bin/wakebridge", "opt/wake/bin/wakebridged", "opt/units/wakebridged.service"] {
            #expect(File.exists("\(folder)/there/\(path)"), "\(path)")
        }
        #expect(run("find '\(folder)/there' -mindepth 1 -maxdepth 1").output == "\(folder)/there/opt\n")
        #expect(run("env -u MAKEFLAGS make -s uninstall \(places)").status == 0)
        #expect(run("find '\(folder)/there' ! -type d").output == "")
    }

    @Test("make clean leaves nothing of what was built, and all else")
    func cleans() {
        defer { Directory.removeTree(folder) }
        put("x", at: "\(folder)/.build/built")
        _ = make("clean")
        #expect(names(in: folder) == ["Makefile", "Scripts", "Tests"])
    }

    @Test("a Swift that swiftly put below HOME is found where PATH has lost it, as under sudo")
    func findsSwift() throws {
        defer { Directory.removeTree(folder) }
        let bin = "\(folder)/.local/share/swiftly/bin"
        #expect(run("mkdir -p '\(bin)'").status == 0)
        put("#!/bin/sh\n", at: bin + "/swift-of-this-test", mode: 0o755)
        #expect(make("--eval='where: ; @command -v swift-of-this-test' where") == [bin + "/swift-of-this-test"])
    }
}
