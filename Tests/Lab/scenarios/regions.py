"""A beacon's region is entered and left over deaths of bluetoothd and of the daemon: the handler is told of differences only."""
import signal

from air import end
from lab import let_pass

WAITS = True
LIBRARY = True
UUID = "f7826da6-4fa2-4e98-8024-bc5b71e0893e"
# Silence that proves an exit, and the rests of a scan within it.
SILENCE = 30
REST = 30


def story(bridge):
    """Each once, though it came again."""
    heard = bridge.heard("region.entered", "region.exited")
    return list({one.event["id"]: (one.kind.split(".")[1], one.data["id"], one.data["initial"])
                 for one in heard}.values())


def run(lab):
    regions = [{"id": "shop", "beacon": {"ibeacon": UUID, "major": 1}},
               {"id": "other", "beacon": {"ibeacon": UUID, "major": 2}}]
    air, strap, bridge = lab.paired(extra={"regions": regions})
    air.crowd("--beacon")
    told = [("entered", "shop", True)]
    lab.eventually("the region is entered with its beacon's first sighting", lambda: story(bridge)[:1] == told, 60)

    air.restart_bluetoothd()
    let_pass(SILENCE + REST, "an exit that is wrong would come when the silence is over")
    lab.account("a death of bluetoothd tells nothing", story(bridge) == told, story(bridge))

    bridge.daemon.kill(signal.SIGKILL)
    bridge.start()
    let_pass(SILENCE + REST, "an exit that is wrong would come when the silence is over")
    lab.account("a death of the daemon tells nothing", story(bridge) == told, story(bridge))

    # The beacon goes while no daemon is there.
    bridge.daemon.kill(signal.SIGKILL)
    end(air.others.pop())
    bridge.start()
    told.append(("exited", "shop", False))
    lab.eventually("what went meanwhile is told when the silence has proved it", lambda: story(bridge) == told,
                   SILENCE + 2 * REST, 0.5)
    air.crowd("--beacon")
    told.append(("entered", "shop", False))
    lab.eventually("it is entered again", lambda: story(bridge) == told, 60)
    lab.account("entries and exits alternate, and the other region was never told of", story(bridge) == told,
                story(bridge))
