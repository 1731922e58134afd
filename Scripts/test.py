#!/usr/bin/env python3
"""Builds the tests, runs them, and ends with one line that says how it went; so does the exit status.

    test.py             what a change must pass
    test.py rest        what only the whole gate runs: the files whose tests are tagged .fullScale
    test.py units       what needs no daemon, no root and no clock of its own
    test.py list        only says which file of tests runs when, and builds nothing
    test.py OPTIONS...  one run with options of Swift Testing, such as --filter X

Each file of tests is a process of its own, in which one test runs after another; some processes run side by side. Files whose
tests are tagged .measures run afterwards, one by one: tests that compete for the processor would measure each other. Of what
only the whole gate runs, files whose tests are tagged .unhurried run side by side too, and the others after them.

What is tested is built optimized, in .build/tested; TEST_BUILD holds other options of `swift build`. TEST_JOBS says how many
processes run side by side (4), and TEST_SILENCE for how many seconds a process may print nothing (900). TEST_BUNDLE names tests
that are built already, and TEST_SKIPS a file whose lines name what is left out and why: a target, Target.File or
Target.Suite/test. What each process printed is kept in .build/tests.
"""
import collections
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / ".build/tests"
JOBS = int(os.environ.get("TEST_JOBS", "4"))
SILENCE_S = int(os.environ.get("TEST_SILENCE", "900"))
BUILD = os.environ.get("TEST_BUILD")
BUNDLE = os.environ.get("TEST_BUNDLE")
SKIPS = os.environ.get("TEST_SKIPS")

# What `units` leaves out.
NO_UNITS = {"BreakTests", "BrokerTests", "DaemonTests", "EndToEndTests", "HostileTests", "LabTests", "TortureTests", "WakeSourcesTests"}
# Targets that do not lie in a folder of their name.
FOLDERS = {"BenchmarkTests": "Tests/Benchmarks/Tests", "LabTests": "Tests/Lab/Suite"}

ENDED = re.compile(r"Test run with (\d+) tests? .*(passed|failed) after")
OF_SWIFT_TESTING = ("◇ ", "✔ ", "↳ ", "➜ ", "━ ", "✘ ")

Unit = collections.namedtuple("Unit", "name options")
Outcome = collections.namedtuple("Outcome", "unit passes ran skipped lines")
printing = threading.Lock()
running = {}


def say(*lines):
    with printing:
        print(*lines, sep="\n", flush=True)


def tagged(text, tag):
    return re.search(rf"\.tags\([^)]*\.{tag}\b", text) is not None


def stage_of(text):
    if tagged(text, "fullScale"):
        return "unhurried" if tagged(text, "unhurried") else "rest"
    return "alone" if tagged(text, "measures") else "together"


def sources():
    """Target, stage and name of each file that holds tests."""
    folders = {path.name: path for path in (ROOT / "Tests").iterdir() if path.name.endswith("Tests")}
    folders.update({target: ROOT / folder for target, folder in FOLDERS.items()})
    for target, folder in folders.items():
        for path in folder.rglob("*.swift"):
            text = path.read_text()
            if "@Test" in text:
                yield target, stage_of(text), path.stem


def units_of(stage, left_out=()):
    """The lab takes longest and begins first; of the others, the longest stand at the end of the alphabet."""
    tests = [word for place in left_out if "/" in place for word in ("--skip", f"^{re.escape(place)}")]
    for target, its_stage, file in sorted(sources(), key=lambda place: (place[0] == "LabTests", place), reverse=True):
        if its_stage == stage and not {target, f"{target}.{file}"}.intersection(left_out):
            # A test's name ends with its place: Target.Suite/test()/File.swift:12:6
            place = rf"^{target}\..*/{re.escape(file)}\.swift:"
            yield Unit(f"{target}.{file}", ["--no-parallel", "--filter", place, *tests])


def skips():
    """The lines of TEST_SKIPS: what is left out, and why."""
    lines = pathlib.Path(SKIPS).read_text().splitlines() if SKIPS else []
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def build():
    if BUNDLE:
        return BUNDLE
    # In the place of a build that is not optimized, all would be compiled again whenever one follows the other.
    words = ["swift", "build", *(shlex.split(BUILD) if BUILD else ["--scratch-path", ".build/tested"])]
    environment = os.environ if BUILD else {**os.environ, "WAKEBRIDGE_OPTIMIZED": "yes"}
    if subprocess.run([*words, "--build-tests"], stdin=subprocess.DEVNULL, env=environment).returncode:
        say("FAIL: the tests were not built")
        sys.exit(1)
    place = subprocess.run([*words, "--show-bin-path"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                           env=environment)
    return f"{place.stdout.strip()}/wakebridgePackageTests.xctest"


def kill(process):
    """With the daemons and handlers that its tests have started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def watch(process, log, unit):
    """Ends a process in which a test waits for ever, and says which test that is."""
    while True:
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            quiet_s = time.time() - log.stat().st_mtime
        if quiet_s >= SILENCE_S:
            shown = subprocess.run(["ps", "-eo", "pid,ppid,stat,etime,wchan:20,args", "--forest"],
                                   stdout=subprocess.PIPE, text=True).stdout.splitlines()
            begun = [line for line in log.read_text(errors="replace").splitlines() if line.startswith("◇ Test ")]
            say(*(line[:200] for line in shown[-80:]), *begun[-1:],
                f"test.py: {unit.name} printed nothing for {quiet_s:.0f} s and is ended; above is what runs, and its last test")
            kill(process)
            return process.wait()


def play(bundle, unit, shows=None):
    """Lines that `shows` holds for are printed as they come, where it is given; of a process that fails, all are at its end."""
    log = LOGS / f"{unit.name}.log"
    begun = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen([bundle, "--testing-library", "swift-testing", *unit.options], cwd=ROOT,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if shows else output,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        running[process.pid] = process
        copier = threading.Thread(target=copy, args=(process.stdout, output, shows), daemon=True)
        if shows:
            copier.start()
        status = watch(process, log, unit)
        del running[process.pid]
        if shows:
            copier.join(10)  # what a test has left running may hold its end of the pipe
    return report(unit, status, log.read_text(errors="replace").splitlines(), time.monotonic() - begun, shows)


def copy(source, log, shows):
    for line in source:
        log.write(line)
        log.flush()
        text = line.decode(errors="replace").rstrip("\n")
        if shows(text):
            say(text)


def is_news(line):
    """What a test prints of its own: figures, skips, how far it is."""
    return line != "" and not line.startswith(OF_SWIFT_TESTING)


def report(unit, status, lines, seconds, shows):
    ends = [match for match in map(ENDED.search, lines) if match]
    ran = sum(int(match[1]) for match in ends)
    skipped = sum(bool(re.match("➜ .* skipped", line)) for line in lines)
    # A process that runs nothing has a name that no test has.
    passes = status == 0 and ran > 0
    told = filter(is_news, lines) if passes else lines
    say(*(line for line in told if not (shows and shows(line))), f"{'✔' if passes else '✘'} {unit.name}: {ran} tests, {seconds:.1f} s")
    if not passes and not ran:
        lines = [*lines, f"✘ Test process of {unit.name} ended with {status} before its tests did failed after {seconds:.0f} s"]
    return Outcome(unit, passes, ran, skipped, lines)


def failures(outcomes):
    """What failed stands thousands of lines above, and some readers are shown the end only."""
    for outcome in outcomes:
        lines = [] if outcome.passes else outcome.lines
        issues = [place for place, line in enumerate(lines) if re.search("✘ Test .* recorded an issue", line)]
        for place in issues[:20]:
            yield from (line[:400] for line in lines[place:place + 4])
        yield from (line for line in lines if re.search("✘ Test (?!run with).* failed after", line))


def stop(number, _):
    """The tests' processes have sessions of their own, so that what a terminal sends reaches this one alone."""
    for process in list(running.values()):
        kill(process)
    os._exit(128 + number)


def run(words):
    bundle = build()
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    if words and words[0] not in ("rest", "units"):
        return [play(bundle, Unit("chosen", words), shows=lambda line: True)]
    skipped = skips()
    for place, reason in skipped.items():
        say(f"SKIPPED: {place}: {reason}")
    left_out = {*skipped, *(NO_UNITS if words == ["units"] else ())}
    stages = {"rest": ("unhurried", "rest"), "units": ("together", None)}.get("".join(words), ("together", "alone"))
    beside, alone = (list(units_of(stage, left_out)) for stage in stages)
    shows = is_news if words == ["rest"] else None
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        outcomes = list(pool.map(lambda unit: play(bundle, unit, shows), beside))
    return outcomes + [play(bundle, unit, shows=is_news) for unit in alone]


def main():
    begun = time.monotonic()
    os.chdir(ROOT)
    # Under sudo the tool would run the handlers of tests as another user than the daemon's.
    os.environ.pop("SUDO_UID", None)
    os.environ["NO_COLOR"] = "1"
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    if sys.argv[1:] == ["list"]:
        return say(*(" ".join(place) for place in sorted(sources())))
    outcomes = run(sys.argv[1:])
    ran = sum(outcome.ran for outcome in outcomes)
    failed = list(failures(outcomes))
    took = f"{time.monotonic() - begun:.0f} s"
    reason = ROOT / ".build/lab/reason"
    if reason.exists() and reason.stat().st_size:
        say(f"SKIPPED: the lab: {reason.read_text().strip()}")
    if not ran:
        say("FAIL: no test ran")
        sys.exit(1)
    if not all(outcome.passes for outcome in outcomes):
        # The lines around an issue may hold the end of its test, which is listed below them too.
        broken = len({line for line in failed if re.search("✘ Test (?!run with).* failed after", line)})
        say(*failed, f"FAIL: {broken} of {ran} tests failed, {took}")
        sys.exit(1)
    say(f"PASS: {ran} tests, {sum(outcome.skipped for outcome in outcomes)} of them skipped, {took}")


if __name__ == "__main__":
    main()
