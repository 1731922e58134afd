"""A classic device's serial port wakes its handler: called, heard, written to, called again after every kind of end."""
import json

import dbus

from lab import now, until

WAITS = True
LIMIT = 400
IN_THE_AIR = 0.5
NAME = "lab-logger"
PROFILE = {"name": NAME, "title": NAME, "mode": "external-accessory", "node": "rfcomm",
           "match": {"services": ["1101"], "name_prefix": "LabLogger"}, "framing": {"kind": "line"}, "settle": "0s",
           "replug_grace": "300ms"}


def run(lab):
    air, bridge = lab.start(own={NAME: json.dumps(PROFILE)}, classic=True)
    logger = air.logger()
    lab.pair_port(logger, "Boat")
    begun = now()
    heard = lambda *kinds, since=begun: bridge.of(NAME, *kinds, since=since)
    calls = lambda: len(logger.entries("open"))
    falls, ended, count = [], [], 0

    def comes(what, since=begun, seconds=90):
        """It is connected again, and what it says then is heard: a line of the last connection may still come after `since`."""
        def is_heard():
            connected = heard("connected", since=since)
            return connected and heard("data", since=connected[0].at)

        took = lab.eventually(f"{what}: it is connected and heard", is_heard, seconds)
        lab.seconds(f"{what}: to its next line at the handler", took)

    def falls_by(what, body, reason="hung-up", returns=True):
        falls.append(now())
        body()
        told = lambda: [one for one in heard("disconnected", since=falls[-1]) if one.data["reason"] == reason]
        lab.eventually(f"{what}: its handler is told why", told, 60)
        if reason != "hung-up":
            ended.extend(bridge.instant(one.event["time"]) for one in told()[:1])
        if returns:
            comes(what, falls[-1])

    comes("paired and trusted")
    lab.claim("its name is bluetoothd's alias", [one.event["subject"] for one in heard("data")][-1:] == ["Boat"],
              heard("connected")[:1])
    lab.claim("bluetoothd and the daemon agree on who it is", "Boat" in (said := bridge.tool("devices")[0]), said)
    count = len(heard("data"))
    lab.eventually("each line wakes it again", lambda: len(heard("data")) > count + 10)

    bridge.order({"write": {"device": "Boat", "hex": b"PMTK\r\n".hex()}, "ref": 1})
    lab.eventually("what the handler writes reaches it", lambda: any(
        fields["hex"] == b"PMTK\r\n".hex() for _, _, fields in logger.entries("told")))

    falls_by("it hangs up", lambda: logger.tell("hang-up"))
    # It never goes out of reach here: on a call that nobody answers the kernel of Debian 12 (6.1.0-56) corrupts a list of
    # its own, bluetoothd dies of it, and whatever is played in this guest later may.
    falls_by("it drops the link", lambda: logger.tell("drop"))

    begun_before, at = calls(), now()
    air.restart_bluetoothd()
    until(lambda: air.device(logger, "Connected") is not None, 30)
    count = len(heard("data"))
    lab.eventually("bluetoothd killed and back: it is heard on", lambda: len(heard("data")) > count + 10)
    lab.claim("the open channel has outlived bluetoothd", calls() == begun_before and not heard("disconnected", since=at),
              (begun_before, logger.entries("open", "closed"), heard("disconnected", since=at)))
    falls_by("it hangs up on the next bluetoothd", lambda: logger.tell("hang-up"))

    def switch():
        air.power(False)
        until(lambda: heard("disconnected", since=falls[-1]), 30)
        air.power(True)

    falls_by("the adapter is switched off and on", switch)

    count = len(heard("data"))
    took = now()
    lab.claim("it can say 2000 lines at once", logger.tell("flood 2000").startswith("ok"))
    lab.eventually("a flood arrives", lambda: len(heard("data")) >= count + 2000, 120)
    lab.seconds("2000 lines took", now() - took)

    closed = len(logger.entries("closed"))
    falls_by("its session is closed", lambda: bridge.tool("session", "close", "Boat"), "session-closed", returns=False)
    lab.eventually("its channel is shut down", lambda: len(logger.entries("closed")) > closed)
    begun_before = calls()
    until(lambda: calls() > begun_before, 5)
    lab.claim("it is not called while it is closed", calls() == begun_before)
    lab.eventually("with nothing said its handler is frozen", bridge.is_frozen, 30)
    at = now()
    bridge.tool("session", "open", "Boat")
    comes("its session is opened", at)
    since = [one.kind for one in bridge.heard() if one.at >= at]
    lab.claim("its handler slept, and was thawed for it", "resumed" in since and "lab.start" not in since, since[:5])

    bridge.daemon.kill()
    at = now()
    bridge.start()
    comes("the daemon is killed and started again", at)

    falls_by("nobody trusts it any more",
             lambda: air.put(air.device(logger)[0], "Device1", "Trusted", dbus.Boolean(False)), "removed", False)
    arrived = {one.raw for one in heard("data")}
    said = [(at, fields["line"].encode()) for at, _, fields in logger.entries("said")]
    missed = [(at, line) for at, line in said if line not in arrived]
    # What was under way when the bridge ended the channel is lost with it.
    untold = [line for at, line in missed if not any(begin <= at <= end for begin, end in bridge.gaps(NAME))
              and not any(abs(at - end) <= IN_THE_AIR for end in ended)]
    lab.account("what was not heard lies in a gap", not untold, untold)
    lab.tally("lines", [one for one in said if one not in missed], heard("data"))
    lab.figure("lines", f"{len(missed)} in {len(bridge.gaps(NAME))} gaps, or under way when the bridge ended the channel")
