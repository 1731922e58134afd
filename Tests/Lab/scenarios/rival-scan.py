"""Another program begins a scan in the same moment as the daemon, whose answer bluetoothd loses: the daemon is not refused for ever.
"""
import os
import signal
import time

import dbus
import dbus.lowlevel

from tags import PROFILE, Listener, address, watched

LIMIT = 300
ADAPTER = ("org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1")
# So long the daemon waits for an answer, and then until it was refused several times more if it is refused for ever.
PATIENCE, REFUSALS = 15, 15


def run(lab):
    air, bridge = lab.start(own={"lab-tag": PROFILE})
    air.crowd("--count", "3", "--tags")
    rival = dbus.SystemBus(private=True)
    said = os.path.join(lab.folder, "wakebridged.log")
    lab.eventually("the daemon knows bluetoothd", lambda: "bluetoothd is there" in open(said).read())
    time.sleep(1)

    # What both ask is read at once, when it goes on.
    air.bluetoothd.child.send_signal(signal.SIGSTOP)
    listener = Listener(bridge, watched(1))
    time.sleep(1)
    rival.send_message(dbus.lowlevel.MethodCallMessage(*ADAPTER, "StartDiscovery"))
    rival.flush()
    time.sleep(0.5)
    air.bluetoothd.child.send_signal(signal.SIGCONT)

    lab.eventually("a tag that is watched is heard", lambda: address(0) in listener.heard(), 60, 0.5)
    time.sleep(PATIENCE + REFUSALS)
    with open(said) as file:
        refused = [line for line in file if "does not scan" in line]
    lab.figure("times that the daemon was refused", len(refused))
    lab.claim("the daemon is refused once at most, and begins its scan over another connection", len(refused) <= 1, refused[-1:])
    rival.close()
    since = time.monotonic()
    lab.eventually("it hears the tag by itself once the other has ended", lambda: listener.heard(since), 60, 0.5)
