"""The adapter is pulled out and put in again, which gives it another name: the strap is heard again."""
import time


def run(lab):
    air, strap, bridge = lab.paired(dongles=True)
    before = list(air.adapters())
    cut = time.monotonic()
    air.unplug()
    lab.eventually("bluetoothd has no adapter any more", lambda: not air.adapters(), 20)
    lab.eventually("the handler is told that the link is gone", lambda: bridge.heard("disconnected"), 20)
    strap.tell("lose")
    back = time.monotonic()
    air.plug()
    lab.eventually("bluetoothd has an adapter again", air.adapters, 30)
    lab.figure("the adapter was, and is now", f"{before[0]}, {', '.join(air.adapters())}")
    took = lab.beats_again("the strap is heard again", back)
    lab.seconds("from the adapter's return to the next beat at the handler", took)
    lab.await_beats(2)
    lab.reckon(strap, [cut])
