"""Scripts/venv.sh with a Python that is made up: which clones share an environment, and what an interruption leaves."""
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import unittest

from bench import ROOT, lines, put, run

# It answers what it is, and makes an environment whose pip notes each call. `STEP` is run by pip before that.
PYTHON = """#!/bin/sh
case $1 in -c) echo "/usr $VERSION"; exit ;; esac
for place; do :; done
mkdir -p "$place/bin"
printf '#!/bin/sh\\n%s\\necho "$*" >>"%s/asked"\\n' "$STEP" "$NOTES" >"$place/bin/pip"
chmod 755 "$place/bin/pip"
"""


class VenvTests(unittest.TestCase):
    """Two clones and a cache. They are not below /tmp, which a process of tests has for itself."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="wakebridge-rules", dir="/var/tmp")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        for clone in ["one", "two"]:
            for name in ["venv.sh", "preparing.sh"]:
                (self.folder / clone / "Scripts").mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / "Scripts" / name, self.folder / clone / "Scripts")
            put("part==1.0\n", self.folder / clone / "requirements.txt")
        put(PYTHON, self.folder / "python", 0o755)

    def words(self, clone, *options):
        return [str(self.folder / clone / "Scripts/venv.sh"), "requirements.txt", str(self.folder / "python"), *options]

    def variables(self, variables):
        known = {"PATH": os.environ["PATH"], "HOME": "/dev/null", "XDG_CACHE_HOME": str(self.folder / "cache"), "STEP": ":"}
        return {**known, "NOTES": str(self.folder), "VERSION": "3.1", **variables}

    def made(self, clone, *options, **variables):
        """The status, and the last line of the output."""
        status, output = run(self.words(clone, *options), **self.variables(variables))
        return status, output.splitlines()[-1]

    @property
    def asked(self):
        return lines(self.folder / "asked")

    def test_clones_share(self):
        """a second clone uses the environment that the first one made, and installs nothing"""
        (_, first), (_, second) = self.made("one"), self.made("two")
        self.assertEqual(first, second)
        self.assertTrue(first.startswith(f"{self.folder}/cache/wakebridge/venv/"), first)
        self.assertEqual(self.asked, ["--disable-pip-version-check install --requirement requirements.txt"])
        self.assertEqual(lines(f"{first}/requirements.txt"), ["part==1.0"])

    def test_others(self):
        """other requirements, another Python and other options each have an environment of their own"""
        found = {self.made("one"), self.made("one", VERSION="3.2"), self.made("one", "--system-site-packages")}
        put("part==2.0\n", self.folder / "one/requirements.txt")
        self.assertEqual(len(found | {self.made("one")}), 4)
        self.assertEqual(len(self.asked), 4)

    def test_interruption(self):
        """an environment whose making was killed is made again, and one that pip could not fill has a reason"""
        status, reason = self.made("one", STEP="exit 1")
        self.assertEqual((status, reason), (1, "pip could not install what requirements.txt names"))
        self.assertEqual(self.asked, [])
        self.made("one", STEP='kill -KILL "$PPID"; exit')
        self.assertEqual(self.made("two")[0], 0)
        self.assertEqual(len(self.asked), 1)

    def start(self, clone, step):
        started = subprocess.Popen(self.words(clone), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=self.variables({"STEP": step}))
        self.addCleanup(started.stdout.close)
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def waits_for_lock(self):
        [lock] = self.folder.glob("cache/wakebridge/venv/*.lock")
        return any(f":{lock.stat().st_ino} " in line and "->" in line for line in lines("/proc/locks"))

    def test_together(self):
        """while one clone makes an environment another one waits for it, and does not make it too"""
        begun, go = self.folder / "begun", self.folder / "go"
        for pipe in [begun, go]:
            os.mkfifo(pipe)
        first = self.start("one", f"echo >{begun}; read line <{go}")
        self.assertEqual(begun.read_text(), "\n")
        second = self.start("two", f"echo again >{begun}")
        with open(begun, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as beginnings:
            while not self.waits_for_lock():
                self.assertEqual(select.select([beginnings], [], [], 0.01)[0], [], "the second clone makes it too")
        go.write_text("on\n")
        self.assertEqual(first.communicate()[0], second.communicate()[0])
        self.assertEqual(len(self.asked), 1)

    def test_places(self):
        """where tests could not see the cache, or a user has no home, a clone keeps its own environment below .build"""
        for variables in [{"XDG_CACHE_HOME": "/tmp/somewhere"}, {"XDG_CACHE_HOME": ""}]:
            status, place = self.made("one", **variables)
            self.assertEqual(status, 0)
            self.assertRegex(place, "^[.]build/venv/[0-9a-f]{16}$")
