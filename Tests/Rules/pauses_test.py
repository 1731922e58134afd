"""How pauses of tests are found and counted."""
from bench import InFolder, put
from rules.pauses import no_pauses
from rules.tree import Tree

SWIFT = """// A test.
func pause(_ seconds: Double) {}
func test() async throws {
    try await Task.sleep(for: .seconds(1)); usleep(5)
    // sleep(1)
    print("sleep(1)")
    clock.sleep(for: .seconds(1))
    bluez.pause()
    try await pause(2)
}
"""
PYTHON = 'import time\n\ndef pause(seconds):\n    """Does not time.sleep(1)."""\n    time.sleep(seconds)  # sleep(2)\n'


class PausesTests(InFolder):
    def found(self, listed):
        put(SWIFT, self.folder / "Tests/A.swift")
        put(PYTHON, self.folder / "Tests/b.py")
        put(listed, self.folder / "Tests/pauses.txt")
        return [(path, line) for path, line, _ in no_pauses(Tree(self.folder))]

    def test_calls(self):
        """each call that pauses is found; comments, literals, declarations and made-up clocks are none"""
        self.assertEqual(self.found(""), [("Tests/A.swift", 4)] * 2 + [("Tests/A.swift", 9), ("Tests/b.py", 5)])

    def test_steps(self):
        """a pause that a script for made-up devices asks for counts as well"""
        put(f'let script = """\n    plug\n    \\(scale)pause {0.3}\n    until paused\n    """\n', self.folder / "Tests/Script.swift")
        self.assertEqual(self.found("")[-2:], [("Tests/Script.swift", 3), ("Tests/b.py", 5)])

    def test_list(self):
        """the list allows as many pauses as there are, and neither more nor fewer"""
        self.assertEqual(self.found("# why\nTests/A.swift 3 waits\nTests/b.py 1 waits\n"), [])
        self.assertEqual(self.found("Tests/A.swift 2 waits\nTests/b.py 1 waits\n"), [("Tests/A.swift", 9)])
        self.assertEqual(self.found("Tests/A.swift 4 waits\nTests/b.py 1 waits\n"), [("Tests/pauses.txt", 1)])
        self.assertEqual(self.found("Tests/A.swift 3 waits\nTests/b.py 1 waits\nTests/c.py 1 waits\n"), [("Tests/pauses.txt", 3)])
        self.assertEqual(self.found("Tests/A.swift 3 waits\nTests/b.py 1\n"), [("Tests/pauses.txt", 2)])
