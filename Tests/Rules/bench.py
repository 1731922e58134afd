"""Shared by the tests of rules and scripts: a folder of their own, files in it, and lines of shell."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def put(text, path, mode=0o644):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def lines(path):
    """Empty where there is no such file."""
    path = pathlib.Path(path)
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def run(words, folder=ROOT, **environment):
    """The status of a program, and its standard output and error together."""
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", check=False, env=environment or None)
    return done.returncode, done.stdout


class InFolder(unittest.TestCase):
    """Each test has a folder, which goes with it."""

    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="wakebridge-rules")
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def programs(self, folder, bodies):
        for name, body in bodies.items():
            put(f"#!/bin/sh\n{body}\n", folder / name, 0o755)

    def lend(self, folder, names):
        """Programs of this machine, under a PATH that has no others."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            place = next(f"{path}/{name}" for path in os.environ["PATH"].split(":") if os.access(f"{path}/{name}", os.X_OK))
            if not (folder / name).is_symlink():
                (folder / name).symlink_to(place)
