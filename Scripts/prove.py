#!/usr/bin/env python3
"""Proves what the gate has no time for, part by part, and keeps the newest result of each part in docs/dev/proven.txt.

    prove.py [PART...]  proves these parts, or all of them, one after the other
    prove.py --list     prints each part and what it proves
    prove.py --check    fails for each part that is not proven, or whose paths have changed since

A part ends with one line: PROVEN name result tree date. The result is passed, failed or skipped, and the tree is that of the commit.
A part is proven of a commit alone, so a checkout with changes is refused; the file of results is no change. The output of a part
is kept in .build/prove. PROVING=yes lets a part build the package of a tag that is not proven yet.
"""
import collections
import datetime
import os
import pathlib
import re
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = "docs/dev/proven.txt"

SOURCES = ("Package.swift", "Sources", "Web")
BENCH = (*SOURCES, "Tests/TestBench", "Tests/Lab/waiting.py")
LAB = (*SOURCES, "Devices", "udev", "Tests/Lab", "Scripts/lab.sh", "Scripts/prepare-lab.sh", "Scripts/release.sh")
PACKAGE = (*SOURCES, "Devices", "Examples", "Packages", "docs/man", "udev", "Scripts/deb.sh", "Scripts/debian.sh",
           "Scripts/install.sh", "Scripts/release.sh")
PORT = (*SOURCES, "Tests", "Scripts/debian13.sh", "Scripts/debian.sh", "Scripts/prepare.sh")

# Each path names what makes the proof old when it changes. Each of `needs` is prepared below .build, and its reason is read there.
Part = collections.namedtuple("Part", "name proves command paths needs")
Line = collections.namedtuple("Line", "name result tree date")
WRITTEN = re.compile(r"PROVEN (\S+) (passed|failed|skipped) ([0-9a-f]{40,64}) (\S+)")
ENDED = re.compile(r"PASS: (\d+) tests, (\d+) of them skipped")
SHOWN = re.compile("PASS:|SKIPPED:|[a-z]+: skipped:")


class Refused(Exception):
    """The reason why no part can be proven here."""


def files_of(part):
    """The files of tests that a part names."""
    words = re.search(r'FILES="([^"]*)"', part.command)
    return words[1].split() if words else []


def tests(name, proves, files, also=(), needs=()):
    """A part that is files of tests, with what those files need."""
    files = list(files)
    steps = [f"Scripts/prepare-{need}.sh" for need in needs] + [f'make prove-tests FILES="{" ".join(files)}"']
    places = [f"Tests/{file.replace('.', '/')}.swift" for file in files]
    return Part(name, proves, " && ".join(steps), (*BENCH, *places, *also), needs)


def holding(root, target):
    """The files of a target that hold tests, as Target.File."""
    for path in sorted((root / "Tests" / target).rglob("*.swift")):
        if "@Test" in path.read_text():
            yield f"{target}.{path.stem}"


def tested(root):
    """The parts that are tests."""
    return [
        Part("lab", "every scenario passes with a real bluetoothd in a virtual machine", "make lab", LAB, ("lab",)),
        Part("soak", "half an hour of random faults of the air loses no beat", "make lab-soak", LAB, ("lab",)),
        tests("hostile", "handlers, users, files and the network cannot slow the others, also by the clock",
              holding(root, "HostileTests"), ["Tests/Hostile", "Tests/HostileTests"]),
        tests("kills", "a hundred kills lose no transfer and no message of a broker",
              ["BrokerTests.ManyKillsTests", "TransferdTests.KilledTransferTests"],
              ["Tests/BrokerTests", "Tests/TransferdTests"]),
        tests("endurance", "ten thousand wakes, long waits and long outages cost no memory and no wake",
              ["EndToEndTests.EnduranceTests", "TransferdTests.WaitingTransferTests", "DaemonTests.LongOutageTests",
               "CountedTests.FarAlarmTests"], ["Tests/TransferdTests", "Tests/CountedTests"]),
        tests("years", "years of alarms and of replayed events come out as the oracle says",
              ["WakeAgendaTests.AlarmYearTests", "EndToEndTests.ReplayedYearTests"], ["Tests/WakeAgendaTests"]),
        tests("power", "a job that requires power waits for it, and goes on with it", ["DaemonTests.PowerJobTests"]),
        tests("page", "the page of a real daemon works in a browser, and costs nothing while it is hidden",
              ["DaemonTests.BrowsedDaemonTests", "WakePageTests.BrowserTests"], ["Tests/Page"], ["page"]),
        tests("api", "the API answers as its description promises, whatever it is asked",
              ["DaemonTests.APIDescriptionTests"], ["Tests/OpenAPI"], ["openapi"]),
        tests("template", "the template of a Swift handler builds and passes its own tests",
              ["WakeHandlerTests.TemplateTests"], ["Packages/wakehandler", "Scripts/wakehandler.sh"]),
        Part("break", "ten minutes of every fault at 10,000 events a second lose nothing", "make break",
             (*BENCH, "Tests/Break", "Tests/BreakTests"), ()),
    ]


def built():
    """The parts that are builds, machines and figures."""
    return [
        Part("debian", "the package installs, works and goes in Debian 12 and 13", "make test-deb",
             (*PACKAGE, "Scripts/test-deb.sh"), ()),
        Part("swift60", "Swift 6.0.3 of Debian 13 builds everything, and the unit tests pass there", "make test-debian13",
             PORT, ()),
        Part("arm64", "the programs for arm64 replay as those for amd64 do, and the unit tests pass", "make test-arm64",
             (*PORT, "Scripts/arm64.sh", "Scripts/arm64-build.sh", "Scripts/arm64.skips"), ()),
        Part("installed", "the package outlives power cuts, upgrades and full disks on whole machines", "make test-installed",
             (*PACKAGE, "Tests/Installed", "Tests/Lab/dongle.py", "Tests/Lab/rhythm.py", "Tests/Lab/waiting.py",
              "Scripts/test-installed.sh"), ("lab",)),
        Part("tutorials", "the tutorials work to the letter in Debian 12 and 13", "make test-tutorials",
             (*PACKAGE, "docs/tutorials", "Scripts/test-tutorials.sh", "Scripts/follow.py", "Scripts/container.py"), ()),
        Part("sanitize", "the unit tests show no memory error and no race", "make check-sanitize",
             (*SOURCES, "Tests", "Scripts/sanitize.sh", "Scripts/sanitize.thread.txt"), ()),
        Part("fuzz", "no input of a minute's fuzzing ends a reader", "make fuzz",
             (*SOURCES, "Devices", "Tests/DeviceLibrary", "Tests/Fuzz", "Scripts/fuzz.sh"), ()),
        Part("bench", "every figure of the benchmark can be measured, and is named in the log",
             'export WAKEBRIDGE_BENCH=yes; make bench && make prove-tests FILES="BenchmarkTests.PerformanceLogTests"',
             (*SOURCES, "Tests/Benchmarks", "Tests/JournalBenchmark", "Scripts/bench.sh", "Scripts/release.sh",
              "Scripts/wake.order"), ()),
        Part("cold", "a clone builds from nothing, so that no cache hides a fault", "Scripts/cold.sh",
             (*SOURCES, "Tests", "Makefile", "Scripts/cold.sh", "Scripts/prepare.sh", "Scripts/release.sh"), ()),
    ]


def full_scale(root):
    """The files whose tests are tagged .fullScale, as Target.File."""
    for path in sorted((root / "Tests").glob("*Tests/**/*.swift")):
        if re.search(r"\.tags\([^)]*\.fullScale\b", path.read_text()):
            yield f"{path.relative_to(root / 'Tests').parts[0]}.{path.stem}"


def parts(root):
    """The table. The part `long` has the tests of full scale that no other part names."""
    known = tested(root)
    named = {file for part in known for file in files_of(part)} | {"BreakTests.BreakTests"}
    left = [file for file in full_scale(root) if file not in named]
    command = f'make prove-tests FILES="{" ".join(left)}"' if left else "echo 'no test of full scale is left'"
    long = Part("long", "the other tests of full scale pass", command, (*SOURCES, "Tests"), ())
    return [*known, long, *built()]


def git(root, *words):
    return subprocess.run(["git", "-c", "safe.directory=*", *words], cwd=root, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def tree_of(root):
    found = git(root, "rev-parse", "--verify", "HEAD^{tree}")
    if found.returncode:
        raise Refused("this is no checkout of git, so no commit can be proven here")
    return found.stdout.strip()


def changes(root):
    """The lines of git for each file that differs from the commit, but for the results themselves."""
    lines = git(root, "status", "--porcelain", "--untracked-files=all").stdout.splitlines()
    return [line for line in lines if line[3:] != RESULTS]


def read(root):
    """The results by the names of their parts."""
    path = root / RESULTS
    text = path.read_text() if path.exists() else ""
    found = (WRITTEN.fullmatch(line) for line in text.splitlines())
    return {match[1]: Line(*match.groups()) for match in found if match}


def write(root, line):
    """Puts a result in the place of the part's older one. A reader finds the old file or the new one, and no half."""
    path = root / RESULTS
    head = [row for row in path.read_text().splitlines() if row.startswith("#")] if path.exists() else []
    rows = sorted(shown(each) for each in {**read(root), line.name: line}.values())
    fresh = path.with_name(path.name + ".new")
    fresh.write_text("\n".join([*head, *rows]) + "\n")
    os.replace(fresh, path)


def shown(line):
    return f"PROVEN {' '.join(line)}"


def complaint(root, part, line):
    """Why the part must be proven again; None where that is not so."""
    again = f"run: make prove PARTS={part.name}"
    if line is None:
        return f"{part.name} was never proven; {again}"
    if line.result != "passed":
        return f"{part.name} {'has failed' if line.result == 'failed' else 'was skipped'} on {line.date}; {again}"
    found = git(root, "diff", "--name-only", line.tree, "HEAD", "--", *part.paths)
    if found.returncode:
        return f"{part.name} was proven of a tree that is not in this repository; {again}"
    changed = found.stdout.splitlines()
    if changed:
        others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"{part.name} was proven before a change of {changed[0]}{others}; {again}"
    return None


def check(root):
    lines = read(root)
    found = [complaint(root, part, lines.get(part.name)) for part in parts(root)]
    complaints = [sentence for sentence in found if sentence]
    for sentence in complaints:
        print(f"prove: {sentence}")
    return 1 if complaints else 0


def why_skipped(root, part, lines):
    """The reason for which all of a part was left out; None where some of it ran."""
    for need in part.needs:
        reason = root / ".build" / need / "reason"
        if reason.exists() and reason.stat().st_size:
            return reason.read_text().strip()
    for line in lines:
        ended = ENDED.match(line)
        if ended and int(ended[1]) <= int(ended[2]):
            return "every test of it was skipped"
        if re.match(rf"SKIPPED: (the )?{part.name}\b|{part.name}: skipped:", line):
            return line.split(": ", 2)[-1]
    return None


def play(root, part):
    """Runs the command with its output shown and kept; gives its status, and the lines that may speak of skips."""
    kept = root / ".build/prove" / f"{part.name}.log"
    kept.parent.mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(["sh", "-c", part.command], cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ, "PROVING": "yes"})
    lines = []
    try:
        with open(kept, "wb") as log:
            for row in process.stdout:
                log.write(row)
                text = row.decode(errors="replace").rstrip("\n")
                print(text, flush=True)
                if SHOWN.match(text):
                    lines.append(text)
        return process.wait(), lines
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.stdout.close()


def prove(root, part):
    """Runs one part, prints its line and keeps it; returns whether it passed."""
    tree = tree_of(root)
    changed = changes(root)
    if changed:
        raise Refused(f"{part.name} is proven of a commit alone, and these files differ: {'; '.join(changed)}")
    print(f"prove: {part.name}: {part.proves}: {part.command}", flush=True)
    status, lines = play(root, part)
    result = "failed" if status else "passed"
    reason = None if status else why_skipped(root, part, lines)
    if reason:
        result = "skipped"
        print(f"prove: {part.name} was skipped: {reason}")
    changed = changes(root)
    if changed or tree_of(root) != tree:
        result = "failed"
        print(f"prove: {part.name} ran while the checkout changed: {'; '.join(changed) or 'another commit'}")
    line = Line(part.name, result, tree, datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    write(root, line)
    print(shown(line), flush=True)
    return result == "passed"


def chosen(root, names):
    known = {part.name: part for part in parts(root)}
    for name in names:
        if name not in known:
            raise Refused(f"there is no part \"{name}\"; the parts are {', '.join(known)}")
    return [known[name] for name in names] if names else list(known.values())


def stop(number, _):
    sys.exit(128 + number)


def main(words):
    if words == ["--check"]:
        return check(ROOT)
    if words == ["--list"]:
        for part in parts(ROOT):
            print(f"{part.name:10} {part.proves}")
        return 0
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        results = [prove(ROOT, part) for part in chosen(ROOT, words)]
    except Refused as reason:
        print(f"prove: {reason}", file=sys.stderr)
        return 1
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
