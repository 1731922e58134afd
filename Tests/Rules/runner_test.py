"""Scripts/test.py with tests that are made up: what it leaves out."""
import os
import shutil

from bench import ROOT, InFolder, lines, put, run


class RunnerTests(InFolder):
    def test_skips(self):
        """what a list of skips names is left out and told with its reason, and all else runs"""
        folder = self.folder
        (folder / "Scripts").mkdir()
        for path in ROOT.glob("Scripts/*.py"):
            shutil.copy(path, folder / "Scripts")
        for name in ["ATests/One", "ATests/Two", "BTests/Three"]:
            put("@Test\n", folder / f"Tests/{name}.swift")
        put("# why\nBTests needs b\nATests.Two needs two\nATests.Some/test needs some\n", folder / "skips")
        ended = "Test run with 1 test in 1 suite passed after 1 second."
        put(f"#!/bin/sh\necho \"$@\" >>'{folder}/asked'; echo '{ended}'\n", folder / "bundle", 0o755)
        variables = dict(os.environ, TEST_BUNDLE=str(folder / "bundle"), TEST_SKIPS=str(folder / "skips"))
        status, output = run(["python3", str(folder / "Scripts/test.py"), "units"], **variables)
        self.assertEqual(status, 0, output)
        self.assertIn("\nPASS: 1 tests, 0 of them skipped, ", output)
        for told in ["BTests: needs b", "ATests.Two: needs two", "ATests.Some/test: needs some"]:
            self.assertIn(f"SKIPPED: {told}\n", output)
        asked = lines(folder / "asked")
        self.assertEqual(len(asked), 1)
        self.assertIn(r"/(One)\.swift", asked[0])
        self.assertTrue(asked[0].endswith(r"--skip ^ATests\.Some/test"), asked[0])
