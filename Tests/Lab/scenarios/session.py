"""A session is paused, closed, opened: nothing is heard meanwhile, the link stays or goes, a new daemon keeps to it."""
import json

from lab import now, until

WAITS = True
# It took 120 s on a busy host that emulates all of the guest.
LIMIT = 400


def run(lab):
    air, strap, bridge = lab.paired()

    def order(what):
        """The daemon may just have started, and not know the strap yet."""
        said = []

        def is_taken():
            said[:] = bridge.tool("session", what, "strap")
            return said[1] == 0

        lab.eventually(f"session {what} is taken", is_taken, 15, 0.2)
        lab.figure(f"session {what}", said[0])
        return now()

    def expect(session):
        """Claims that it is told so, to people and to the handler."""
        lab.eventually(f"{session}: the handler is told that it is disconnected, and why",
                       lambda: [one for one in bridge.heard("disconnected")
                                if one.data.get("reason") == f"session-{session}"], 15)

    def is_told(session):
        said, status = bridge.tool("status", "--json")
        return status == 0 and [one["session"] for one in json.loads(said)["devices"]] == [session]

    def rest(what, is_connected):
        """Claims that nothing is heard for some seconds, and that the link is as it should be all the time."""
        begun, links = now(), set()
        until(lambda: links.add(bool(air.device(strap, "Connected"))), 2.5, 0.4)
        lab.claim(f"{what}: no beat comes", not bridge.beats(begun), len(bridge.beats(begun)))
        lab.claim(f"{what}: the link {'stays' if is_connected else 'stays away'}", links == {is_connected}, links)
        sent = [at for at, _, _ in strap.entries("notify") if at > begun]
        lab.claim(f"{what}: the strap is not subscribed to", not sent, len(sent))

    def restart(session):
        lab.claim(f"{session}: the daemon ends when asked to", bridge.end())
        bridge.start()
        lab.eventually(f"{session}: so it is told by the next daemon too", lambda: is_told(session), 20, 0.2)

    # From the order on nobody listens, which the strap learns a moment later.
    cuts = [now()]
    order("pause")
    lab.eventually("paused: the strap learns it",
                   lambda: strap.entries("notify", "unsubscribed", "alone")[-1][1] != "notify", 10)
    expect("paused")
    rest("paused", True)
    restart("paused")
    rest("paused, with a new daemon", True)
    lab.seconds("from 'session open' to the next beat at the handler",
                lab.beats_again("opened again it is heard", order("open")))

    cuts.append(now())
    order("close")
    expect("closed")
    lab.eventually("closed: the link is given up", lambda: not air.device(strap, "Connected"), 15)
    rest("closed", False)
    restarted = now()
    restart("closed")
    # For a program that is new to it bluetoothd connects all that offers what it asks for, once.
    until(lambda: strap.entries("connected")[-1][0] > restarted, 15, 0.2)
    lab.eventually("closed, with a new daemon: a link that bluetoothd makes for it is given up",
                   lambda: not air.device(strap, "Connected"), 15, 0.2)
    rest("closed, with a new daemon", False)
    found = [one for one in json.loads(bridge.tool("doctor", "--json")[0])["findings"] if one["code"] == "session-shut"]
    lab.claim("closed: the doctor notes it, with the command that opens it",
              [one["command"] for one in found] == ["wakebridge session open strap"], found)
    lab.seconds("from 'session open' to the next beat at the handler",
                lab.beats_again("opened again it is brought back and heard", order("open")))
    lab.claim("opened again it is told so", is_told("open"))
    lab.await_beats(2)
    lab.reckon(strap, cuts)
