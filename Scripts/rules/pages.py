"""The names on pages that must be in this checkout: make targets, files, suites, scenarios of the lab, variables of tests."""
import re

from rules import Violation, missing, rule
from rules.document import filled

MANUAL = ["docs/man/wakebridge.1", "docs/man/wakebridged.8"]
ROOTS = ("Tests/", "Scripts/", "Sources/", "Devices/", "Examples/", "docs/", "udev/")
STEERING = ("LAB_", "BREAK_", "TEST_", "SANITIZE_", "WAKEBRIDGE_COUNTS")
NAMES_OF_IOS = "docs/tutorials/from-corebluetooth.md"


def all_pages(tree):
    return tree.pages + MANUAL


def quoted(page):
    """The pieces in backticks, and the lines of code blocks; the output of programs is none."""
    spans = [piece for prose in page.text.split("```")[::2] for piece in prose.split("`")[1::2]]
    blocks = [line for block in page.blocks if block.language != "text" for line in filled(block.text.split("\n"))]
    return spans + blocks + [line for line in page.lines if line.startswith("    make ")]


def words(page):
    code = [next(iter(filled(piece.split("#"))), "") for piece in quoted(page)]
    return [word for piece in code for word in filled(re.split("[ ,;:()\"']", piece))]


def rows_below(page, heading):
    """The rows of the tables of a section, without the first head; each with its line."""
    return [(number, line) for number, line in page.below(heading, until="## ") if line.startswith("| ")][1:]


@rule("page-targets", "every make target that a page names is one of the Makefile's")
def page_targets(tree):
    for path in all_pages(tree):
        found = words(tree.page(path))
        for word, name in zip(found, found[1:]):
            if word == "make" and name[0].islower() and not tree.has_target(name):
                yield missing(tree, path, f"make {name}", f"the Makefile has no target {name}; name one that it has")


@rule("page-files", "every file of this checkout that a page names is there")
def page_files(tree):
    for path in all_pages(tree):
        for word in words(tree.page(path)):
            if word.startswith(ROOTS) and "<" not in word and not tree.exists(word):
                yield missing(tree, path, word, f"there is no {word}; name a file that is there")


@rule("page-suites", "every suite of tests that a page names as proof is there")
def page_suites(tree):
    texts = [file.text for file in tree.below("Tests")] + [tree.text("Package.swift")]
    written = re.compile(r'(?:struct|class|name:) "?([A-Z][A-Za-z]*(?:Tests|Stories))\b')
    suites = {name for text in texts for name in written.findall(text)}
    for path in all_pages(tree):
        for word in words(tree.page(path)):
            if word.endswith(("Tests", "Stories")) and word[0].isupper() and word.isalpha() and word not in suites:
                yield missing(tree, path, word, f"there is no suite {word}; name one that is there")


@rule("page-scenarios", "every scenario and every part of the lab that a page names is there")
def page_scenarios(tree):
    page, count = "docs/dev/accessories.md", 0
    scenarios = {name[:-3] for name in tree.names("Tests/Lab/scenarios")}
    for number, line in enumerate(tree.page(page).lines, 1):
        if "in the lab `" not in line:
            continue
        named = filled(filled(line.split("in the lab "))[-1].partition(";")[0].split("`"))
        proofs = [name for name in named if name.startswith("accessory-") or name == "rfcomm"]
        count += len(proofs)
        for name in set(proofs) - scenarios:
            yield Violation(page, number, f"the lab has no scenario {name}; name one that is there")
    if count < 15:
        yield Violation(page, 1, f"only {count} scenarios are named here; name at least 15")
    for part in tree.page("docs/dev/lab.md").words_below("## What is played"):
        if not tree.exists(f"Tests/Lab/{part}"):
            yield missing(tree, "docs/dev/lab.md", f"`{part}`", f"there is no Tests/Lab/{part}; name a part that is there")


@rule("page-variables", "every variable by which a page steers tests and benchmarks is read by one of them")
def page_variables(tree):
    read = "\n".join(file.text for place in ("Tests", "Scripts") for file in tree.below(place)) + tree.text("Makefile")
    known = set(re.findall(r'["{$](\w+)', read))
    named = {}
    for path in all_pages(tree):
        for word in (word for piece in quoted(tree.page(path)) for word in re.findall(r"[^\W\d]+", piece)):
            if word.startswith(STEERING):
                named.setdefault(word, path)
    for name in {"LAB_SOAK", "BREAK_SEED"} - named.keys():
        yield Violation("Scripts/rules/pages.py", 1, f"no page names {name} any more; choose another variable for this rule")
    for name, path in named.items():
        if name not in known:
            yield missing(tree, path, name, f"neither tests nor scripts read {name}; name a variable that they read")


@rule("page-index", "docs/README.md names every page, and each manual page once")
def page_index(tree):
    linked = {link.target for link in tree.page("docs/README.md").linked_paths}
    for path in all_pages(tree):
        if path.startswith("docs/") and path not in linked | {"docs/README.md"}:
            yield Violation("docs/README.md", 1, f"{path} is not linked here; add it")
    manual = {f"docs/man/{name}" for name in tree.names("docs/man")}
    for path in sorted(manual ^ set(MANUAL)):
        yield Violation(path, 1, "the manual pages and MANUAL in Scripts/rules/pages.py differ; list each page that is there")


@rule("names-of-ios", "what a name of iOS is called here stands in one table; other pages link to it")
def names_of_ios(tree):
    for path in all_pages(tree):
        if ("| iOS |" in tree.text(path)) != (path == NAMES_OF_IOS):
            yield missing(tree, path, "| iOS |", f"the table of names of iOS belongs into {NAMES_OF_IOS} only")
    for path in ["docs/reference/swift-api.md", "docs/explanation/versus-the-others.md"]:
        places = [anchor for target, anchor, _ in tree.page(path).linked_places if target.endswith(NAMES_OF_IOS[len("docs/"):])]
        if places != ["the-names"]:
            yield missing(tree, path, "from-corebluetooth.md", f"this page must link once to {NAMES_OF_IOS}#the-names")


@rule("shown-json", "no program in shell that people see cuts JSON by its text; jq reads it")
def shown_json(tree):
    programs = tree.below("Examples", (".sh",)) + tree.below("Sources/wakebridge")
    for path in [*tree.pages, *(file.path for file in programs)]:
        for number, line in enumerate(tree.text(path).split("\n"), 1):
            if re.search(r'\$\{\w+##?\*\\*"', line):
                yield Violation(path, number, "this cuts JSON by its text; read it with jq, as the other examples do")
