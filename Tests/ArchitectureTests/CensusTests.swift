// What `make census` counts, on a tree so small that it can be counted by eye.
import TestBench
import Testing
import WakeSystem

@Suite("Census")
struct CensusTests {
    /// Each line of the table under its first words, with the figures that follow them.
    private let rows: [String: [String]]
    private let output: String

    init() throws {
        let folder = try Directory.makeTemporary(prefix: "wakebridge-census")
        defer { Directory.removeTree(folder) }
        for name in ["Sources", "Sources/Alpha", "Sources/Beta", "Sources/CBeta", "docs"] {
            try Directory.create("\(folder)/\(name)")
        }
        put(Self.alpha, at: "\(folder)/Sources/Alpha/Box.swift")
        put("extension Box {\n    func tellAll() {}\n}\n", at: "\(folder)/Sources/Alpha/Box+Talk.swift")
        put(Self.beta, at: "\(folder)/Sources/Beta/Long.swift")
        put("/* Adds. */\nint add(int a, int b)\n{\n    return a + b; // sum\n}\n", at: "\(folder)/Sources/CBeta/add.c")
        put("Nobody reads this.\nNot even the user \"nobody\".\n", at: "\(folder)/docs/page.md")
        put("Somebody's, or whoever's.\n", at: "\(folder)/README.md")
        let (status, output) = run("python3 Scripts/census.py --list --root '\(folder)'")
        try #require(status == 0, "\(output)")
        self.output = output
        let table = output.split(separator: "\n").map { $0.split(separator: "  ").map { $0.filter { $0 != " " } } }
        rows = Dictionary(table.filter { $0.count > 1 }.map { ($0[0], Array($0[1...])) }) { first, _ in first }
    }

    private static let alpha = #"""
        // A box.
        /* Of two
           lines. */

        typealias Ending = (Int) -> Void

        final class Box {
            private unowned let owner: Owner
            let text = "func take() { // \(owner.name(of: "}")) }"
            let a, b: Int
            var onEnd: Ending?
            var steps: [() -> Void] = []
            var isFull: Bool { steps.isEmpty }
            var watched = 1 { didSet { noteChange() } }
            static let limit = 3

            init(_ owner: Owner) { self.owner = owner }  // keeps it
            func take(_ body: () -> Int = { 1 }) {
                later { [weak self] in self?.take() }
                self.strength = .weak
            }
            func noteChange() {}
            func notebook() {}
            func tell() {}
        }
        protocol Owner {
            func take()
        }

        """#
    private static let beta =
        "struct Long {\n" + (0...20).map { "    var value\($0) = \($0)\n" }.joined()
        + "    func wait() {\n" + String(repeating: "        step()\n", count: 59) + "    }\n}\n"

    @Test("it tells lines of code, comments and blanks apart, and counts what is declared in them")
    func lines() {
        // Files, lines, code, comments, blanks, types, functions; then references and closures, each for a thousand lines too.
        #expect(rows["Alpha"] == ["2", "31", "25", "3", "3", "2", "6", "2", "64.5", "2", "64.5"])
        #expect(rows["Beta"] == ["1", "84", "84", "0", "0", "1", "1", "0", "0.0", "0", "0.0"])
        #expect(rows["allSwift"]?.prefix(3) == ["3", "115", "109"])
        #expect(rows["allC"]?.prefix(7) == ["1", "5", "4", "1", "0", "0", "1"])
    }

    @Test("it finds the names, words and sizes that are to go, and says where each stands")
    func faults() {
        #expect(rows["functionsnamedtake"] == ["2"])
        #expect(rows["functionsnamednote..."] == ["1"])
        #expect(rows["functionsnamedtell..."] == ["2"])
        #expect(rows["nobody,whoever,somebody,whom"] == ["3"])
        #expect(rows["functionsover60lines"] == ["1"])
        #expect(rows["typesover20storedproperties"] == ["1", "Long21"])
        #expect(rows["filesnamedX+Y.swift"] == ["1"])
        for place in ["Sources/Beta/Long.swift:23: wait", "docs/page.md:1: Nobody", "README.md:1: whoever"] {
            #expect(output.contains("  \(place)\n"), "\(output)")
        }
    }

    @Test("where nothing is built, it says so in place of the way of an event")
    func unbuilt() {
        #expect(output.contains("not measured: nothing is built here; run: swift build --product wakebridged\n"))
    }
}
