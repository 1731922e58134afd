"""How the rules of prose read a page."""
import unittest

from rules.document import Document
from rules.prose import paragraphs, sentences, words


class ProseTests(unittest.TestCase):
    def test_text(self):
        """the rules see sentences, links, code and cells as a reader does"""
        text = "If `a b c` fails, see [the page](x/y.md#z). Then **stop.** It is 5.66 (or less)."
        self.assertEqual([len(sentence) for sentence in sentences(text)], [6, 2, 5, 0])
        self.assertEqual(words("[one](a/b-c.md) `x y` - two"), ["[one]", "code", "two"])

    def test_paragraphs(self):
        """headings, items, tables and fences part paragraphs, each with its line"""
        page = Document("page.md", "# A head\none\ntwo\n\n- an item\n  goes on\n| a | b |\n```sh\ncode\n```\nlast")
        found = [(line, text.strip()) for line, text in paragraphs(page) if text]
        self.assertEqual(found, [(1, "A head"), (2, "one two"), (5, "an item goes on"), (11, "last")])
