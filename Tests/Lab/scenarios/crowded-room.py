"""Among 200 advertisers, some of changing address, some that send rubbish, a scan shows what is there."""
import json
import time

TAGS, STRAPS = 20, 20


def run(lab):
    air, strap, bridge = lab.paired("--interval", "0.5")
    air.crowd("--count", "200")
    begun = time.monotonic()
    # In an emulated machine the crowd takes up to 20 s until everybody has had a turn.
    said, status = bridge.tool("scan", "--for", "30s", "--json")
    took = time.monotonic() - begun
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    names = {row["name"] for row in rows}
    lab.claim("a scan in the crowd ends well", status == 0, said[-300:])
    lab.seconds("it took", took)
    seen = sorted(int(name.split()[1]) for name in names if name.startswith("Strap "))
    lab.figure("straps of the crowd that it showed", f"{len(seen)} of {STRAPS}")
    lab.claim("it shows every strap of the crowd", len(seen) == STRAPS, seen)
    tags = [row for row in rows if row["name"] == "Wanderer 7"]
    lab.figure("addresses of the tag in one row", max((row["count"] for row in tags), default=0))
    lab.claim("addresses that change by themselves and look the same are one row",
              tags and len({row["address"] for row in tags if row["count"] == 1}) <= 1 and
              max(row["count"] for row in tags) > 1, [(row["address"], row["count"]) for row in tags][:5])
    lab.claim("no stranger is shown unasked", not [name for name in names if name.startswith("Stranger")], names)
    said, status = bridge.tool("scan", "--all", "--for", "20s")
    # Only the tool's own line ends: a name may hold what others take for one.
    lines = said.rstrip("\n").split("\n")
    lab.claim("a scan of everything ends well", status == 0, said[-300:])
    lab.figure("rows that it printed", len(lines))
    lab.claim("it shows strangers", sum(line.startswith("Stranger ") for line in lines) > 20, len(lines))
    lab.claim("nothing in a name reaches the terminal", all(letter.isprintable() for line in lines for letter in line),
              [line for line in lines if not line.isprintable()][:3])
    rubbish = [row for row in lines if "C0:AA:00:00:00:" in row and not row.startswith(("Strap ", "Stranger "))]
    lab.figure("of those that sent rubbish, it showed", len(rubbish))
    lab.claim("who sends rubbish is shown too", len(rubbish) > 5, len(rubbish))
    lab.claim("bluetoothd and the bridge live", air.bluetoothd.is_alive and bridge.daemon.is_alive)
    lab.reckon(strap)
