"""The repository as the rules see it: where files are, their text, and which part of it is code."""
import functools
import os
import re
import subprocess

import census
from rules import Violation
from rules.document import Document
from rules.swift_text import code_of

PLACES = ["Sources", "Web", "Tests", "Examples", "Devices", "Packages", "docs", "Scripts", ".ci"]
# The README and the pages beside it.
BESIDE = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]


class File:
    """A file, with its path below the root."""

    def __init__(self, root, path):
        self.path = path
        with open(f"{root}/{path}", "rb") as file:
            self.text = file.read().decode(errors="replace")

    @functools.cached_property
    def code(self):
        """The text with comments and literals blanked; lines keep their numbers."""
        return code_of(self.text)

    @property
    def name(self):
        return self.path.rsplit("/", 1)[-1]

    @property
    def module(self):
        """`WakeModel` of `Sources/WakeModel/Time.swift`."""
        return self.path.split("/")[1]

    @functools.cached_property
    def lines(self):
        return self.text.split("\n")

    @functools.cached_property
    def imports(self):
        """The modules it imports, each with its line. Words such as `@testable` may come before `import`."""
        found = {}
        for number, line in enumerate(self.code.split("\n"), 1):
            words = line.split(" ") if "import" in line else []
            words = [word for word in words if word]
            # `import struct Module.Name` imports Module.
            if "import" in words[:3] and words.index("import") + 1 < len(words):
                found.setdefault(words[-1].split(".")[0], number)
        return found

    def at(self, line, sentence):
        return Violation(self.path, line, sentence)

    def places(self, pattern, sentence):
        """A violation for each line of the code in which the pattern is found."""
        return self._places(self.code, pattern, sentence)

    def text_places(self, pattern, sentence):
        """The same for the whole text, comments and literals too."""
        return self._places(self.text, pattern, sentence)

    def _places(self, text, pattern, sentence):
        numbers = {text.count("\n", 0, found.start()) + 1 for found in re.finditer(pattern, text)}
        return [self.at(number, sentence) for number in sorted(numbers)]


class Tree:
    """All files of one checkout."""

    def __init__(self, root):
        self.root = str(root)

    def exists(self, path):
        return os.path.exists(f"{self.root}/{path}")

    def names(self, folder):
        """Sorted; none where there is no such folder."""
        path = f"{self.root}/{folder}"
        return sorted(os.listdir(path)) if os.path.isdir(path) else []

    @functools.lru_cache(maxsize=None)
    def file(self, path):
        return File(self.root, path)

    def text(self, path):
        """Empty where there is no such file."""
        return self.file(path).text if os.path.isfile(f"{self.root}/{path}") else ""

    def line_of(self, path, text):
        found = self.text(path).find(text)
        return 1 if found < 0 else self.text(path).count("\n", 0, found) + 1

    @functools.lru_cache(maxsize=None)
    def page(self, path):
        return Document(path, self.text(path))

    def below(self, folder, endings=("",)):
        """The files below a folder whose names end so; pictures are no text."""
        found = []
        for place, folders, names in os.walk(f"{self.root}/{folder}", followlinks=True):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            inside = os.path.relpath(place, self.root)
            found += [f"{inside}/{name}" for name in names if name.endswith(endings) and not name.endswith(".png")]
        return [self.file(path) for path in sorted(found) if os.path.isfile(f"{self.root}/{path}")]

    @functools.cached_property
    def swift(self):
        return self.below("Sources", (".swift",))

    @functools.cached_property
    def examples(self):
        return self.below("Examples", (".swift",))

    @functools.cached_property
    def tests(self):
        return self.below("Tests", (".swift",))

    @functools.cached_property
    def c(self):
        return self.below("Sources", (".c", ".h"))

    @functools.cached_property
    def counted(self):
        """The files below Sources as the census reads them."""
        return [census.Source(self.root, file.path) for file in sorted(self.swift + self.c, key=lambda file: file.path)]

    @functools.cached_property
    def everything(self):
        """Every text that people write and commit."""
        beside = [path for path in ["Makefile", "Package.swift"] + BESIDE if self.exists(path)]
        return [file for place in PLACES for file in self.below(place)] + [self.file(path) for path in beside]

    @functools.cached_property
    def scripts(self):
        paths = [file.path for file in self.everything]
        return [path for path in paths if path.endswith((".sh", ".py"))] + [".ci/run"]

    @functools.cached_property
    def pages(self):
        """The pages beside the README and every page below docs."""
        return BESIDE + [file.path for file in self.below("docs", (".md",))]

    @functools.cached_property
    def targets(self):
        """The targets that the Makefile declares."""
        text = self.text("Makefile").replace("\\\n", " ")
        return next((line.split()[1:] for line in text.split("\n") if line.startswith(".PHONY:")), [])

    def has_target(self, name):
        return any(line.startswith(f"{name}:") for line in self.text("Makefile").split("\n"))

    def run(self, words, **more):
        """Runs a command in the root; returns its status, and its standard output and error together."""
        done = subprocess.run(words, cwd=self.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False, **more)
        return done.returncode, done.stdout
