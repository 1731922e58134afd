"""What `record --air` captures of a live link is what the strap said, says our import, and say tshark and btmon."""
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import capture
from lab import until

# tshark alone needs two minutes to begin where the guest has a tenth of a processor.
LIMIT = 800
# The monitor's opcode of an event, and the event that a link is gone.
EVENT, GONE = 3, 5


def output(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return done.stdout.decode(errors="replace"), f"{done.returncode}: {done.stderr.decode(errors='replace')[-200:]}"


def run(lab):
    air, bridge = lab.start()
    strap = air.strap("--interval", "0.5")
    strap.tell("heart")

    def said(since=0):
        return [fields["value"] for at, _, fields in strap.entries("notify") if at > since]

    def record(name):
        """Begins a capture, and says where it goes, and how to end it."""
        file = os.path.join(lab.folder, name)
        recorder = bridge.background("record-air", "record", "--air", file)
        until(lambda: os.path.exists(file) and os.path.getsize(file) > 16, 20)

        def end():
            status = recorder.kill(signal.SIGINT)
            lab.claim("the recorder ends well at Ctrl-C", status == 0, recorder.text())
            lab.figure("it says", recorder.text().strip().splitlines()[-1])
        return file, end

    whole, end = record("whole.btsnoop")
    bridge.pair(strap, "chest")
    lab.eventually("it is heard", lambda: len(said()) >= 10, 60)
    late, end_late = record("late.btsnoop")
    begun = time.monotonic()
    until(lambda: len(said(begun)) >= 5, 10)
    cut = time.time()
    strap.tell("vanish")
    lab.eventually("both captures have the link's end", lambda: falls(whole, cut) and falls(late, cut))
    end_late()
    end()

    trace = os.path.join(lab.folder, "whole.trace")
    text, status = bridge.tool("import", whole, "-o", trace)
    lab.claim("import takes it", status == 0, text)
    with open(trace) as lines:
        read = [line.split()[4] for line in lines if " data 2a37 " in line]
    lab.claim("import finds every beat in it, in order", read == said(), f"{len(read)} of {len(said())}")
    with_tshark(lab, whole, said())
    text, ended = output("btmon", "-r", late)
    values = re.findall(r"Handle Value Notification.*\n.*Handle: .*\n\s+Data: ([0-9a-f]+)", text)
    lab.claim("btmon finds in a capture of the link every beat that was said meanwhile",
              values and values[-len(said(begun)):] == said(begun), f"{ended} {values[-2:]} {said(begun)[-2:]}")


def falls(file, since):
    """When links ended, by the clock of the wall."""
    return [at for at, opcode, _, packet in capture.records(file) if opcode == EVENT and packet[0] == GONE and at >= since]


def with_tshark(lab, file, said):
    """btmon 5.66 dies of every capture that has the discovery of characteristics in it."""
    if not shutil.which("tshark"):
        return lab.figure("tshark", "is not installed here")
    names = ("value.8", "value.16", "energy_expended", "rr_interval")
    words = [word for name in names for word in ("-e", f"btatt.heart_rate_measurement.{name}")]
    beats = "btatt.opcode == 0x1b && btatt.uuid16 == 0x2a37"
    text, ended = output("tshark", "-r", file, "-Y", beats, "-T", "fields", *words)
    read = [line.split("\t") for line in text.splitlines()]
    lab.claim("tshark decodes every beat in it, in order", read == [fields(bytes.fromhex(one)) for one in said],
              f"{ended} {read[:2]} {len(read)} of {len(said)}")


def fields(raw):
    """As tshark prints them: rate in one byte or in two, energy, intervals."""
    rate = [str(raw[1]), ""] if not raw[0] & 1 else ["", str(raw[1] | raw[2] << 8)]
    at = 2 + (raw[0] & 1)
    energy = str(struct.unpack_from("<H", raw, at)[0]) if raw[0] & 8 else ""
    at += 2 if raw[0] & 8 else 0
    return [*rate, energy, ",".join(str(ticks) for ticks, in struct.iter_unpack("<H", raw[at:]))]
