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
