"""How the pages for users are written: no word that hides who acts, no long sentence, no full table cell."""
import re

from rules import Violation, rule
from rules.document import filled

FORBIDDEN = {"nobody", "whoever", "somebody", "whom"}
LONGEST_SENTENCE, FULLEST_CELL = 30, 12


def user_pages(tree):
    return [tree.page(path) for path in tree.pages if not path.startswith("docs/dev/")]


def plain(text):
    """Without the targets of links, and with one word in place of each piece of code."""
    prose = "".join("code" if place % 2 else piece for place, piece in enumerate(text.split("`")))
    first, *rest = prose.split("](")
    return first + "".join("]" + piece.partition(")")[2] for piece in rest)


def is_word(text):
    return any(character.isalpha() or character.isnumeric() for character in text)


def words(text):
    return [word for word in plain(text).split(" ") if is_word(word)]


def lines(page):
    """The lines outside fences, with their numbers; those inside are empty."""
    is_fenced = False
    for number, line in enumerate(page.lines, 1):
        if line.startswith("```"):
            is_fenced = not is_fenced
        yield number, "" if is_fenced or line.startswith("```") else line


def paragraphs(page):
    """The text of each paragraph, heading and item of a list, with its first line; no table."""
    found = [[1, ""]]
    for number, line in lines(page):
        text = line.lstrip(" ")
        marker = re.match(r"[#\-*.\d]*", text)[0]
        begins = bool(marker) and text[len(marker):].startswith(" ")
        if begins or not text or text.startswith("|"):
            found.append([number, ""])
        if not text or text.startswith(("|", "<!--")):
            continue
        found[-1][0] = found[-1][0] if found[-1][1] else number
        found[-1][1] += " " + (text[len(marker):] if begins else text)
        if marker.startswith("#"):
            found.append([number, ""])
    return found


def sentences(paragraph):
    """Each sentence as its words."""
    found = [[]]
    for word in filled(plain(paragraph).split(" ")):
        found[-1].append(word)
        if word.rstrip("*)]\"'").endswith((".", "!", "?")):
            found.append([])
    return [[word for word in sentence if is_word(word)] for sentence in found]


@rule("forbidden-words", "no page says nobody, whoever, somebody or whom")
def forbidden_words(tree):
    for page in user_pages(tree):
        for number, line in lines(page):
            for word in re.findall(r"[^\W\d_]+", plain(line).lower()):
                if word in FORBIDDEN:
                    yield Violation(page.path, number, f"'{word}' hides who acts; name who does it")


@rule("long-sentences", "no sentence has more than 30 words")
def long_sentences(tree):
    for page in user_pages(tree):
        for number, paragraph in paragraphs(page):
            for sentence in sentences(paragraph):
                if len(sentence) > LONGEST_SENTENCE:
                    start = " ".join(sentence[:6])
                    yield Violation(page.path, number, f"a sentence of {len(sentence)} words begins with '{start}'; split it")


@rule("full-cells", "no cell of a table has more than 12 words")
def full_cells(tree):
    for page in user_pages(tree):
        for number, row in lines(page):
            for cell in row.replace("\\|", "/").split("|") if row.startswith("|") else []:
                if len(words(cell)) > FULLEST_CELL:
                    yield Violation(page.path, number, f"a cell has {len(words(cell))} words; shorten it: {cell.strip()}")


def shown(page):
    """The lines outside fences, headings and targets of links, with their numbers; pieces of code are one word.

    Of the changelog it is what no release has yet: what was released stays as it was written.
    """
    parts = 0
    for number, line in lines(page):
        parts += line.startswith("## ")
        if page.path == "CHANGELOG.md" and parts > 1:
            return
        if line and not line.startswith(("#", "<!--")):
            yield number, plain(line)


def opening(word):
    """Found where a sentence or a cell begins with the word."""
    return re.compile(rf"(?:^(?:[-*]|\d+\.)? *|[.!?:;)] |\| )(?:\*\*)?{word}\b(?![^.|]*\?)")


# Ways to write that readers took for a translation: how each is found, how often it may be found, and a better way.
# The counts are as low as the pages are today. Lower them with what you rewrite, and raise none.
PATTERNS = {
    "a sentence that opens with What": (opening("What"), 0, "begin with the thing that acts"),
    "a sentence that opens with Of": (opening("Of"), 0, "put the noun first"),
    "told, tells": (re.compile(r"\b(?:tell|tells|told|telling)\b", re.I), 0, "report, show, get"),
    "hear": (re.compile(r"\b(?:hear|hears|heard|hearing)\b", re.I), 6, "receive, get"),
    "say, said": (re.compile(r"\b(?:say|says|said|saying)\b", re.I), 2, "send, report, name, list, contain"),
    "stand": (re.compile(r"\b(?:stand|stands|stood)\b", re.I), 2, "is in"),
    "hold": (re.compile(r"\b(?:hold|holds|held)\b", re.I), 10, "applies, contains, keeps"),
    "lie": (re.compile(r"\b(?:lie|lies|lay)\b", re.I), 0, "is in"),
    "alone after its noun": (re.compile(r"\w alone(?=[.,;:)|]| and| \||$)"), 4, "put only before it"),
    "none as a pronoun": (re.compile(r"\b(?:is|are|was|has|have|with|or|and|gets?|takes?|in) none\b(?! of)"), 4, "repeat the noun"),
    "as of a noun": (re.compile(r"\bas of (?:a|an|any|the)\b"), 0, "as for, like"),
    "an archaic link": (re.compile(
        r"\b(?:though|all the same|whatever|at last|ever more|seldom|likewise|near by|meanwhile|thereby|beforehand)\b", re.I),
        2, "although, still, any, finally, also, nearby"),
    "a link that leads to the rest": (re.compile(
        r"\b(?:has|have|says?|lists?|gives?|tells?) (?:more|all(?=[.,;])|the rest|the details|the others)\b"), 2, "name what is there"),
    "a private word": (re.compile(
        r"\b(?:twins?|sleepers?|leases?|put aside|set aside|charged?|uncharged|strikes?|occasions?|lingers?)\b", re.I),
        6, "use the standard term"),
    "the voice of a proof": (re.compile(r"\b(?:proof|proofs|prove|proves|proved|proven)\b", re.I), 2, "write an instruction"),
}


def pattern_places(tree, pattern):
    return [(page.path, number) for page in user_pages(tree) for number, text in shown(page) for _ in pattern.findall(text)]


@rule("patterns", "the user pages have no more of each way to write like a translation than is counted, and the counts only fall")
def patterns(tree):
    for name, (pattern, most, better) in PATTERNS.items():
        places = pattern_places(tree, pattern)
        if len(places) > most:
            path, number = places[-1]
            yield Violation(path, number, f"{name}: {len(places)} in the user pages, and {most} may be; {better}")
