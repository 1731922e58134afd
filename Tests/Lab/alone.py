"""Plays scenarios that put the machine itself to sleep, or boot it with a false clock: each in a machine of its own.

    alone.py DIR PROGRAMS SCENARIO...

A scenario says in `BOOTS`, in the words of qemu's `-rtc`, what the hardware clock shows at each of its boots. `run` is
played in each, with `lab.boot` counting them, and what the bridge keeps is carried from one to the next. DIR gets what
guest.py writes, and for each boot NAME/console-BOOT and what it left in NAME/BOOT/. LAB_LIMIT is the time of each boot in
seconds.
"""
import ast
import gzip
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import tty

import ark
import guest
from written import whole_lines

HERE = os.path.dirname(os.path.abspath(__file__))
# What the machine says of itself comes by its first line, the report by the second, and what is left by the third.
SAYS, LEAVES = "/dev/ttyS1", "/dev/ttyS2"
STATE = "bridge/state"
# Time passes there by what its processor does, and at once while that has nothing to do: a busy host is not noticed.
COUNTED = ["-icount", "shift=1,sleep=off"]
LIMIT = int(os.environ.get("LAB_LIMIT", "1800"))


def word(path):
    with open(path) as file:
        return file.read().strip()


# On the host.

def boots(name):
    with open(os.path.join(HERE, "scenarios", name + ".py")) as file:
        for statement in ast.parse(file.read()).body:
            if isinstance(statement, ast.Assign) and statement.targets[0].id == "BOOTS":
                return ast.literal_eval(statement.value)
    raise ValueError(f"{name} has no BOOTS")


def newest_kernel():
    kernels = [name for name in os.listdir("/boot") if name.startswith("vmlinuz-")]
    found = subprocess.run(["sort", "-V"], input="\n".join(kernels).encode(), stdout=subprocess.PIPE).stdout
    return os.environ.get("LAB_KERNEL") or "/boot/" + found.decode().split()[-1]


def boot(folder, number, clock, archives):
    """Lets the machine live; the lines that it reported."""
    said, left, files = (os.path.join(folder, f"{word}-{number}") for word in ("report", "left", "files"))
    with open(files, "wb") as whole:
        for archive in archives:
            with open(archive, "rb") as file:
                shutil.copyfileobj(file, whole)
    words = ["qemu-system-x86_64", "-accel", "tcg", *COUNTED, "-rtc", clock, "-cpu", "max", "-smp", "1",
             "-m", "1G", "-nodefaults", "-nographic", "-no-reboot", "-kernel", newest_kernel(), "-initrd", files,
             "-append", "console=ttyS0 panic=-1 loglevel=7",
             "-serial", f"file:{os.path.join(folder, f'console-{number}')}", "-serial", f"file:{said}",
             "-serial", f"file:{left}"]
    emulator = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: (emulator.kill(), sys.exit(143)))
    try:
        emulator.wait(LIMIT)
    except subprocess.TimeoutExpired:
        emulator.kill()
        emulator.wait()
    os.unlink(files)
    lines = [line.decode(errors="replace").rstrip() for line in whole_lines(said)] if os.path.exists(said) else []
    if not any(line.startswith("END ") for line in lines):
        lines.append(f"FAIL: boot {number} came to its end (it did not within {LIMIT} s, or died; see console-{number})")
    unpack(left, os.path.join(folder, str(number)))
    return lines


def unpack(left, place):
    os.makedirs(place, exist_ok=True)
    try:
        with tarfile.open(left) as files:
            files.extractall(place)
        os.unlink(left)
    except (OSError, EOFError, tarfile.TarError) as error:
        print(f"not all of {left} was kept: {error}", flush=True)


def attempt(name, folder, first):
    """Plays each boot, as long as none has failed; the lines that they reported."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lines, carried = [], os.path.join(folder, "carried")
    for number, clock in enumerate(boots(name)):
        second = ark.Ark(carried)
        second.text("/boot-number", str(number))
        second.text("/scenario-name", name)
        if number > 0:
            second.add(os.path.join(folder, str(number - 1), STATE), "/carried")
        second.end()
        # It ends with its last boot.
        lines = [line for line in lines if not line.startswith("END ")] + boot(folder, number, clock, [first, carried])
        if guest.has_failed(lines):
            break
    os.unlink(carried)
    return lines


def main():
    kept, programs, *names = sys.argv[1:]
    first = os.path.join(kept, "first")
    command = ["/usr/bin/python3", os.path.join(HERE, "alone.py"), "--within", programs]
    ark.build(first, programs, HERE, shlex.join(command))
    failed = False
    report, news = (open(os.path.join(kept, name), "a", buffering=1) for name in ("report", "news"))
    with report, news:
        for name in names:
            folder = os.path.join(kept, name)
            said = attempt(name, folder, first)
            report.writelines(line + "\n" for line in said)
            last = max((one for one in os.listdir(folder) if one.isdigit()), default="0")
            guest.tell(news, name, os.path.join(folder, last), said, None)
            if guest.has_failed(said):
                failed = True
            elif not os.environ.get("LAB_KEEP"):
                shutil.rmtree(folder)
    os.unlink(first)
    sys.exit(failed)


# In the machine.

def within(programs):
    """Plays one boot, tells of it, and sends what it leaves."""
    with open(SAYS, "w", buffering=1) as line:
        tty.setraw(line)

        def say(text):
            line.write(text.replace("\n", " ") + "\n")

        name, number = word("/scenario-name"), int(word("/boot-number"))
        folder = os.path.join("/run/lab", name)
        os.makedirs(folder)
        if number > 0:
            shutil.copytree("/carried", os.path.join(folder, STATE))
        os.environ.setdefault("WAKEBRIDGE_LOG", "debug")
        say(f"FIGURE: boot {number}: all is ready {time.monotonic():.1f} s after it")
        guest.attempt(name, folder, programs, say, boot=number)
    send(folder)


def send(folder):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        files.add(folder, ".", filter=lambda one: None if one.name.endswith(".sock") else one)
    with open(LEAVES, "wb") as line:
        tty.setraw(line)
        line.write(gzip.compress(packed.getvalue(), 1))


if __name__ == "__main__":
    within(sys.argv[2]) if sys.argv[1] == "--within" else main()
