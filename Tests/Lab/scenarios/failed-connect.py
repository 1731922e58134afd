"""A strap that is heard, and gone when the kernel connects to it, is heard again within seconds of its return."""
import os
import time

import capture

WAITS = True


def failures(lab):
    """LE Connection Complete with the status `failed to be established`: kernel 6.1 scans no more by itself then."""
    air = os.path.join(lab.folder, "air.btsnoop")
    return sum(opcode == 3 and packet[0] == 0x3e and packet[2] in (0x01, 0x0a) and packet[3] == 0x3e
               for _, opcode, _, packet in capture.records(air))


def run(lab):
    air, strap, bridge = lab.paired()
    for times in (1, 3):
        before = failures(lab)
        strap.tell(f"flicker {times}")
        back = time.monotonic()
        lab.claim("the kernel heard it, and its connection failed", failures(lab) > before)
        took = lab.beats_again(f"heard {times} times in vain, the strap is heard again", back, 10)
        lab.seconds(f"from its return after {times} failed connections to the next beat at the handler", took)
        lab.figure("connections that failed", failures(lab) - before)
        lab.await_beats(2)
    lab.reckon(strap)
