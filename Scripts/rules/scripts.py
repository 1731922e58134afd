"""Scripts and what starts them: the Makefile's targets, .ci/run, the runner of tests, and functions that scripts share."""
import ast
import collections
import concurrent.futures
import os
import re

import follow
from rules import Violation, missing, rule
from rules.document import filled

HERE = "Scripts/rules/scripts.py"
# The targets that .ci/run calls, in their order there.
CALLED_BY_CI = ["check", "test", "prepare-gate", "build", "-o prepare-tests -o prepare-gate -o build test-gate", "test-deb"]
# Files of tests whose stage, as `Scripts/test.py list` names it, must not change by chance.
STAGES = {
    "LabTests.LabTests": "gate", "BreakTests.BreakTests": "gate", "CountedTests.CallTests": "alone",
    "CountedTests.CountedTests": "together",
}
# The commands that the README shows first.
README_COMMANDS = ["make demo", "make test"]


@rule("targets-start", "every target has a recipe, and every script that it starts is there and may be run")
def targets_start(tree):
    # A make that runs these rules would hand its own options down.
    clean = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda name: tree.run(["make", "-n", name], env=clean), tree.targets))
    if not outcomes:
        yield Violation("Makefile", 1, "no line begins with .PHONY: here; declare the targets")
    for target, (status, output) in zip(tree.targets, outcomes):
        if status != 0 or "Nothing to be done" in output:
            yield missing(tree, "Makefile", f"\n{target}:", f"make {target} has no recipe that make can read; write one")
        for word in re.split('[ \n\t"$();]', output):
            mode = os.R_OK if word.endswith(".py") else os.X_OK
            if word.startswith(("Scripts/", "Tests/")) and not os.access(f"{tree.root}/{word}", mode):
                yield missing(tree, "Makefile", word, f"make {target} starts {word}, which cannot be run; correct its mode")


@rule("scripts-parse", "every script is one that its interpreter can read")
def scripts_parse(tree):
    for path in {"Scripts/bench-lab.sh", "Tests/Scale/fleet.py"} - set(tree.scripts):
        yield missing(tree, HERE, path, f"{path} is not among the scripts; look at Scripts/rules/tree.py")
    for path in tree.scripts:
        if path.endswith(".py"):
            try:
                ast.parse(tree.text(path), path)
            except SyntaxError as reason:
                yield Violation(path, reason.lineno, f"Python cannot read this: {reason.msg}; correct it")
        else:
            status, output = tree.run(["sh", "-n", path])
            if (status, output) != (0, ""):
                yield Violation(path, 1, f"sh cannot read this: {' '.join(output.split())}; correct it")


@rule("stages", "every file that holds tests runs in exactly one stage, and its tags say in which")
def stages(tree):
    status, output = tree.run(["python3", "Scripts/test.py", "list"])
    rows = [filled(line.split(" ")) for line in filled(output.split("\n"))]
    if status != 0 or any(len(row) != 3 for row in rows):
        yield Violation("Scripts/test.py", 1, f"Scripts/test.py list ends with {status} or lists a row that is not three words")
        return
    counts = collections.Counter(f"{target}.{name}" for target, _, name in rows)
    for name in (name for name, count in counts.items() if count > 1):
        yield Violation("Scripts/test.py", 1, f"{name} runs in {counts[name]} stages; let it run in one")
    holding = [file for file in tree.tests if re.search(r"^ *@Test", file.text, re.M)]
    if len(counts) != len(holding):
        yield Violation("Scripts/test.py", 1, f"{len(holding)} files have tests and {len(counts)} are listed; list each")
    found = {f"{target}.{name}": stage for target, stage, name in rows}
    for name, stage in STAGES.items():
        if found.get(name) != stage:
            yield missing(tree, HERE, name, f"{name} runs in the stage {found.get(name)}, not {stage}; correct its tags")


@rule("arm64-skips", "everything that arm64's unit tests leave out is there, and has a reason")
def arm64_skips(tree):
    path = "Scripts/arm64.skips"
    rows = [(number, line) for number, line in enumerate(tree.text(path).split("\n"), 1) if line and not line.startswith("#")]
    if not rows:
        yield Violation(path, 1, "the list is empty; take away the list and what reads it")
    for number, row in rows:
        words = filled(row.split(" "))
        place = filled(re.split("[./]", words[0]))
        files = [file for file in tree.tests if f"/{place[0]}/" in file.path]
        if len(words) <= 3 or not files:
            yield Violation(path, number, f"{words[0]} is not there, or has no reason of three words; correct the line")
        elif len(place) == 2 and not any(file.path.endswith(f"/{place[1]}.swift") for file in files):
            yield Violation(path, number, f"{place[0]} has no file {place[1]}.swift; correct the line")
        elif len(place) > 2 and not any(f"func {place[-1]}(" in file.text for file in files):
            yield Violation(path, number, f"{place[0]} has no test {place[-1]}; correct the line")


@rule("script-functions", "no function stands in two of the scripts that share one file of them")
def script_functions(tree):
    shells = [path for path in tree.scripts if re.fullmatch(r"Scripts/[^/]*\.sh", path)]
    sharing = [path for path in shells if re.search(r"^[.] Scripts/debian[.]sh$", tree.text(path), re.M)]
    if len(sharing) < 4:
        yield missing(tree, HERE, "sharing =", "fewer than four scripts read Scripts/debian.sh; correct this rule")
    defined = {}
    for path in ["Scripts/debian.sh", "Scripts/preparing.sh"] + sharing:
        for name in re.findall(r"^([a-z_]+)\(\)", tree.text(path), re.M):
            # Each script enters a Debian of its own with a function of this name.
            if name in defined and name != "inside":
                yield missing(tree, path, f"{name}()", f"{defined[name]} has {name} too; keep it in the file that both read")
            defined.setdefault(name, path)


@rule("no-packages", "no Swift package is fetched: the package depends on none")
def no_packages(tree):
    if ".package(" in tree.text("Package.swift"):
        yield missing(tree, "Package.swift", ".package(", "a Swift package is fetched here; use a library of Debian")
    if tree.exists("Package.resolved"):
        yield Violation("Package.resolved", 1, "this file fetches Swift packages; remove it")


@rule("tutorials", "Scripts/follow.py finds commands, files with names and outputs in every tutorial, and knows what is needed")
def tutorials(tree):
    for file in tree.below("docs/tutorials", (".md",)):
        try:
            blocks = follow.blocks(f"{tree.root}/{file.path}")
        except follow.Refusal as reason:
            yield file.at(1, f"Scripts/follow.py refuses this page: {reason}")
            continue
        for block in blocks:
            is_named = not block.is_file() or block.said and follow.IS_NAME.fullmatch(block.said) or block.needs
            if not block.commands() or not is_named:
                yield file.at(block.line, "this block has no command, or its file has no name; write the name before it")
            if block.needs not in {None} | set(follow.ELSEWHERE):
                yield file.at(block.line, f"Scripts/follow.py does not know '{block.needs}'; name a need that it lists")


@rule(
    "ci", "CI calls `make check`, the README's test command, the longer tests, the package's and Debian 13's build, and no other test")
def ci(tree):
    block = tree.page("README.md").block("sh", "make demo")
    if not block or filled(block.text.split("\n")) != README_COMMANDS:
        yield missing(tree, "README.md", "make demo", f"the first commands must be these: {', '.join(README_COMMANDS)}")
    script = [line for line in tree.text(".ci/run").split("\n") if not line.startswith("#")]
    called = re.findall("make ([a-z0-9- ]*[a-z0-9])", "\n".join(script))
    if called != CALLED_BY_CI:
        yield missing(tree, ".ci/run", "make ", f"it calls {', '.join(called)}, and {HERE} lists {', '.join(CALLED_BY_CI)}")
