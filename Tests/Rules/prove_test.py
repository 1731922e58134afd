"""Scripts/prove.py: the form of its lines, when a proof is old, what it refuses, and that the table names what is there."""
import contextlib
import importlib.util
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
description = importlib.util.spec_from_file_location("prove", ROOT / "Scripts/prove.py")
prove = importlib.util.module_from_spec(description)
description.loader.exec_module(prove)

PART = prove.Part("talk", "a talk works", "echo talked", ("Sources",), ("lab",))
HEAD = "# kept\n# as it is\n"


class RepositoryTest(unittest.TestCase):
    """Each test has a copy of a small repository with one commit."""

    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.model = pathlib.Path(place.name, "model")
        self = cls()
        self.root = cls.model
        self.put(".gitignore", ".build/\n")
        self.put(prove.RESULTS, HEAD)
        self.put("Sources/a.swift", "a")
        self.put("README.md", "r")
        self.more()
        # Hooks of an example would only be copied.
        self.git("init", "--quiet", "--template=")
        self.commit()

    def more(self):
        """Adds to the commit whatever else a class of tests wants."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = pathlib.Path(place.name, "copy")
        shutil.copytree(self.model, self.root)

    def git(self, *words):
        names = {f"GIT_{role}_{field}": "someone@example.org" for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}
        found = subprocess.run(["git", "-c", "gc.auto=0", *words], cwd=self.root, env={**os.environ, **names}, check=True, stdout=subprocess.PIPE)
        return found.stdout.decode().strip()

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a change")

    def line(self, result="passed", tree=None):
        return prove.Line("talk", result, tree or prove.tree_of(self.root), "2026-11-29T06:00:00Z")

    def quietly(self, part):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            passes = prove.prove(self.root, part)
        return passes, printed.getvalue().splitlines()


class LineTests(RepositoryTest):
    def test_a_line_is_read_as_it_was_written(self):
        prove.write(self.root, self.line())
        self.assertEqual(prove.read(self.root), {"talk": self.line()})
        text = (self.root / prove.RESULTS).read_text()
        self.assertEqual(text, f"{HEAD}PROVEN talk passed {prove.tree_of(self.root)} 2026-11-29T06:00:00Z\n")

    def test_the_newest_line_of_a_part_takes_the_place_of_the_older_and_all_are_sorted(self):
        for line in (self.line(), self.line()._replace(name="air"), self.line("failed")):
            prove.write(self.root, line)
        rows = [row.split()[1:3] for row in (self.root / prove.RESULTS).read_text().splitlines()[2:]]
        self.assertEqual(rows, [["air", "passed"], ["talk", "failed"]])
        self.assertEqual(os.listdir(self.root / "docs/dev"), ["proven.txt"])

    def test_what_is_no_whole_line_proves_nothing(self):
        for words in ("talk passed abc now", f"talk perhaps {'a' * 40} now", f"talk passed {'a' * 40}"):
            self.put(prove.RESULTS, f"PROVEN {words}\n")
            self.assertEqual(prove.read(self.root), {}, words)


class FreshnessTests(RepositoryTest):
    def complaint(self, line):
        return prove.complaint(self.root, PART, line)

    def test_a_proof_is_fresh_while_no_path_of_it_changes(self):
        line = self.line()
        self.assertIsNone(self.complaint(line))
        self.put("README.md", "another")
        self.commit()
        self.assertIsNone(self.complaint(line))

    def test_a_change_of_its_paths_is_named_with_the_command(self):
        line = self.line()
        self.put("Sources/b.swift", "b")
        self.commit()
        self.assertEqual(self.complaint(line),
                         "talk was proven before a change of Sources/b.swift; run: make prove PARTS=talk")

    def test_a_proof_that_is_missing_failed_or_skipped_is_none(self):
        again = "run: make prove PARTS=talk"
        self.assertEqual(self.complaint(None), f"talk was never proven; {again}")
        self.assertEqual(self.complaint(self.line("failed")), f"talk has failed on 2026-11-29T06:00:00Z; {again}")
        self.assertEqual(self.complaint(self.line("skipped")), f"talk was skipped on 2026-11-29T06:00:00Z; {again}")

    def test_a_tree_of_another_repository_proves_nothing(self):
        self.assertIn("not in this repository", self.complaint(self.line(tree="a" * 40)))


class RunTests(RepositoryTest):
    def test_a_part_ends_with_its_line_which_is_kept(self):
        passes, printed = self.quietly(PART)
        self.assertTrue(passes)
        self.assertEqual(printed[1], "talked")
        self.assertRegex(printed[-1], rf"^PROVEN talk passed {prove.tree_of(self.root)} 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(prove.shown(prove.read(self.root)["talk"]), printed[-1])
        self.assertEqual((self.root / ".build/prove/talk.log").read_text(), "talked\n")
        self.assertTrue(self.quietly(PART)[0], "the file of results is no change")

    def test_a_command_that_fails_has_failed_whatever_it_skipped(self):
        passes, printed = self.quietly(PART._replace(command="echo 'SKIPPED: the talk: no guest'; exit 1"))
        self.assertFalse(passes)
        self.assertIn("PROVEN talk failed", printed[-1])

    def test_a_part_of_which_all_was_skipped_has_not_passed(self):
        said = ["SKIPPED: the talk: no guest", "talk: skipped: no guest", "PASS: 3 tests, 3 of them skipped, 1 s"]
        for words in said:
            passes, printed = self.quietly(PART._replace(command=f"echo '{words}'"))
            self.assertFalse(passes)
            self.assertIn("PROVEN talk skipped", printed[-1])

    def test_a_part_of_which_some_ran_has_passed(self):
        for words in ("SKIPPED: WakeTests: no clock", "PASS: 3 tests, 2 of them skipped, 1 s"):
            self.assertTrue(self.quietly(PART._replace(command=f"echo '{words}'"))[0], words)

    def test_what_could_not_be_prepared_is_skipped_with_that_reason(self):
        self.put(".build/lab/reason", "there is no apt-get here\n")
        passes, printed = self.quietly(PART)
        self.assertFalse(passes)
        self.assertIn("prove: talk was skipped: there is no apt-get here", printed)

    def test_a_checkout_with_changes_is_refused_and_no_line_is_kept(self):
        self.put("Sources/new.swift", "n")
        with self.assertRaisesRegex(prove.Refused, r"\?\? Sources/new.swift"):
            self.quietly(PART)
        self.assertEqual(prove.read(self.root), {})

    def test_a_part_that_leaves_a_file_behind_has_failed(self):
        passes, printed = self.quietly(PART._replace(command="touch left"))
        self.assertFalse(passes)
        self.assertIn("PROVEN talk failed", printed[-1])

    def test_a_folder_without_commits_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(prove.Refused, "no checkout of git"):
            prove.tree_of(pathlib.Path(folder))

    def test_a_part_that_is_not_in_the_table_is_refused(self):
        with self.assertRaisesRegex(prove.Refused, 'no part "talks"'):
            prove.chosen(ROOT, ["talks"])


class PackageTests(RepositoryTest):
    """Scripts/deb.sh up to its refusal: after that it only prints `built`."""

    def more(self):
        for name in ("deb.sh", "debian.sh", "preparing.sh", "prove.py"):
            self.put(f"Scripts/{name}", (ROOT / "Scripts" / name).read_text().replace("\nmake_tools\n", "\necho built; exit\n"))
        self.put("Scripts/version.sh", "#!/bin/sh\necho 1.2.3\n")
        self.put("bin/dpkg", "#!/bin/sh\necho amd64\n")
        for name in ("Scripts/prove.py", "Scripts/version.sh", "bin/dpkg"):
            (self.root / name).chmod(0o755)

    def package(self, **variables):
        path = f"{self.root}/bin:{os.environ['PATH']}"
        ended = subprocess.run(["sh", "Scripts/deb.sh"], cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**os.environ, "PATH": path, "PROVING": "", **variables})
        return ended.returncode, ended.stdout, ended.stderr

    def test_a_commit_that_no_tag_of_the_version_names_is_packaged(self):
        self.git("tag", "v1.2.30")
        self.assertEqual(self.package()[:2], (0, "built\n"))

    def test_a_tarball_is_packaged(self):
        self.git("tag", "1.2.3")
        (self.root / ".git").rename(self.root / "git")
        self.assertEqual(self.package()[:2], (0, "built\n"))

    def test_a_tag_of_the_version_that_is_not_proven_is_refused(self):
        self.git("tag", "1.2.3")
        status, printed, complaints = self.package()
        self.assertEqual((status, printed), (1, ""))
        self.assertIn("prove: lab was never proven; run: make prove PARTS=lab", complaints)
        self.assertIn("deb: 1.2.3 is tagged, and it is not proven", complaints)
        self.assertEqual(self.package(PROVING="yes")[:2], (0, "built\n"), "the proofs themselves package it")

    def test_a_tag_that_begins_with_v_is_one_of_the_version(self):
        self.git("tag", "v1.2.3")
        self.assertEqual(self.package()[0], 1)

    def test_a_tag_of_the_version_that_is_proven_is_packaged(self):
        for part in prove.parts(self.root):
            prove.write(self.root, self.line()._replace(name=part.name))
        self.commit()
        self.git("tag", "v1.2.3")
        self.assertEqual(self.package()[:2], (0, "built\n"))


class TableTests(unittest.TestCase):
    table = prove.parts(ROOT)

    def test_every_part_has_a_name_of_its_own_and_names_paths_that_are_there(self):
        self.assertEqual(len({part.name for part in self.table}), len(self.table))
        for part in self.table:
            self.assertRegex(part.name, r"^[a-z0-9]+$")
            for path in part.paths:
                self.assertTrue((ROOT / path).exists(), f"{part.name}: {path}")

    def test_every_file_of_tests_is_there_and_every_test_of_full_scale_has_a_part(self):
        named = [file for part in self.table for file in prove.files_of(part)]
        self.assertEqual(len(named), len(set(named)))
        for file in named:
            # The folder of a target may have another name.
            _, stem = file.split(".")
            self.assertTrue(list((ROOT / "Tests").rglob(f"{stem}.swift")), file)
        self.assertLessEqual(set(prove.full_scale(ROOT)), {*named, "BreakTests.BreakTests"})

    def test_every_command_starts_targets_and_scripts_that_are_there(self):
        makefile = (ROOT / "Makefile").read_text()
        for part in self.table:
            for target in re.findall(r"\bmake ([a-z0-9-]+)", part.command):
                self.assertRegex(makefile, rf"(?m)^{target}:", part.name)
            for script in re.findall(r"Scripts/\S+", part.command):
                self.assertTrue(os.access(ROOT / script, os.X_OK), script)

    def test_every_part_has_a_row_on_the_page_of_the_gate(self):
        rows = re.findall(r"(?m)^\| `([a-z0-9]+)` \|", (ROOT / "docs/dev/gate.md").read_text())
        self.assertEqual(sorted(rows), sorted(part.name for part in self.table))


class GateTests(unittest.TestCase):
    def test_each_scenario_of_the_gate_is_there_once_with_its_reason(self):
        rows = [row for row in (ROOT / "Tests/Lab/gate.txt").read_text().splitlines() if not row.startswith("#")]
        names = [row.split("#")[0].strip() for row in rows]
        self.assertEqual(len(names), len(set(names)))
        for row, name in zip(rows, names):
            self.assertTrue((ROOT / f"Tests/Lab/scenarios/{name}.py").exists(), row)
            self.assertRegex(row, r"# \w+", "a scenario needs a reason")


if __name__ == "__main__":
    unittest.main()
