"""The message bus is killed and started again, and bluetoothd with it: the strap is heard again, by nobody's hand."""
import time

from lab import until


def run(lab):
    air, strap, bridge = lab.paired()
    cut = time.monotonic()
    air.bus_process.kill()
    until(lambda: not air.bluetoothd.is_alive, 10)
    lab.figure("bluetoothd without a bus", "lives" if air.bluetoothd.is_alive else
               f"ended with {air.bluetoothd.child.returncode}")
    lab.eventually("the daemon knows that bluetoothd is out of reach", lambda: "bluetoothd is gone" in bridge.daemon.text())
    air.bluetoothd.kill()
    air.start_bus()
    air.start_bluetoothd(0)
    back = time.monotonic()
    took = lab.beats_again("the strap is heard again", back)
    lab.seconds("from the bus's return to the next beat at the handler", took)
    lab.claim("it is the same daemon", bridge.daemon.is_alive)
    lab.await_beats(2)
    lab.reckon(strap, [cut])
