"""Links between pages, and statements of the README that another file makes too."""
import re

from rules import Violation, missing, rule
from rules.document import filled

COST, LIBRARY = "docs/explanation/performance.md", "docs/reference/device-library.md"


@rule("links", "links between pages lead somewhere")
def links(tree):
    for path in tree.pages:
        for link in tree.page(path).linked_paths:
            if not link.target or not tree.exists(link.target):
                yield Violation(path, link.line, f"this link leads to '{link.target}', which is not there; correct it")


@rule("anchors", "links to a place in a page name one of its headings")
def anchors(tree):
    for path in tree.pages:
        for page, anchor, line in tree.page(path).linked_places:
            if anchor not in tree.page(page).anchors:
                yield Violation(path, line, f"{page} has no heading #{anchor}; link to one that it has")


@rule("readme-targets", "every make target and every page that the README names is there")
def readme_targets(tree):
    words = filled(re.split("[ \n`:;,.]", tree.text("README.md")))
    targets = {name for word, name in zip(words, words[1:]) if word == "make"}
    for name in sorted({"demo", "test"} - targets):
        yield Violation("README.md", 1, f"the README does not name make {name}; show it")
    for name in sorted(targets):
        if not tree.has_target(name):
            yield missing(tree, "README.md", f"make {name}", f"the Makefile has no target {name}; name one that it has")


@rule("cost-of-wake", "what a wake costs is the same in the README and on the page of performance, but for its rounding")
def cost_of_wake(tree):
    page = tree.text(COST).replace("\n", " ")
    measured = re.search(r"takes ([0-9.]+) times the limit after 1 ms of silence, and ([0-9.]+) times", page)
    said = re.search(r"performance\.md\): ([0-9.]+) to ([0-9.]+) times", tree.text("README.md"))
    for path, found in [(COST, measured), ("README.md", said)]:
        if not found:
            yield Violation(path, 1, "the sentence on what a wake costs is not found; write it as this rule reads it")
    for rounded, exact in zip(said.groups(), measured.groups()) if said and measured else []:
        if abs(float(rounded) - float(exact)) > 0.05:
            yield missing(tree, "README.md", rounded, f"{rounded} is not {exact}, which {COST} has; round that")


@rule("readme-counts", "the README's counts of profiles and messages, and the sizes of daemon and package, are those of what ships and of the benchmark")
def readme_counts(tree):
    readme = tree.text("README.md").replace("\n", " ")
    found = [re.search(pattern, readme) for pattern in
             [r"has ([0-9,]+) profiles", r"more than ([0-9,]+) published messages", r"takes ([0-9.]+) MB of memory",
              r"package has ([0-9.]+ MB, and [0-9.]+ MB)"]]
    if not all(found):
        yield Violation("README.md", 1, "the sentences with the counts are not found; write them as this rule reads them")
        return
    profiles, messages, memory, package = (match[1] for match in found)
    if f"ships {profiles} profiles" not in tree.text(LIBRARY):
        yield missing(tree, "README.md", profiles, f"{LIBRARY} has another count of profiles; take that one")
    published = sum(file.text.count("source:") for file in tree.below("Devices", ("vectors.json5",)))
    if published < int(messages.replace(",", "")):
        yield missing(tree, "README.md", messages, f"there are {published} published messages below Devices; take a lower count")
    if f"no wake-up, {memory} MB" not in tree.text(COST):
        yield missing(tree, "README.md", memory, f"{COST} has another figure for 20 frozen handlers; take that one")
    if f"| the package; installed | {package.replace(', and', ';')} |" not in tree.text(COST):
        yield missing(tree, "README.md", package, f"{COST} has other sizes of the package; take those")
