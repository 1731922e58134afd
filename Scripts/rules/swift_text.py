"""Blanks comments and literals of Swift text, so that a rule about code does not stumble over prose.

Code inside an interpolation is code. Newlines stay, so that line numbers do.
"""
import functools
import re

MARK = re.compile(r'//|/\*|(#*)("""|")|[()]')
COMMENT = re.compile(r"/\*|\*/")
CHARACTER = re.compile(r"[^\n]")


def code_of(text):
    return Scan(text).code()


@functools.lru_cache(maxsize=None)
def stop(quote, pounds):
    """Where a literal ends, or has an escape."""
    return re.compile(f"({quote}{pounds})|" + re.escape("\\") + pounds)


class Scan:
    def __init__(self, text):
        self.text, self.pieces, self.kept = text, [], 0

    def code(self):
        self.take_code(0, False)
        return "".join(self.pieces) + self.text[self.kept:]

    def blank(self, start, end):
        self.pieces += [self.text[self.kept:start], CHARACTER.sub(" ", self.text[start:end])]
        self.kept = max(self.kept, end)

    def take_code(self, place, is_inside):
        """Returns where the code ends: at the end of the text, or after the parenthesis that closes an interpolation."""
        depth = 0
        while found := MARK.search(self.text, place):
            place = found.end()
            if found[0] == "//":
                end = self.text.find("\n", place)
                place = len(self.text) if end < 0 else end
                self.blank(found.start(), place)
            elif found[0] == "/*":
                place = self.take_comment(found.start())
            elif found[0] in "()":
                depth += 1 if found[0] == "(" else -1
                if is_inside and depth == 0:
                    return place
            else:
                place = self.take_literal(found)
        return len(self.text)

    def take_comment(self, start):
        """Comments of Swift nest."""
        depth, place = 0, start
        while found := COMMENT.search(self.text, place):
            place = found.end()
            depth += 1 if found[0] == "/*" else -1
            if depth == 0:
                break
        else:
            place = len(self.text)
        self.blank(start, place)
        return place

    def take_literal(self, opening):
        start, place = opening.start(), opening.end()
        ending = stop(opening[2], opening[1])
        while found := ending.search(self.text, place):
            place = found.end()
            if found[1]:
                break
            if self.text.startswith("(", place):
                self.blank(start, place)
                start = place = self.take_code(place, True)
            else:
                place += 1
        else:
            place = len(self.text)
        self.blank(start, place)
        return place
