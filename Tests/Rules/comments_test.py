"""How comments are counted that open without a subject or have a spoken word."""
from bench import InFolder, put
from rules.comments import LIST, comments
from rules.tree import Tree

SWIFT = """// Of a test.
import A
/// What is told to
/// Those who read.
let a = "// What is this"
/// The daemon reports it.
/// One of many.
"""


class CommentsTests(InFolder):
    def found(self, listed):
        put(SWIFT, self.folder / "Sources/A/B/C/a.swift")
        put(listed, self.folder / LIST)
        return [(path, line) for path, line, _ in comments(Tree(self.folder))]

    def test_counts(self):
        """a comment is counted by its first line, and a folder has as many as the list allows"""
        self.assertEqual(self.found("# why\nSources/A/B 2 1\n"), [])
        self.assertEqual(self.found("Sources/A/B 1 1\n"), [("Sources/A/B/C/a.swift", 3)])
        self.assertEqual(self.found("Sources/A/B 2 0\n"), [("Sources/A/B/C/a.swift", 3)])

    def test_falls(self):
        """a list that allows more than there is has to be lowered"""
        self.assertEqual(self.found("Sources/A/B 3 1\nSources/D 1 0\n"), [(LIST, 1), (LIST, 2)])
