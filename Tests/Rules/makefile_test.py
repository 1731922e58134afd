"""The Makefile's doors: what each one starts and with which words, also of those that are too dear to be gone through."""
import os
import shutil

from bench import ROOT, InFolder, put, run
from rules.tree import Tree

ASKED = "$LAB_SOAK,$LAB_LIMIT,$TEST_SILENCE,$LAB_SCENARIOS,$BREAK_SECONDS,$BREAK_RATE,$WAKEBRIDGED"
TREE = Tree(ROOT)


class MakefileTests(InFolder):
    """A folder with the Makefile alone, beside scripts that only say what they were asked for."""

    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "Makefile", self.folder)
        names = [path for path in ROOT.glob("Scripts/*.*") if path.suffix in (".sh", ".py")]
        for path in names + list(ROOT.glob("Tests/Lab/record*.sh")):
            name = path.relative_to(ROOT)
            put(f'#!/bin/sh\necho "{name} $*: {ASKED}"\n', self.folder / name, 0o755)
        put("#!/bin/sh\necho built\n", self.folder / "Scripts/release.sh", 0o755)
        put("import sys\nprint('fleet', *sys.argv[1:])\n", self.folder / "Tests/Scale/fleet.py")
        (self.folder / ".build").mkdir()

    def make(self, *words):
        """The output of a target there, by lines; the variables of the shell that runs these tests stay outside."""
        status, output = run(["make", "-s", *words], self.folder, PATH=os.environ["PATH"], HOME=str(self.folder))
        self.assertEqual(status, 0, output)
        return [line for line in output.split("\n") if line]

    def test_help(self):
        """make help names every target but the preparations, each with a sentence beside it"""
        rows = [line.split() for line in self.make("help") if line.startswith("  make ")]
        named = sorted(name for name in TREE.targets if not name.startswith("prepare"))
        self.assertEqual(sorted(row[1] for row in rows), named)
        for row in rows:
            self.assertGreater(len(row), 4, row)

    def test_breaks(self):
        """a break test lasts ten minutes at 10,000 events/s on what was built for speed, unless it is told otherwise"""
        words = "Scripts/test.py --no-parallel --filter BreakTests: ,,,,"
        self.assertEqual(self.make("break")[-1], words + "600,10000,built/wakebridged")
        self.assertEqual(self.make("break", "BREAK_SECONDS=60", "BREAK_RATE=2000")[-1], words + "60,2000,built/wakebridged")

    def test_soaks(self):
        """a soak lasts half an hour or for LAB_SOAK seconds, and its guest and its silence are allowed longer"""
        words = "Scripts/test.py --filter LabTests: "
        self.assertEqual(self.make("lab-soak")[-1], words + "1800,4200,4500,soak,,,")
        self.assertEqual(self.make("lab-soak", "LAB_SOAK=60")[-1], words + "60,720,1020,soak,,,")
        self.assertEqual(self.make("lab", "LAB_SCENARIOS=talk session")[-1], words + ",,,talk session,,,")

    def test_benchmarks(self):
        """benchmarks are handed ARGS, prepared before the one and without preparation for the other"""
        self.assertTrue(self.make("bench", "ARGS=latency idle")[-1].startswith("Scripts/bench.sh latency idle:"))
        self.assertTrue(any(line.startswith("Scripts/prepare-bench.sh :") for line in self.make("bench")))
        self.assertEqual(self.make("bench-fleet", "ARGS=--bridges 10"), ["fleet --bridges 10"])

    def test_cleans(self):
        """make clean leaves nothing of what was built, and all else"""
        put("x", self.folder / ".build/built")
        self.make("clean")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["Makefile", "Scripts", "Tests"])

    def test_finds_swift(self):
        """a Swift that swiftly put below HOME is found where PATH has lost it, as under sudo"""
        place = self.folder / ".local/share/swiftly/bin/swift-of-this-test"
        put("#!/bin/sh\n", place, 0o755)
        self.assertEqual(self.make("--eval=where: ; @command -v swift-of-this-test", "where"), [str(place)])
