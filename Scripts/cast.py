#!/usr/bin/env python3
"""Draws docs/pictures/first-beat.svg: what the tool prints as a strap is paired, a handler is made, and its first beats come.

usage: cast.py [FILE]     WAKEBRIDGE names the tool; without it, that of .build/debug is taken

The commands are run here, and their output is drawn as it came. bluetoothd is the scripted one of the tests, and the strap that
beats is the shipped recording. Needs python3-dbus, python3-gi and dbus-daemon.
"""
import html
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/pictures/first-beat.svg"
RECORDING = "Devices/heart-rate-monitor/recording.trace"
BEATS = 6
STRAP = {"address": "C0:DE:00:00:00:10", "name": "Heart Strap", "uuids": ["180d"]}
WIDTH, ROW, MARGIN, COLUMNS = 860, 21, 20, 100
# When a command or the first line of its output appears, and how long each beat lets the next one wait.
PAUSE_S, BEAT_S, REST_S = 1.2, 0.9, 5
LOOK = """
.paper { fill: #f6f8fa } text { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
.typed { font-weight: bold } .note { fill: #59636e }
@media (prefers-color-scheme: dark) { .paper { fill: #161b22 } text { fill: #e6edf3 } .note { fill: #9198a1 } }
@media (prefers-reduced-motion: reduce) { text { animation: none !important } }
"""


def scripted_bluetooth(folder):
    """A message bus with the tests' bluetoothd on it: its address, and its processes."""
    bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"],
                           stdout=subprocess.PIPE, encoding="utf-8")
    address = bus.stdout.readline().strip()
    (folder / "world.json").write_text(json.dumps({"devices": [STRAP]}), encoding="utf-8")
    environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=address)
    script = str(ROOT / "Tests/CommandLineTests/bluez.py")
    bluetoothd = subprocess.Popen(["/usr/bin/python3", script, str(folder / "world.json")], env=environment,
                                  stdout=subprocess.DEVNULL)
    subprocess.run(["/usr/bin/python3", "-c", WAIT], env=environment, check=True)
    return address, [bluetoothd, bus]


# Ends once the name is on the bus.
WAIT = """
import dbus, dbus.mainloop.glib
from gi.repository import GLib
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
loop, bus = GLib.MainLoop(), dbus.SystemBus()
bus.watch_name_owner("org.bluez", lambda owner: owner and loop.quit())
loop.run()
"""


def run(words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False, **more)
    if done.returncode:
        sys.exit(f"cast.py: {' '.join(words)} ended with {done.returncode}: {done.stdout}")
    return done.stdout.splitlines()


def scenes(tool, folder):
    """Each command as it is shown, and the lines that it printed."""
    address, processes = scripted_bluetooth(folder)
    places = dict(os.environ, TZ="UTC", DBUS_SYSTEM_BUS_ADDRESS=address, XDG_RUNTIME_DIR=str(folder),
                  WAKEBRIDGE_SOCKET="/nonexistent", XDG_CONFIG_HOME=str(folder / "config"))
    # As root the tool would write to the machine's own folder of manifests.
    ordinary = ["setpriv", "--reuid=1", "--regid=1", "--clear-groups"] if os.getuid() == 0 else []
    try:
        paired = run([tool, "pair", "Heart Strap", "--alias", "chest-strap"], env=places)
        made = run(ordinary + [tool, "new", "handler", "hr", "--profile", "heart-rate-monitor"], env=places, cwd=folder)
        manifests = folder / "config/wakebridge/handlers.d"
        played = run([tool, "replay", RECORDING, "--speed", "max", "--", "/bin/sh", str(manifests / "hr.sh")], env=places, cwd=ROOT)
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
            process.wait()
    beats = [line[line.index("chest-strap"):] for line in played if '"bpm":' in line][:BEATS]
    return [
        ("sudo wakebridge pair 'Heart Strap' --alias chest-strap", paired),
        ("sudo wakebridge new handler hr --profile heart-rate-monitor",
         [line.replace(str(manifests), "/etc/wakebridge/handlers.d") for line in made if line.startswith("wrote ")]),
        ("wakebridge replay recording.trace -- /etc/wakebridge/handlers.d/hr.sh", beats),
    ]


def drawn(found):
    """One text element a line; each appears at its time and stays to the end of the round."""
    rows, time_s = [], 0.0
    for command, lines in found:
        rows.append(("typed", f"$ {command}", time_s))
        time_s += PAUSE_S
        for line in lines:
            is_beat = '"bpm":' in line
            rows.append(("", line if len(line) <= COLUMNS else line[:COLUMNS - 1] + "…", time_s))
            time_s += BEAT_S if is_beat else 0.1
        time_s += PAUSE_S
    round_s = time_s + REST_S
    rules, texts = [], []
    for place, (kind, line, start_s) in enumerate(rows):
        # Some viewers draw the first moment only, so the first line is always there.
        share = 100 * start_s / round_s
        if place:
            rules.append(f"@keyframes k{place} {{ 0%, {share:.2f}% {{ opacity: 0 }} {share + 0.01:.2f}%, 100% {{ opacity: 1 }} }}\n"
                         f"#r{place} {{ animation: k{place} {round_s:.1f}s infinite }}")
        texts.append(f'<text id="r{place}" class="{kind}" x="{MARGIN}" y="{MARGIN + ROW * (place + 1) - 6}">'
                     f"{html.escape(line, quote=False)}</text>")
    height = 2 * MARGIN + ROW * len(rows)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img">\n'
            f"<title>A strap is paired, a handler is made, and its beats come</title>\n<style>{LOOK}" + "\n".join(rules) +
            f'\n</style>\n<rect class="paper" width="100%" height="100%" rx="6"/>\n' + "\n".join(texts) + "\n</svg>\n")


def main(words):
    tool = os.environ.get("WAKEBRIDGE", str(ROOT / ".build/debug/wakebridge"))
    with tempfile.TemporaryDirectory(prefix="wakecast") as place:
        folder = pathlib.Path(place)
        # The ordinary user writes the handler here.
        folder.chmod(0o777)
        for inner in [folder / "config", folder / "config/wakebridge", folder / "config/wakebridge/Devices"]:
            inner.mkdir()
            inner.chmod(0o777)
        picture = drawn(scenes(tool, folder))
    pathlib.Path(words[0] if words else PICTURE).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
