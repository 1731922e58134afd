#!/usr/bin/env python3
"""What the code is made of, in figures that a change can be held to: `make census`, or `--root DIR` for another checkout.

Counted in the text, comments and literals blanked:
- a code line holds more than blanks and comment; a comment line holds a comment only
- a function is a `func`, `init`, `deinit` or `subscript` with a body; a type is a struct, class, enum, actor or protocol
- a stored property is one of an instance; it is a closure if `->` stands in its type, or in that of an alias of its type
- a word in quotes, such as the account "nobody", is a name and does not count

Counted while it runs: the way of one event, as event_way.py says.
"""
import argparse
import bisect
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
import event_way  # noqa: E402

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORDS = re.compile(r"[\"`](?:nobody|whoever|somebody|whom)[\"`]|\b(nobody|whoever|somebody|whom)\b", re.I)
TYPES = ("struct", "class", "enum", "actor", "protocol", "extension")
MEMBERS = ("init", "deinit", "subscript")
LONGEST_FUNCTION, MOST_PROPERTIES = 60, 20
Function = collections.namedtuple("Function", "name path first last")
Property = collections.namedtuple("Property", "owner text count")


def blanked(text, is_swift):
    """The code with comments and literals blanked, and the text with comments blanked; lines stay where they are."""
    code, uncommented = list(text), list(text)
    mark = re.compile(r'//|/\*|#*"|\(|\)' if is_swift else r"//|/\*|\"|'")

    def blank(target, start, end):
        for place in range(start, min(end, len(text))):
            target[place] = "\n" if text[place] == "\n" else " "

    def literal(opening):
        pounds, quote = opening[0][:-1], opening[0][-1]
        quote = quote * 3 if text.startswith(quote * 3, opening.end() - 1) and is_swift else quote
        place = opening.start() + len(pounds + quote)
        start = opening.start()
        while place < len(text) and not text.startswith(quote + pounds, place):
            if not text.startswith("\\" + pounds, place):
                place += 1
            elif is_swift and text.startswith("(", place + 1 + len(pounds)):
                blank(code, start, place)
                start = place = scan(place + 1 + len(pounds), True)  # what is interpolated is code
            else:
                place += 2 + len(pounds)
        blank(code, start, place + len(quote + pounds))
        return place + len(quote + pounds)

    def scan(place, is_interpolated):
        depth = 0
        while found := mark.search(text, place):
            place = found.end()
            if found[0] in ("//", "/*"):
                end = text.find("\n", place) if found[0] == "//" else text.find("*/", place) + 2
                place = end if end >= place else len(text)
                blank(code, found.start(), place)
                blank(uncommented, found.start(), place)
            elif found[0] in "()":
                depth += 1 if found[0] == "(" else -1
                if is_interpolated and depth == 0:
                    return place
            else:
                place = literal(found)
        return len(text)

    scan(0, False)
    return "".join(code), "".join(uncommented)


class Source:
    """One file below Sources: its lines, and what it declares."""

    def __init__(self, root, path):
        self.path, self.target, self.is_swift = path, path.split("/")[1], path.endswith(".swift")
        with open(f"{root}/{path}", encoding="utf-8") as file:
            text = file.read()
        self.code, uncommented = blanked(text, self.is_swift)
        self.starts = [0] + [found.end() for found in re.finditer("\n", text)]
        self.lines = len(text.splitlines())
        self.blank = sum(not line.strip() for line in text.splitlines())
        self.coded = sum(bool(line.strip()) for line in uncommented.splitlines())
        self.functions, self.names, self.types, self.properties = [], [], [], []
        self.references = len(re.findall(r"(?<![.\w])(?:unowned|weak)\b(?!:)", self.code)) if self.is_swift else 0
        self.aliases = re.findall(r"\btypealias (\w+)[^\n]*->", self.code)
        self.read_swift() if self.is_swift else self.read_c()

    def line(self, place):
        return bisect.bisect_right(self.starts, place)

    def read_c(self):
        for found in re.finditer(r"^[A-Za-z][\w \t*]*?\b(\w+)\([^;{}]*\)\s*\{", self.code, re.M):
            end = self.code.find("\n}", found.end()) + 1
            self.functions.append(Function(found[1], self.path, self.line(found.start()), self.line(end)))
        self.types = re.findall(r"\b(?:struct|enum|union)\b[\w \t]*\{", self.code)

    def read_swift(self):
        """Follows the braces: the first one after a declaration, in as many parentheses as that, opens its body."""
        tokens = [(found[0], found.start()) for found in re.finditer(r"[^\W\d]\w*|->|\n|\S", self.code)]
        scopes, pending, depth = [], None, 0  # a scope is kind, name, where it begins, how deep in parentheses
        for index, (token, place) in enumerate(tokens[:-1]):
            before, after = tokens[index - 1][0], tokens[index + 1][0]
            inside = scopes[-1][0] if scopes else ""
            path = [name for kind, name, _, _ in scopes if kind in TYPES]
            depth += (token in "([") - (token in ")]")
            if token == "{":
                scopes.append(pending if pending and pending[3] == depth else ("block", "", place, depth))
                pending = None if pending and pending[3] == depth else pending
            elif token == "}" and scopes:
                kind, name, start, _ = scopes.pop()
                if kind == "func":
                    self.functions.append(Function(name, self.path, self.line(start), self.line(place)))
            elif before == ".":
                continue
            elif token in TYPES and re.match(r"[A-Z[]", after):
                name = re.match(r"[\w.\[\]]+", self.code[tokens[index + 1][1]:])[0]
                pending = (token, name, place, depth)
                self.types += [".".join(path + [name])] if token != "extension" else []
            elif token == "func":
                pending = ("func", after, place, depth)
                self.names.append(after)
            elif token in MEMBERS and inside in TYPES and after in "(<?!{":
                pending = ("func", token, place, depth)
            elif token in ("let", "var") and inside in TYPES and inside != "protocol" and depth == scopes[-1][3]:
                self.read_property(tokens, index, ".".join(path))

    def read_property(self, tokens, index, owner):
        """Computed if a brace comes before any `=`, unless observers stand in it. `var a, b: Int` are two."""
        start = tokens[index][1]
        if re.search(r"\b(static|class)\b", self.code[self.starts[self.line(start) - 1]:start]):
            return
        depth, count, equals, last = 0, 1, None, ""
        for token, place in tokens[index + 1:]:
            depth += (token in "([") - (token in ")]") + ((token == "<") - (token == ">") if equals is None else 0)
            if token == "{" and depth == 0 and equals is None:
                if not re.match(r"\{\s*(willSet|didSet)\b", self.code[place:]):
                    return
                break
            if token in "\n;}" and depth <= 0 and last not in ("=", ":", ",", "->"):
                break
            equals = place if token == "=" and depth == 0 and equals is None else equals
            count += token == "," and depth == 0 and equals is None
            last = token if token != "\n" else last
        self.properties.append(Property(owner, self.code[start:equals or place], count))


def files_below(root, folder):
    for place, folders, names in os.walk(f"{root}/{folder}"):
        folders.sort()
        yield from (os.path.relpath(f"{place}/{name}", root) for name in sorted(names))


# MARK: The table

def figures(sources):
    """One row: what stands in the lines of these files."""
    lines = sum(source.lines for source in sources)
    coded, blank = sum(source.coded for source in sources), sum(source.blank for source in sources)
    return [len(sources), lines, coded, lines - coded - blank, blank, sum(len(source.types) for source in sources),
            sum(len(source.functions) for source in sources)]


def references(sources, aliases):
    """One row: what is held without being owned, and what is called without a name, also for a thousand lines."""
    counts = [sum(source.references for source in sources), len(list(closures(sources, aliases)))]
    lines = max(sum(source.lines for source in sources), 1)
    return [figure for count in counts for figure in (count, f"{count * 1000 / lines:.1f}")]


def closures(sources, aliases):
    for source in sources:
        for one in source.properties:
            if "->" in one.text or any(re.search(rf":.*\b{alias}\b", one.text) for alias in aliases):
                yield f"{source.path}: {one.owner}: {' '.join(one.text.split())}"


def large_types(sources):
    counts = collections.Counter()
    for source in sources:
        for one in source.properties:
            counts[source.target, one.owner] += one.count
    return [f"{name} {count}" for (_, name), count in counts.most_common() if count > MOST_PROPERTIES]


def named(sources, pattern):
    return [f"{source.path}: {name}" for source in sources for name in source.names if re.fullmatch(pattern, name)]


def words(root):
    places = [path for folder in ("Sources", "docs") for path in files_below(root, folder)] + ["README.md"]
    for path in filter(lambda path: os.path.isfile(f"{root}/{path}"), places):
        with open(f"{root}/{path}", encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                yield from (f"{path}:{number}: {found[1]}" for found in WORDS.finditer(line) if found[1])


def way_rows(root, sources, listed):
    try:
        for kind, sets in event_way.ways(root, sources).items():
            counts = [(len(set(one.path for one in ones)), len(ones)) for ones in sets]
            yield f"  {kind:<18}{counts[0][0]:>10}{counts[0][1]:>10}{counts[1][0]:>40}{counts[1][1]:>10}"
            listed[kind + "; > hands on"] = [f"{'>' if one in sets[1] else ' '} {one.path}:{one.first}: {one.name}"
                                             for one in sorted(sets[0], key=lambda one: (one.path, one.first))]
    except event_way.Refusal as reason:
        yield f"  not measured: {reason}"


def main():
    parser = argparse.ArgumentParser(description="What the code is made of; see the head of this script.")
    parser.add_argument("--root", default=HOME, help="another checkout to count")
    parser.add_argument("--list", action="store_true", help="below the table, what was counted and where it stands")
    parser.add_argument("--text-only", action="store_true", help="leave out what has to run")
    options = parser.parse_args()
    root = os.path.realpath(options.root)
    sources = [Source(root, path) for path in files_below(root, "Sources") if path.endswith((".swift", ".c", ".h"))]
    swift = [source for source in sources if source.is_swift]
    c = [source for source in sources if not source.is_swift]
    aliases = {alias for source in swift for alias in source.aliases}
    listed = {}

    header = ["files", "lines", "code", "comment", "blank", "types", "functions", "unowned", "/1000", "closures", "/1000"]
    print(f"{'Sources':<14}" + "".join(f"{word:>10}" for word in header))
    targets = sorted({source.target for source in swift})
    rows = [(name, [source for source in swift if source.target == name]) for name in targets]
    for name, files in rows + [("all Swift", swift), ("all C", c)]:
        row = figures(files) + references(files, aliases)
        print(f"{name:<14}" + "".join(f"{figure:>10}" for figure in row))
    print(f"\n{'Way of one event':<20}{'files':>10}{'functions':>10}  and those of them that hand on:{'files':>7}{'functions':>10}")
    if not options.text_only:
        print(*way_rows(root, sources, listed), sep="\n", flush=True)

    print()
    long = [one for source in sources for one in source.functions if one.last - one.first >= LONGEST_FUNCTION]
    large = large_types(swift)
    for title, found in [
        ("functions named take", named(swift, "take")),
        ("functions named note...", named(swift, "note([A-Z].*)?")),
        ("functions named tell...", named(swift, "tell([A-Z].*)?")),
        ("nobody, whoever, somebody, whom", list(words(root))),
        (f"functions over {LONGEST_FUNCTION} lines", [f"{one.path}:{one.first}: {one.name}" for one in long]),
        (f"types over {MOST_PROPERTIES} stored properties", large),
        ("files named X+Y.swift", [source.path for source in swift if "+" in os.path.basename(source.path)]),
    ]:
        print(f"{title:<34}{len(found):>6}  {', '.join(found) if found is large else ''}".rstrip())
        listed[title] = found
    listed["closure properties"] = list(closures(swift, aliases))
    if options.list:
        for title, found in listed.items():
            print(f"\n{title}:", *found, sep="\n  ")


if __name__ == "__main__":
    main()
