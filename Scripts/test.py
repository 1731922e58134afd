#!/usr/bin/env python3
"""Builds the tests, runs them, and ends with one line that says how it went; so does the exit status.

    test.py             the tests of every change
    test.py gate        the tests that only the gate adds: files with the tag .gate
    test.py prove NAME...
                        the files of these names (File or Target.File), whatever their tags are
    test.py shaken      the tests of every change but those that measure: what Scripts/shake.py runs
    test.py units       the tests that need no daemon, no root and no clock of their own
    test.py list        says which file of tests runs when, and builds nothing
    test.py list outside
                        says which files are tried again, and builds nothing
    test.py OPTIONS...  one run with options of Swift Testing, such as --filter X

A file of tests is a process, in which one test runs after another; the files of a target in PURE share one. Some processes run side
by side, the longest of Tests/times.txt first. Files with the tag .measures run afterwards, one by one: they would measure each other.

A process that fails has failed. Only files with the tag .outside count on a program that is not ours, so each of them that failed runs
once more at the end, alone. Where it passes then, `FLAKED Target.File` is printed. It still counts as a failure, but for the files
of Tests/quarantine.txt (Scripts/quarantine.py).

Root builds and runs the tests below a constant path that every user may walk to, and gives each process of `make test` its own mounts,
processes, network, /tmp and /run (Scripts/place.py). Scripts/tested.sh builds the tests; TEST_BUILD holds other options of `swift
build`. TEST_JOBS says how many processes run side by side (4), and TEST_SILENCE for how many seconds a process may print nothing
(900). TEST_BUNDLE names tests that are built already, and TEST_SKIPS a file whose lines name tests to leave out and the reason: a
target, Target.File or Target.Suite/test. A test that skips itself for a reason that Tests/skips.txt does not list is a failure.
.build/tests keeps the output of each process.
"""
import collections
import concurrent.futures
import datetime
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

sys.dont_write_bytecode = True
import quarantine  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / ".build/tests"
JOBS = int(os.environ.get("TEST_JOBS", "4"))
SILENCE_S = int(os.environ.get("TEST_SILENCE", "900"))
BUILD = os.environ.get("TEST_BUILD")
BUNDLE = os.environ.get("TEST_BUNDLE")
SKIPS = os.environ.get("TEST_SKIPS")

GOALS = ("test", "gate", "prove", "shaken", "units")

# The tests of `units` leave these out.
NO_UNITS = {"BreakTests", "BrokerTests", "DaemonTests", "EndToEndTests", "HostileTests", "LabTests", "TortureTests", "WakeSourcesTests"}
# Their tests share no folder, environment or descriptor, so that the files of one target run in one process.
PURE = {"WakeModelTests", "WakeCoreTests", "WakeAgendaTests", "WakeTransferTests", "WakeTraceTests", "WakeProfilesTests", "FuzzTests"}
# Targets that do not lie in a folder of their name.
FOLDERS = {"BenchmarkTests": "Tests/Benchmarks/Tests", "LabTests": "Tests/Lab/Suite"}
# The gate plays these sizes, and no figure of time refuses anything there; other tiers leave them to the tests.
GATE_SIZES = {"BREAK_SECONDS": "28", "BREAK_LATENESS": "counted"}

ENDED = re.compile(r"Test run with (\d+) tests? .*(passed|failed) after")
OF_SWIFT_TESTING = ("◇ ", "✔ ", "↳ ", "➜ ", "━ ", "✘ ")

Unit = collections.namedtuple("Unit", "name options")
SKIPPED = re.compile(r"➜ (?:Test|Suite) .* skipped")
# A comment of Swift Testing, or a line that a test prints of a part of its own.
REASON = re.compile(r'(?:➜ (?:Test|Suite) .* skipped: "(?:SKIPPED: )?|SKIPPED: )(.*?)"?$')

# `flaked` is set where the process failed at its first try, and passed at its second.
Outcome = collections.namedtuple("Outcome", "unit passes ran skips seconds lines flaked", defaults=[False])
printing = threading.Lock()
running = {}


def say(*lines):
    with printing:
        print(*lines, sep="\n", flush=True)


def text_of(path):
    """Empty where there is no such file."""
    file = ROOT / path
    return file.read_text() if file.exists() else ""


def listed(path):
    """The lines of a list below Tests, without its comments."""
    return [line for line in text_of(f"Tests/{path}").splitlines() if line and line[0] != "#"]


def tagged(text, tag):
    return re.search(rf"\.tags\([^)]*\.{tag}\b", text) is not None


def stage_of(text):
    if tagged(text, "fullScale"):
        return "gate" if tagged(text, "gate") else "long"
    return "alone" if tagged(text, "measures") else "together"


def texts():
    """Target, path and text of each file that holds tests."""
    folders = {path.name: path for path in (ROOT / "Tests").iterdir() if path.name.endswith("Tests")}
    folders.update({target: ROOT / folder for target, folder in FOLDERS.items()})
    for target, folder in folders.items():
        for path in folder.rglob("*.swift"):
            text = path.read_text()
            if "@Test" in text:
                yield target, path, text


def sources():
    """Target, stage and name of each file that holds tests."""
    return ((target, stage_of(text), path.stem) for target, path, text in texts())


def seconds_of_files():
    """How long the longer files took on two cores: an order to begin in, and no limit."""
    return {name: float(seconds) for name, seconds in map(str.split, listed("times.txt"))}


def outside():
    """The files, as Target.File, whose tests count on a program that is not ours."""
    return {f"{target}.{path.stem}" for target, path, text in texts() if tagged(text, "outside")}


def units_of(files, left_out=(), merges=False):
    """The longest begins first, so that none runs on by itself at the end."""
    tests = [word for place in left_out if "/" in place for word in ("--skip", f"^{re.escape(place)}")]
    processes = collections.defaultdict(list)
    for target, file in files:
        if not {target, f"{target}.{file}"}.intersection(left_out):
            processes[target if merges and target in PURE else f"{target}.{file}"].append((target, file))
    seconds = seconds_of_files()
    for name in sorted(processes, key=lambda name: (-seconds.get(name, 0), name)):
        # A test's name ends with its place: Target.Suite/test()/File.swift:12:6
        files = "|".join(re.escape(file) for _, file in processes[name])
        place = rf"^{processes[name][0][0]}\..*/({files})\.swift:"
        yield Unit(name, ["--no-parallel", "--filter", place, *tests])


def skips():
    """The lines of TEST_SKIPS: what is left out, and why."""
    lines = pathlib.Path(SKIPS).read_text().splitlines() if SKIPS else []
    return dict(line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))


def build():
    if BUNDLE:
        return BUNDLE
    words = ["swift", "build", *shlex.split(BUILD)] if BUILD else ["Scripts/tested.sh"]
    if subprocess.run([*words, "--build-tests"], stdin=subprocess.DEVNULL).returncode:
        say("FAIL: the tests were not built")
        sys.exit(1)
    place = subprocess.run([*words, "--show-bin-path"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
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


def has_own_systems():
    """Whether this machine can give processes a place of their own."""
    return os.geteuid() == 0 and subprocess.run([*own_system("probe"), "true"], stdin=subprocess.DEVNULL).returncode == 0


def own_system(name):
    return [sys.executable, str(ROOT / "Scripts/place.py"), "process", name]


def play(bundle, unit, shows=None, before=(), beside=""):
    """Lines that `shows` holds for are printed as they come, where it is given; of a process that fails, all are at its end.
    `beside` keeps the output of an earlier try of the same file."""
    log = LOGS / f"{unit.name}{beside}.log"
    begun = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen([*before, bundle, "--testing-library", "swift-testing", *unit.options], cwd=ROOT,
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
    skips = [line for line in lines if SKIPPED.match(line)]
    unlisted = [match[1] for match in map(REASON.match, lines) if match and not is_listed(match[1])]
    lines += [f"✘ Test of {unit.name} recorded an issue: Tests/skips.txt does not list its reason to skip itself: {reason}"
              for reason in unlisted]
    # A process that runs nothing has a name that no test has.
    passes = status == 0 and ran > 0 and not unlisted
    told = filter(is_news, lines) if passes else lines
    say(*(line for line in told if not (shows and shows(line))), f"{'✔' if passes else '✘'} {unit.name}: {ran} tests, {seconds:.1f} s")
    if not passes and not ran:
        lines = [*lines, f"✘ Test process of {unit.name} ended with {status} before its tests did failed after {seconds:.0f} s"]
    return Outcome(unit, passes, ran, skips, seconds, lines)


def is_listed(reason):
    """Whether Tests/skips.txt has the first words of it; the gate's own tests have no excuse."""
    return sys.argv[1:] != ["gate"] and any(reason.startswith(known) for known in listed("skips.txt"))


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


def chosen(goal, names):
    """The files that run side by side, and those that run alone after them."""
    files = sorted(sources())
    if goal == "prove":
        missing = {name for name in names if not any(name in (file, f"{target}.{file}") for target, _, file in files)}
        if missing:
            say(f"FAIL: no file of tests has the name {', '.join(sorted(missing))}")
            sys.exit(1)
        return [], [(target, file) for target, _, file in files if {file, f"{target}.{file}"}.intersection(names)]
    beside, alone = ("gate" if goal == "gate" else "together", "alone" if goal == "test" else None)
    left_out = NO_UNITS if goal == "units" else ()
    return tuple([(target, file) for target, stage, file in files if stage == wanted and target not in left_out]
                 for wanted in (beside, alone))


def try_again(outcomes, play_again):
    """Only what counts on an outside program has a second try. The outcome of the first one stays, and may be excused."""
    may, excused = outside(), quarantine.names(text_of(quarantine.LIST), datetime.date.today())
    for outcome in outcomes:
        name = outcome.unit.name
        if not outcome.passes and name in may:
            say(f"test.py: {name} counts on an outside program, and runs once more, alone")
            if play_again(outcome.unit).passes:
                outcome = outcome._replace(passes=name in excused, flaked=True)
        yield outcome


def run(words):
    bundle = build()
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    goal = words[0] if words else "test"
    if words and goal not in GOALS:
        return [play(bundle, Unit("chosen", words), shows=lambda line: True)]
    if goal == "gate":
        os.environ.update({**GATE_SIZES, "LAB_SCENARIOS": gate_scenarios(), **os.environ})
    skipped = skips()
    for place, reason in skipped.items():
        say(f"SKIPPED: {place}: {reason}")
    beside, alone = chosen(goal, words[1:])
    # Guests and browsers need this machine's own folders and devices.
    owns = goal in ("test", "shaken") and has_own_systems()
    before = (lambda unit: own_system(unit.name)) if owns else lambda unit: []
    shows = None if goal in ("test", "shaken", "units") else is_news
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        outcomes = list(pool.map(lambda unit: play(bundle, unit, shows, before(unit)), units_of(beside, skipped, merges=True)))
    outcomes += [play(bundle, unit, is_news, before(unit)) for unit in units_of(alone, skipped)]
    return list(try_again(outcomes, lambda unit: play(bundle, unit, is_news, before(unit), ".again")))


def gate_scenarios():
    """Tests/Lab/gate.txt has a name a line, and the reason after it."""
    return " ".join(line.split()[0] for line in listed("Lab/gate.txt"))


def enter_place():
    """Where a test runs decides what other users can reach, and the paths that are compiled into it."""
    if BUILD or BUNDLE or os.geteuid() != 0 or os.environ.get("TEST_PLACE"):
        return
    place = ROOT / "Scripts/place.py"
    os.execve(sys.executable, [sys.executable, place, "checkout", sys.executable, "Scripts/test.py", *sys.argv[1:]],
              {**os.environ, "TEST_PLACE": "entered"})


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
    if sys.argv[1:] == ["list", "outside"]:
        return say(*sorted(outside()))
    enter_place()
    outcomes = run(sys.argv[1:])
    ran = sum(outcome.ran for outcome in outcomes)
    failed = list(failures(outcomes))
    took = f"{time.monotonic() - begun:.0f} s"
    flaked = [f"FLAKED {outcome.unit.name}" for outcome in outcomes if outcome.flaked]
    reason = ROOT / ".build/lab/reason"
    if reason.exists() and reason.stat().st_size:
        say(f"SKIPPED: the lab: {reason.read_text().strip()}")
    if not ran:
        say("FAIL: no test ran")
        sys.exit(1)
    if not all(outcome.passes for outcome in outcomes):
        # The lines around an issue may hold the end of its test, which is listed below them too.
        broken = len({line for line in failed if re.search("✘ Test (?!run with).* failed after", line)})
        say(*failed, *flaked, f"FAIL: {broken} of {ran} tests failed, {took}")
        sys.exit(1)
    skipped = [line for outcome in outcomes for line in outcome.skips]
    say(*skipped, *flaked, f"PASS: {ran} tests, {len(skipped)} of them skipped, {took}")


if __name__ == "__main__":
    main()
