"""Reads JSON5, as far as profiles and vectors are written in it."""
import json
import re

TOKEN = re.compile(r"""
    (?P<rest>\s+ | //[^\n]* | /\*.*?\*/)
  | (?P<text>"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*')
  | (?P<mark>[{}\[\]:,])
  | (?P<key>[\w$]+)(?=\s*:)
  | (?P<word>[^\s{}\[\]:,"'/]+)
""", re.VERBOSE | re.DOTALL)


def tokens(text):
    place = 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if not found:
            raise ValueError(f"no JSON5 in line {text.count(chr(10), 0, place) + 1}: {text[place:place + 20]!r}")
        place = found.end()
        if found.lastgroup != "rest":
            yield found.lastgroup, found.group()


def text_of(word):
    """A text in quotes of either kind."""
    inner = word[1:-1]
    return json.loads('"' + (inner.replace("\\'", "'").replace('"', '\\"') if word[0] == "'" else inner) + '"')


def plain(kind, word):
    """The same as JSON."""
    if kind == "text":
        return json.dumps(text_of(word))
    return json.dumps(word) if kind == "key" else word


def parse(text):
    made = []
    for kind, word in tokens(text):
        if word in ("}", "]") and kind == "mark" and made and made[-1] == ",":
            made.pop()
        made.append(plain(kind, word))
    return json.loads("".join(made))


def read(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read())
