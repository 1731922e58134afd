"""Runs in the guest: one scenario after another, each on an air of its own, and one report of single claims.

    guest.py DIR PROGRAMS SCENARIO...

DIR/report gets `SCENARIO name: what it proves`, then its PASS:, FAIL:, LATE:, LOST:, SKIP: and FIGURE: lines, then
`END name seconds`. What a scenario leaves behind goes to DIR/NAME/ where it failed, with btmon's text. One that was late first
of all, while the machine itself stood still, is played again after `AGAIN name: why`, and leaves DIR/NAME-1/. DIR/news gets the
figures of each, and a line that it was played; of a failed one the last lines of its logs, then each claim that failed.
"""
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback

import breath
from written import whole_lines

HERE = os.path.dirname(os.path.abspath(__file__))
# btvirt opens AF_ALG sockets after it has made its radio: were their modules loaded only then, the kernel's two seconds
# for the first HCI_Reset would run out, and the radio stay dead.
MODULES = ["hci_vhci", "rfcomm", "af_alg", "algif_hash", "algif_skcipher", "ecb", "cmac"]
LIMIT = 240
TRIES = 3
BREATH = "/run/lab/breath"
INSTALLED = "/run/lab/installed"
# What most scenarios need of the library: an emulated processor takes seconds to read all of it, at each start of a daemon.
FEW, FEW_DEVICES = "/run/lab/few-devices", ("gatt", "heart-rate-monitor", "gps-receiver")
FAILURES = ("FAIL:", "LATE:", "LOST:")
# What is in the guest's memory is lost when its time runs out: this long before, no scenario plays any more.
RESERVE = 90
DEADLINE = float(os.environ.get("MACHINE_LIMIT", "inf")) - RESERVE


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, "scenarios", name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Overrun(BaseException):
    """Of no kind that a scenario catches."""


def is_over():
    """Whether no scenario plays any more."""
    return time.monotonic() > DEADLINE - 1


def overrun(*_):
    raise Overrun("its guest's time is over" if is_over() else "its time is over")


def play(name, folder, programs, say, boot):
    """Runs in a process of its own, so that nothing of a scenario outlives it."""
    from lab import Lab, Late
    scenario = load(name)
    say(f"SCENARIO {name}: {scenario.__doc__.strip().splitlines()[0]}")
    if os.path.exists(FEW) and not getattr(scenario, "LIBRARY", False):
        os.environ["WAKEBRIDGE_DEVICES"] = FEW
    lab = Lab(folder, programs, say, boot)
    signal.signal(signal.SIGALRM, overrun)
    signal.alarm(int(max(1, min(getattr(scenario, "LIMIT", LIMIT), DEADLINE - time.monotonic()))))
    try:
        scenario.run(lab)
    except BaseException as error:
        traceback.print_exc()
        claim = lab.in_time if isinstance(error, (Overrun, Late)) else lab.claim
        claim("it runs to its end", False, f"{type(error).__name__}: {error}")
    signal.alarm(40)
    try:
        lab.end()
    except BaseException as error:
        traceback.print_exc()
        say(f"FAIL: it is taken down ({type(error).__name__}: {error})")


def keep(folder, kept):
    """The air as text, and everything that was written, out of the guest's memory.

    btmon 5.66 dies of every discovery of characteristics; what it told before is kept, and tshark tells all of it.
    """
    try:
        shutil.copytree(folder, kept, ignore=lambda place, names: [n for n in names if n.endswith(".sock")])
    except OSError as error:
        print(f"not all of {folder} was kept: {error}", flush=True)
    snoop = os.path.join(folder, "air.btsnoop")
    for name, *words in (("air.txt", "stdbuf", "-o0", "btmon", "-t", "-r"),
                         ("air-tshark.txt", "tshark", "-t", "ad", "-r")):
        if os.path.exists(snoop) and shutil.which(words[0]):
            with open(os.path.join(kept, name), "wb") as text:
                subprocess.run(["timeout", "20", *words, snoop], stdout=text, stderr=subprocess.DEVNULL)


def attempt(name, folder, programs, say, boot=0):
    """Plays it once; says how long that took."""
    begun = time.monotonic()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        play(name, folder, programs, say, boot)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    if status:
        say(f"FAIL: its process came to its end (wait status {status})")
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    say(f"END {name} {time.monotonic() - begun:.1f} s")


def excuse(said, stood):
    """Why what failed proves nothing: it was late, as the machine was, and what else failed came after that. None of what was
    not late first, and where anything was lost."""
    failures = [line for line in said if line.startswith(FAILURES)]
    if not stood or not failures or not failures[0].startswith("LATE:") or any(
            line.startswith("LOST:") for line in failures):
        return None
    return f"the machine itself stood still {len(stood)} times, for up to {max(late for _, late in stood):.2f} s"


def has_failed(said):
    return any(line.startswith(FAILURES) for line in said) or not any(
        line.startswith(("PASS:", "SKIP:")) for line in said)


def tell(news, name, folder, said, why):
    """Writes what people read while it goes on; the claims that failed come last."""
    took = next((line.split()[2] for line in said if line.startswith("END ")), "?")
    for word, _, rest in (line.partition(": ") for line in said):
        if word in ("FIGURE", "NOT-YET", "SKIP"):
            news.write(f"lab: {name}: {word.lower() + ': ' if word != 'FIGURE' else ''}{rest}\n")
    if why:
        news.write(f"lab: {name} is played again: {why}\n")
    elif not has_failed(said):
        news.write(f"lab: played {name} in {took} s\n")
    else:
        for log in ("bluetoothd.log", "wakebridged.log", "why.txt"):
            news.writelines(f"lab: {name}: {log}: {line[:400]}\n" for line in last_lines(os.path.join(folder, log)))
        failures = [line for line in said if line.startswith(FAILURES)]
        news.writelines(f"lab: FAILED {name} in {took} s: {line}\n" for line in failures or ["it claims nothing"])
    news.flush()


def last_lines(path, count=30):
    """Of those that come one after the other and are the same, one."""
    if not os.path.exists(path):
        return []
    with open(path, errors="replace") as file:
        return [line for line, _ in itertools.groupby(file.read().splitlines())][-count:]


def settle(name, kept, programs, report, news, say):
    """Plays it, and again while there is an excuse; whether it failed."""
    for number in range(1, TRIES + 1):
        folder, begun, start = os.path.join("/run/lab", name), time.monotonic(), os.path.getsize(report)
        attempt(name, folder, programs, say)
        said = [line.decode(errors="replace").rstrip("\n") for line in whole_lines(report, start)]
        failed = has_failed(said)
        why = excuse(said, breath.standstills(BREATH, begun)) if failed and number < TRIES and not is_over() else None
        if failed or os.environ.get("LAB_KEEP"):
            keep(folder, os.path.join(kept, f"{name}-{number}" if why else name))
        tell(news, name, folder, said, why)
        shutil.rmtree(folder, ignore_errors=True)
        if not why:
            return failed
        say(f"AGAIN {name}: {why}")


def install(kept, programs):
    """As a package does it, but into memory: the host's files are slow to reach, and a daemon reads hundreds at its start."""
    devices = os.path.join(INSTALLED, "share", "wakebridge", "Devices")
    os.makedirs(os.path.dirname(devices))
    # One file that holds a thousand is read many times sooner than they are.
    subprocess.run(["tar", "-xf", os.path.join(kept, "devices.tar"), "-C", os.path.dirname(devices)], check=True)
    for name in FEW_DEVICES:
        shutil.copytree(os.path.join(devices, name), os.path.join(FEW, name))
    os.makedirs(os.path.join(INSTALLED, "bin"))
    for name in ("wakebridged", "wakebridge"):
        shutil.copy(os.path.join(programs, name), os.path.join(INSTALLED, "bin", name))
    return os.path.join(INSTALLED, "bin")


def main():
    kept, programs, *names = sys.argv[1:]
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    os.environ.setdefault("WAKEBRIDGE_LOG", "debug")
    os.makedirs("/run/lab")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run/lab"], check=True)
    subprocess.run(["modprobe", "-a", *MODULES], check=True)
    report, news = (open(os.path.join(kept, name), "a", buffering=1) for name in ("report", "news"))

    def say(line):
        print(line, flush=True)
        report.write(line.replace("\n", " ") + "\n")

    programs = install(kept, programs)
    breath.begin(BREATH)
    import lab, logger, strap  # noqa: E401,F401  imported once, here, for all who are forked below: Bumble takes long to come
    say(f"FIGURE: guest: all is ready {time.monotonic():.1f} s after boot")
    failed = [name for name in names if settle(name, kept, programs, report.name, news, say)]
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
