"""bluetoothd is killed twice and started again: the strap is heard again, by nobody's hand; what was missed is told."""
import time


def run(lab):
    air, strap, bridge = lab.paired(debug=False)
    cuts = []
    for _ in range(2):
        cuts.append(time.monotonic())
        back = air.restart_bluetoothd()
        start = back - cuts[-1]
        lab.seconds("from bluetoothd's death to its name on the bus", start)
        took = lab.beats_again("the strap is heard again", back)
        lab.seconds("from its name's return to the next beat at the handler", took)
        armed = [at for at, word, _ in strap.entries("subscription", "restored") if at > back]
        armed = armed[0] - back if armed else None
        lab.seconds("from its name's return to the strap's notifications", armed)
        # An emulated machine can be so slow that bluetoothd alone needs seconds to start: its start is the yardstick then.
        lab.in_time("it is subscribed again within 1 s of bluetoothd's return, or twice the time of bluetoothd's own start",
                    armed is not None and armed < min(max(1, 2 * start), 5), armed)
        lab.await_beats(2)
    reasons = [one.data.get("reason") for one in bridge.heard("disconnected")]
    lab.claim("the handler is told that bluetoothd was gone", reasons.count("bluetoothd-gone") == 2, reasons)
    lab.reckon(strap, cuts)
