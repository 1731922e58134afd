"""The counts of `make census`, on a tree so small that it can be counted by eye."""
import tempfile
import unittest

from bench import put, run

ALPHA = r'''// A box.
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
'''
BETA = ("struct Long {\n" + "".join(f"    var value{number} = {number}\n" for number in range(21))
        + "    func wait() {\n" + "        step()\n" * 59 + "    }\n}\n")


class CensusTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="wakebridge-census") as folder:
            put(ALPHA, f"{folder}/Sources/Alpha/Box.swift")
            put("extension Box {\n    func tellAll() {}\n}\n", f"{folder}/Sources/Alpha/Box+Talk.swift")
            put(BETA, f"{folder}/Sources/Beta/Long.swift")
            put("/* Adds. */\nint add(int a, int b)\n{\n    return a + b; // sum\n}\n", f"{folder}/Sources/CBeta/add.c")
            put("Nobody reads this.\nNot even the user \"nobody\".\n", f"{folder}/docs/page.md")
            put("Somebody's, or whoever's.\n", f"{folder}/README.md")
            cls.status, cls.output = run(["python3", "Scripts/census.py", "--list", "--root", folder])
        # Each line of the table under its first words, with the figures that follow them.
        cls.rows = {}
        for line in cls.output.split("\n"):
            cells = [cell.replace(" ", "") for cell in line.split("  ") if cell]
            if len(cells) > 1:
                cls.rows.setdefault(cells[0], cells[1:])

    def setUp(self):
        self.assertEqual(self.status, 0, self.output)

    def test_lines(self):
        """it tells lines of code, comments and blanks apart, and counts what is declared in them"""
        # Files, lines, code, comments, blanks, types, functions; then references and closures, each for a thousand lines too.
        self.assertEqual(self.rows["Alpha"], ["2", "31", "25", "3", "3", "2", "6", "2", "64.5", "2", "64.5"])
        self.assertEqual(self.rows["Beta"], ["1", "84", "84", "0", "0", "1", "1", "0", "0.0", "0", "0.0"])
        self.assertEqual(self.rows["allSwift"][:3], ["3", "115", "109"])
        self.assertEqual(self.rows["allC"][:7], ["1", "5", "4", "1", "0", "0", "1"])

    def test_faults(self):
        """it finds the names, words and sizes that are to go, and says where each stands"""
        for title, figures in {
            "functionsnamedtake": ["2"], "functionsnamednote...": ["1"], "functionsnamedtell...": ["2"],
            "nobody,whoever,somebody,whom": ["3"], "functionsover60lines": ["1"],
            "typesover20storedproperties": ["1", "Long21"], "filesnamedX+Y.swift": ["1"],
        }.items():
            self.assertEqual(self.rows[title], figures, title)
        for place in ["Sources/Beta/Long.swift:23: wait", "docs/page.md:1: Nobody", "README.md:1: whoever"]:
            self.assertIn(f"  {place}\n", self.output)

    def test_unbuilt(self):
        """where nothing is built, it says so in place of the way of an event"""
        self.assertIn("not measured: nothing is built here; run: swift build --product wakebridged\n", self.output)
