"""What `record` writes of a strap at training is what the strap said, from connect to disconnect."""
import os
import signal
import time

from lab import until
from waiting import pace
from written import whole_lines

# The shipped recording is made with more (record.sh).
SECONDS = float(os.environ.get("LAB_RECORDING", "20"))
LIMIT = int(SECONDS + 200)
WAITS = True


def run(lab):
    air, strap, bridge = lab.paired("--percent", "87", alias="chest-strap")
    strap.tell("vanish")
    until(lambda: bridge.heard("disconnected"), 20)
    strap.tell("heart")
    file = os.path.join(lab.folder, "recording.trace")
    recorder = bridge.background("record", "record", "chest-strap", "-o", file)
    until(lambda: os.path.exists(file) and "device 1" in open(file).read(), 20)

    def said():
        return [fields["value"] for _, _, fields in strap.entries("notify") if "value" in fields]

    def written(word):
        lines = [line.decode() for line in whole_lines(file)]
        return [line.split() for line in lines if f" {word}" in line and line.startswith("+")]

    strap.tell("appear")
    lab.eventually("a beat stands in the recording", lambda: written("data 2a37"), 40)
    begun = time.monotonic()
    for second, order in ((0.35, "contact off"), (0.45, "contact on"), (0.6, "battery 86")):
        pace(begun + SECONDS * second)
        strap.tell(order)
    pace(begun + SECONDS)
    # What is under way as the link falls goes with it.
    until(lambda: written("data 2a37")[-1][4] == said()[-1], 10)
    strap.tell("vanish")
    lab.eventually("so does the disconnect", lambda: written("disconnect"), 20)
    status = recorder.kill(signal.SIGINT)
    lab.claim("the recorder ends well at Ctrl-C", status == 0, recorder.text())
    lab.figure("it says", recorder.text().strip())
    beats, truth = [line[4] for line in written("data 2a37")], said()
    lab.claim("from its first beat on it holds each that the strap said, in order, and as it was",
              len(beats) > SECONDS * 0.8 and beats == truth[-len(beats):], f"{len(beats)} of {len(truth)}")
    lab.claim("what it misses at its begin was said before the subscription was proved", len(truth) - len(beats) <= 2,
              f"{len(beats)} of {len(truth)}")

    def heard():
        return [one.data["raw"] for one in bridge.heard("data") if one.data["characteristic"] == "2a37"]

    until(lambda: heard()[-1:] == beats[-1:], 30)
    lab.claim("the handler heard the same", heard()[-len(beats):] == beats)
    lab.claim("its battery is there, as it was read and as it was told", [line[4] for line in written("data 2a19")] ==
              ["57", "56"], written("data 2a19"))
    kinds = [line[2] for line in written("")]
    lab.claim("it goes from connect to disconnect", (kinds[0], kinds[-1]) == ("connect", "disconnect"), kinds)
    lab.figure("why the link ended", written("disconnect")[-1][3:])
    with open(file) as text:
        lines = text.read().splitlines()
    lab.claim("it has its end", lines[-1] == "end", lines[-1])
    remarks = [line for line in lines if line.startswith("#")]
    lab.claim("it tells the gap before it once", len(remarks) == 1, remarks)
