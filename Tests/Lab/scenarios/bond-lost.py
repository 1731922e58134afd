"""A strap that lost its bond is not asked for ever: a bond-invalid event says what to do, and that command mends it."""
import time

from lab import until

WAITS = True
# Seconds for which nobody may connect to it again.
WATCHED = 25


def run(lab):
    air, strap, bridge = lab.paired()
    deaths = []
    cut = time.monotonic()
    strap.tell("forget-bond")
    strap.tell("drop")

    def is_over():
        """Bluetoothd 5.66 dies of this peripheral; who looks after it starts it again."""
        if not air.bluetoothd.is_alive:
            deaths.append(air.bluetoothd.child.returncode)
            air.start_bluetoothd(0)
        return time.monotonic() > cut + WATCHED

    until(is_over, 2 * WATCHED, 0.1)
    lab.figure("bluetoothd ended with", deaths or "never")
    lab.claim("the daemon lives", bridge.daemon.is_alive)
    told = until(lambda: bridge.heard("attention"), 10)
    lab.claim("the handler is told once that the bond is not valid",
              [one.data.get("kind") for one in told] == ["bond-invalid"], [one.data for one in told])
    lab.seconds("from the lost bond to the handler's knowledge of it", told[0].at - cut if told else None)
    lab.claim("and which command mends it", "'wakebridge pair strap'" in str(told[0].data.get("detail") if told else ""))
    tries = [at for at, _, _ in strap.entries("connected") if at > cut]
    lab.figure("connections to the strap without its bond", len(tries))
    lab.claim("nobody connects to it any more", not [at for at in tries if at > cut + 10], tries)
    lab.claim("bluetoothd dies of it at most once", len(deaths) <= 1 and air.bluetoothd.is_alive, deaths)
    lab.claim("bluetoothd blocks it, for whoever looks", air.device(strap, "Blocked") == 1)
    lab.claim("nothing is heard meanwhile", not bridge.beats(since=cut + 5))
    back = time.monotonic()
    said, status = bridge.tool("pair", "--yes", "strap")
    lab.claim("the command makes a new bond", status == 0, said)
    took = lab.beats_again("the strap is heard again", back)
    lab.seconds("from the command to the next beat at the handler", took)
    lab.claim("its name and trust are as they were",
              [air.device(strap, name) for name in ("Alias", "Trusted", "Blocked")] == ["strap", 1, 0])
    lab.reckon(strap, [cut])
