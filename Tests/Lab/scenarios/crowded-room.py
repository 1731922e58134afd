"""Among 200 advertisers, some of changing address, some that send rubbish, a scan shows what is there."""
import json
import signal
import time

from lab import until

TAGS, STRAPS = 20, 20


def scan(bridge, name, is_enough, *words):
    """What it said until that was enough, for 90 s at most: in an emulated machine everybody's turn takes 20 s, and longer
    where its host has other work."""
    tool = bridge.background(name, "scan", "--for", "2m", *words)
    until(lambda: is_enough(tool.text()), 90, 0.5)
    status = tool.kill(signal.SIGINT)
    return tool.text(), status


def listed(said):
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{") and line.endswith("}")]
    return [row for row in rows if "note" not in row]


def rubbish(lines):
    return [row for row in lines if "C0:AA:00:00:00:" in row and not row.startswith(("Strap ", "Stranger "))]


def strays(tags):
    """Those that begin with one address a row beside the tag's. That has lost none of its addresses then; where bluetoothd is
    late and has dropped them, the one row itself has a single address again, and another one."""
    found, most = [], 0
    for before, row in zip(tags, tags[1:]):
        most = max(most, before["count"])
        if row["count"] == 1 and row["address"] != before["address"] and before["count"] == most:
            found.append(row)
    return found


def run(lab):
    air, strap, bridge = lab.paired("--interval", "0.5")
    air.crowd("--count", "200")
    begun = time.monotonic()

    def has_all(said):
        rows = listed(said)
        return (len({row["name"] for row in rows if row["name"].startswith("Strap ")}) == STRAPS and
                any(row["name"] == "Wanderer 7" and row["count"] > 1 for row in rows))

    said, status = scan(bridge, "scan", has_all, "--json")
    took = time.monotonic() - begun
    rows = listed(said)
    names = {row["name"] for row in rows}
    lab.claim("a scan in the crowd ends well", status == 0, said[-300:])
    lab.seconds("it took", took)
    seen = sorted(int(name.split()[1]) for name in names if name.startswith("Strap "))
    lab.figure("straps of the crowd that it showed", f"{len(seen)} of {STRAPS}")
    lab.in_time("it shows every strap of the crowd", len(seen) == STRAPS, seen)
    tags = [row for row in rows if row["name"] == "Wanderer 7"]
    lab.figure("addresses of the tag in one row", max((row["count"] for row in tags), default=0))
    lab.in_time("a tag whose address changes by itself is heard by more than one of them",
                any(row["count"] > 1 for row in tags), [(row["address"], row["count"]) for row in tags])
    lab.claim("addresses that change by themselves and look the same are one row", not strays(tags),
              [(row["address"], row["count"]) for row in tags])
    lab.claim("no stranger is shown unasked", not [name for name in names if name.startswith("Stranger")], names)

    def has_strangers(said):
        lines = said.split("\n")
        return sum(line.startswith("Stranger ") for line in lines) > 100 and len(rubbish(lines)) > 15

    said, status = scan(bridge, "scan-all", has_strangers, "--all")
    # Only the tool's own line ends: a name may hold what others take for one.
    lines = said.rstrip("\n").split("\n")
    lab.claim("a scan of everything ends well", status == 0, said[-300:])
    lab.figure("rows that it printed", len(lines))
    lab.in_time("it shows strangers", sum(line.startswith("Stranger ") for line in lines) > 20, len(lines))
    lab.claim("nothing in a name reaches the terminal", all(letter.isprintable() for line in lines for letter in line),
              [line for line in lines if not line.isprintable()][:3])
    lab.figure("of those that sent rubbish, it showed", len(rubbish(lines)))
    lab.in_time("who sends rubbish is shown too", len(rubbish(lines)) > 5, len(rubbish(lines)))
    lab.claim("bluetoothd and the bridge live", air.bluetoothd.is_alive and bridge.daemon.is_alive)
    lab.reckon(strap)
