"""A strap that lost its bond is not asked for ever: a bond-invalid event says what to do, and the bridge lives on."""
import time

from lab import until


def run(lab):
    air, strap, bridge = lab.paired()
    deaths = []
    strap.tell("forget-bond")
    strap.tell("drop")
    end = time.monotonic() + 40
    # bluetoothd 5.66 dies of this peripheral, again and again; who looks after it starts it again.
    while time.monotonic() < end and len(deaths) < 4:
        if not air.bluetoothd.is_alive:
            deaths.append(air.bluetoothd.child.returncode)
            time.sleep(1)
            air.start_bluetoothd(wait=False)
        time.sleep(0.1)
    lab.figure("bluetoothd ended with", deaths or "never")
    lab.claim("the daemon lives", bridge.daemon.is_alive)
    told = until(lambda: bridge.heard("attention"), 10)
    lab.figure("attention", [one.data for one in bridge.heard("attention")])
    # bluetoothd 5.66 dies before it says anything of it on the bus; only the kernel's own channels know the reason.
    lab.not_yet("the handler is told once that the bond is not valid, and what to do",
                [one.data.get("kind") for one in told] == ["bond-invalid"], [one.data for one in told])
    lab.claim("nothing is heard meanwhile", not bridge.beats(since=end - 20))
