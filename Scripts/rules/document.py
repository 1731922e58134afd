"""A Markdown page as rules see it: its fenced blocks, its links, its headings, its words in backticks."""
import collections
import functools
import re

Block = collections.namedtuple("Block", "language text line")
Link = collections.namedtuple("Link", "target line")
LINK = re.compile(r"\]\(((?:(?!\]\()[^)])*)")


class Document:
    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.split("\n")

    @functools.cached_property
    def blocks(self):
        found, opened = [], None
        for number, line in enumerate(self.lines, 1):
            if line.startswith("```"):
                if opened:
                    found.append(Block(opened[0], "\n".join(opened[1]), opened[2]))
                opened = None if opened else (line[3:], [], number)
            elif opened:
                opened[1].append(line)
        return found

    def block(self, language, words):
        return next((block for block in self.blocks if block.language == language and words in block.text), None)

    @property
    def folder(self):
        return "".join(part + "/" for part in self.path.split("/")[:-1])

    @functools.cached_property
    def links(self):
        return [Link(found[1], self.text.count("\n", 0, found.start()) + 1) for found in LINK.finditer(self.text)]

    @property
    def linked_paths(self):
        """Links to files, as paths from the root."""
        return [Link(self.folder + link.target.split("#")[0], link.line) for link in self.links
                if "://" not in link.target and not link.target.startswith("#")]

    @property
    def linked_places(self):
        """Links to headings: page, heading and line."""
        for link in self.links:
            parts = link.target.split("#")
            if len(parts) == 2 and (not parts[0] or parts[0].endswith(".md")) and "://" not in parts[0]:
                yield self.folder + parts[0] if parts[0] else self.path, parts[1], link.line

    @functools.cached_property
    def anchors(self):
        """The headings as GitHub writes them after the `#` of a link."""
        headings = [line.lstrip("#").lstrip(" ").lower() for line in self.lines if line.startswith("#")]
        return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}

    def below(self, heading, until="#"):
        """The lines that follow a heading up to the next one, each with its number; none where there is no such heading."""
        if heading not in self.lines:
            return []
        start, found = self.lines.index(heading) + 1, []
        for number, line in enumerate(self.lines[start:], start + 1):
            if line.startswith(until):
                break
            found.append((number, line))
        return found

    def words_below(self, heading):
        """The words in backticks in the first cells of the tables below a heading."""
        cells = [filled(line.split("|"))[0] for _, line in self.below(heading) if line.startswith("| `")]
        return [word for cell in cells for word in cell.split("`")[1::2]]


def filled(pieces):
    """Without the empty ones."""
    return [piece for piece in pieces if piece]
