"""Scripts/test.py with tests that are made up: what it leaves out, and what it tries again."""
import datetime
import os
import shutil

from bench import ROOT, InFolder, lines, put, run

ENDED = "Test run with 1 test in 1 suite"


class RunnerTests(InFolder):
    def setUp(self):
        super().setUp()
        for path in ROOT.glob("Scripts/*.py"):
            (self.folder / "Scripts").mkdir(exist_ok=True)
            shutil.copy(path, self.folder / "Scripts")

    def run_tests(self, body, *words, **variables):
        """The status and the output of the runner with a bundle that is a script; `asked` gets the words of each process."""
        put(f"#!/bin/sh\necho \"$@\" >>'{self.folder}/asked'\n{body}\n", self.folder / "bundle", 0o755)
        environment = dict(os.environ, TEST_BUNDLE=str(self.folder / "bundle"), **variables)
        return run(["python3", str(self.folder / "Scripts/test.py"), *words], **environment)

    def test_skips(self):
        """what a list of skips names is left out and told with its reason, and all else runs"""
        folder = self.folder
        for name in ["ATests/One", "ATests/Two", "BTests/Three"]:
            put("@Test\n", folder / f"Tests/{name}.swift")
        put("# why\nBTests needs b\nATests.Two needs two\nATests.Some/test needs some\n", folder / "skips")
        status, output = self.run_tests(f"echo '{ENDED} passed after 1 second.'", "units", TEST_SKIPS=str(folder / "skips"))
        self.assertEqual(status, 0, output)
        self.assertIn("\nPASS: 1 tests, 0 of them skipped, ", output)
        for told in ["BTests: needs b", "ATests.Two: needs two", "ATests.Some/test: needs some"]:
            self.assertIn(f"SKIPPED: {told}\n", output)
        asked = lines(folder / "asked")
        self.assertEqual(len(asked), 1)
        self.assertIn(r"/(One)\.swift", asked[0])
        self.assertTrue(asked[0].endswith(r"--skip ^ATests\.Some/test"), asked[0])

    def test_what_is_shaken(self):
        """a shake has the files of every change but those that measure, and every change has these too"""
        for name, tags in [("One", ""), ("Two", ".measures"), ("Three", ".fullScale"), ("Four", ".outside")]:
            put(f'@Suite("It", .tags({tags})) struct A {{ @Test func b() {{}} }}\n', self.folder / f"Tests/ATests/{name}.swift")
        look = "import sys; sys.path.insert(0, sys.argv[1]); import test; print(test.chosen('shaken', []), test.chosen('test', []))"
        status, output = run(["python3", "-c", look, str(self.folder / "Scripts")])
        together, alone = [("ATests", "Four"), ("ATests", "One")], [("ATests", "Two")]
        self.assertEqual((status, output), (0, f"{(together, [])} {(together, alone)}\n"))

    def fails(self, times, listed=""):
        """One file of each kind fails so many times. Gives the status, the output, and the files in the order of their processes."""
        put("@Test(.tags(.outside))\n", self.folder / "Tests/ATests/Broker.swift")
        put("@Test\n", self.folder / "Tests/ATests/Inside.swift")
        put(listed, self.folder / "Tests/quarantine.txt")
        (self.folder / "asked").unlink(missing_ok=True)
        body = f"""case $* in *'(Inside)'*) echo '{ENDED} passed after 1 second.'; exit ;; esac
[ "$(grep -c '(Broker)' '{self.folder}/asked')" -gt {times} ] && echo '{ENDED} passed after 1 second.' && exit
echo '✘ Test "of a broker" recorded an issue at Broker.swift:1:1: lost'
echo '✘ Test "of a broker" failed after 1 second with 1 issue.'
echo '{ENDED} failed after 1 second with 1 issue.'; exit 1"""
        status, output = self.run_tests(body, "units", TEST_JOBS="1")
        names = [line.partition("/(")[2].partition(")")[0] for line in lines(self.folder / "asked")]
        return status, output, names

    def test_an_outside_program_that_fails_once(self):
        """a file that counts on an outside program runs once more at the end, and a pass there is a failure with a name"""
        status, output, names = self.fails(1)
        self.assertEqual((status, names), (1, ["Broker", "Inside", "Broker"]), output)
        self.assertIn("\nFLAKED ATests.Broker\nFAIL: 1 of 2 tests failed, ", output)
        self.assertIn("recorded an issue at Broker.swift:1:1: lost", output)
        # The output of both tries is kept.
        self.assertIn("lost", (self.folder / ".build/tests/ATests.Broker.log").read_text())
        self.assertIn("passed", (self.folder / ".build/tests/ATests.Broker.again.log").read_text())

    def test_quarantine(self):
        """while the list names such a file it passes at its second try, and its name is printed all the same"""
        today = datetime.date.today()
        status, output, _ = self.fails(1, f"ATests.Broker {today} the broker drops\n")
        self.assertEqual(status, 0, output)
        self.assertIn("\nFLAKED ATests.Broker\nPASS: 2 tests, ", output)
        old = today - datetime.timedelta(days=8)
        self.assertEqual(self.fails(1, f"ATests.Broker {old} the broker drops\n")[0], 1)

    def test_failures_that_repeat(self):
        """a file that fails twice has failed, also where the list names it, and it has no third try"""
        status, output, names = self.fails(2, f"ATests.Broker {datetime.date.today()} the broker drops\n")
        self.assertEqual((status, names), (1, ["Broker", "Inside", "Broker"]), output)
        self.assertNotIn("FLAKED", output)

    def test_no_second_try(self):
        """a file without the tag that fails has failed, and is not tried again"""
        put("@Test\n", self.folder / "Tests/ATests/Inside.swift")
        # In a target whose files share a process, too.
        put("@Test\n", self.folder / "Tests/WakeCoreTests/Core.swift")
        put(f"ATests.Inside {datetime.date.today()} it fails\n", self.folder / "Tests/quarantine.txt")
        status, output = self.run_tests(f"echo '{ENDED} failed after 1 second.'; exit 1", "units")
        self.assertEqual((status, len(lines(self.folder / "asked"))), (1, 2), output)
        self.assertNotIn("FLAKED", output)
