"""How the rules of prose read a page."""
import unittest

from rules.document import Document
from rules.prose import PATTERNS, paragraphs, sentences, shown, words

# A sentence with each of the patterns, and one that says the same without it.
EXAMPLES = {
    "a sentence that opens with What": ("It ends. What you end is gone.", "What is it? It is gone."),
    "a sentence that opens with Of": ("- Of a device it has the name.", "- A list of devices."),
    "told, tells": ("The handler is told so.", "It reports `tell`."),
    "hear": ("Handlers hear of it.", "Handlers get it from [there](hear.md)."),
    "say, said": ("It says how.", "It names the way."),
    "stand": ("It stands there.", "It is standing."),
    "hold": ("This holds from then on.", "This applies, as `hold` does."),
    "lie": ("They lie in `/run`.", "They are in `/run`."),
    "alone after its noun": ("on the socket alone.", "alone on the socket"),
    "none as a pronoun": ("A warning is none.", "None of them is there."),
    "as of a noun": ("as of a strap", "as for a strap"),
    "an archaic link": ("Likewise it goes.", "It goes too, although it is late."),
    "a link that leads to the rest": ("[That page](x.md) has the rest.", "[That page](x.md) lists all keys."),
    "a private word": ("| twins | two |", "| `twins` | two |"),
    "the voice of a proof": ("That is the proof.", "It was tested."),
}


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

    def test_patterns(self):
        """each pattern is found in prose and in cells, and not in code, in fences and in the targets of links"""
        self.assertEqual(EXAMPLES.keys(), PATTERNS.keys())
        for name, (wrong, right) in EXAMPLES.items():
            page = Document("page.md", f"{wrong}\n{right}\n```text\n{wrong}\n```\n")
            pattern = PATTERNS[name][0]
            with self.subTest(name):
                self.assertEqual([number for number, text in shown(page) if pattern.search(text)], [1])
