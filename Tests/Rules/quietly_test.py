"""Scripts/quietly.sh, which keeps the output of a long command out of the terminal."""
from bench import ROOT, InFolder, run


class QuietlyTests(InFolder):
    def quietly(self, script):
        """What is shown of a command, and what its log has."""
        log = self.folder / "deep/log"
        status, output = run(["sh", str(ROOT / "Scripts/quietly.sh"), str(log), "working", "sh", "-c", script])
        return status, output.splitlines(), log.read_text().splitlines()

    def test_success(self):
        """a command that succeeds shows one line, and its output is in the log"""
        status, shown, log = self.quietly("seq 805; echo oh >&2")
        self.assertEqual((status, len(shown), len(log)), (0, 1, 806))
        self.assertTrue(shown[0].startswith("working; the output goes to "), shown)

    def test_failure(self):
        """a command that fails shows the end of its output and its status, and ends with that"""
        status, shown, log = self.quietly("seq 805; exit 7")
        self.assertEqual((status, len(log)), (7, 805))
        self.assertEqual(len(shown), 42)
        self.assertEqual(shown[-2], "805")
        self.assertIn("failed with status 7", shown[-1])
