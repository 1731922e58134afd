"""Another program begins a scan in the same moment as the daemon, whose answer bluetoothd loses: the daemon is not refused for ever.
"""
import json
import time

import dbus
import dbus.lowlevel

from lab import let_pass
from tags import PROFILE, Listener, address, watched

LIMIT = 300
ADAPTER = ("org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1")
# So long the daemon waits for an answer, and then until it was refused several times more if it is refused for ever.
PATIENCE, REFUSALS = 15, 15


def run(lab):
    air, bridge = lab.start(own={"lab-tag": PROFILE})
    air.crowd("--count", "3", "--tags")
    rival = dbus.SystemBus(private=True)
    lab.eventually("the daemon knows the adapter", lambda: json.loads(bridge.tool("status", "--json")[0])["adapters"])
    seen = lab.process("seen", "stdbuf", "-oL", "dbus-monitor", "--system", "type='method_call',member='StartDiscovery'")
    lab.eventually("the bus shows who begins a scan", lambda: "NameAcquired" in seen.text())

    def begun():
        return seen.text().count("member=StartDiscovery")

    # What both ask is read at once, when it goes on.
    air.bluetoothd.stop()
    listener = Listener(bridge, watched(1))
    lab.eventually("the daemon asks for a scan", lambda: begun() == 1)
    rival.send_message(dbus.lowlevel.MethodCallMessage(*ADAPTER, "StartDiscovery"))
    rival.flush()
    lab.eventually("and so does the other", lambda: begun() == 2)
    seen.kill()
    air.bluetoothd.go_on()

    lab.eventually("a tag that is watched is heard", lambda: address(0) in listener.heard(), 60, 0.5)
    let_pass(PATIENCE + REFUSALS, "a daemon that is refused for ever is refused again only after rests")
    refused = [line for line in bridge.daemon.lines() if "does not scan" in line]
    lab.figure("times that the daemon was refused", len(refused))
    lab.claim("the daemon is refused once at most, and begins its scan over another connection", len(refused) <= 1, refused[-1:])
    rival.close()
    since = time.monotonic()
    lab.eventually("it hears the tag by itself once the other has ended", lambda: listener.heard(since), 60, 0.5)
