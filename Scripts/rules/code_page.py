"""The page that maps the code: the functions that it names are there, and its patches apply."""
import os
import tempfile

from rules import Violation, missing, rule
from rules.document import filled

PAGE = "docs/dev/code.md"


@rule("code-steps", "each step of an event's and an acknowledgement's way names a function that its file declares")
def code_steps(tree):
    steps = 0
    for number, line in enumerate(tree.page(PAGE).lines, 1):
        cells = [filled(cell.split("`")) for cell in filled(line.split("|"))]
        if len(cells) == 3 and len(cells[1]) == 3 and len(cells[2]) == 3:
            steps += 1
            if f"{cells[2][1]}(" not in tree.text(cells[1][1]):
                yield Violation(PAGE, number, f"{cells[1][1]} has no function {cells[2][1]}; name where the step goes on")
    if steps < 16:
        yield missing(tree, PAGE, "## The way of an event", f"only {steps} steps are here; name at least 16")


@rule("code-folders", "every folder of Sources has a row in the map")
def code_folders(tree):
    for folder in tree.names("Sources"):
        if folder.lower().startswith("w") and f"`Sources/{folder}`" not in tree.page(PAGE).text:
            yield missing(tree, PAGE, "| folder |", f"Sources/{folder} has no row here; write what it owns")


@rule("code-patches", "the newcomer's three patches apply to the code as it is")
def code_patches(tree):
    patches = [block for block in tree.page(PAGE).blocks if block.language == "diff"]
    if len(patches) != 3:
        yield missing(tree, PAGE, "## A newcomer's task", f"the page has {len(patches)} patches; it promises three")
    for patch in patches:
        with tempfile.TemporaryDirectory(prefix="wakebridge-patch") as folder:
            path = os.path.join(folder, "patch")
            with open(path, "w", encoding="utf-8") as file:
                file.write(patch.text + "\n")
            status, output = tree.run(["git", "-c", "safe.directory=*", "apply", "--check", "--recount", "-C1", path])
        if status != 0:
            yield Violation(PAGE, patch.line, f"this patch does not apply; make it anew: {' '.join(output.split())}")
