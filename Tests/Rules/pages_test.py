"""How the rules of pages read one, on a made-up checkout with a fault of each kind."""
from bench import InFolder, put
from rules import RULES
from rules.document import Document
from rules.tree import Tree


class PagesTests(InFolder):
    def violations(self, name):
        check = next(rule.check for rule in RULES if rule.name == name)
        return [(path, line) for path, line, _ in check(Tree(self.folder))]

    def test_links(self):
        """a link to a file or a heading that is not there is found, and one that leads somewhere is not"""
        put("# One\n[a](docs/a.md#two) [b](docs/b.md)\n[c](#none) [d](https://e.org/x.md)\n", self.folder / "README.md")
        put("# Two\n", self.folder / "docs/a.md")
        self.assertEqual(self.violations("links"), [("README.md", 2)])
        self.assertEqual(self.violations("anchors"), [("README.md", 3)])

    def test_targets(self):
        """a target and a file that are not there are found in backticks and in blocks, and not in output"""
        put("demo:\n", self.folder / "Makefile")
        put("`make demo`\n`make tea`\n```text\nmake coffee\n```\n```sh\nScripts/none.sh\n```\n", self.folder / "README.md")
        self.assertEqual(self.violations("page-targets"), [("README.md", 2)])
        self.assertEqual(self.violations("page-files"), [("README.md", 7)])

    def test_json(self):
        """a page and an example that cut JSON by its text are found, and one that uses jq is not"""
        put("# One\n```sh\nseq=${line#*\\\"seq\\\":}\n```\n", self.folder / "README.md")
        put("jq .seq | while read -r seq; do echo ${seq%%,*}; done\n", self.folder / "Examples/handlers/a.sh")
        put("#!/bin/sh\nid=${line##*\\\"id\\\":}\n", self.folder / "Examples/handlers/b.sh")
        self.assertEqual(self.violations("shown-json"), [("README.md", 3), ("Examples/handlers/b.sh", 2)])

    def test_document(self):
        """blocks, headings and words in the first cells of a table are read as they are written"""
        page = Document("docs/x.md", "## What's `new`, here?\n| `a`, `b` | `c` |\n# End\n| `d` | |\n```sh\nls\n```\n")
        self.assertEqual(page.words_below("## What's `new`, here?"), ["a", "b"])
        self.assertEqual(page.anchors, {"whats-new-here", "end"})
        self.assertEqual([(block.language, block.text, block.line) for block in page.blocks], [("sh", "ls", 5)])
