"""The adapter is switched off and on, blocked and unblocked by rfkill: the strap is heard again each time."""
import time

import dbus

from lab import until


def run(lab):
    air, strap, bridge = lab.paired()
    cuts = []

    def told():
        return [one.data.get("condition") for one in bridge.heard("bridge")]

    for what, off, on in (("switched off and on", lambda: air.power(False), lambda: air.power(True)),
                          ("blocked and unblocked by rfkill", lambda: air.rfkill(True), lambda: air.rfkill(False))):
        cuts.append(time.monotonic())
        known = told().count("adapter-down")
        off()
        until(lambda: told().count("adapter-down") > known, 10)
        strap.tell("lose")
        back = time.monotonic()
        on()
        # Who blocked a radio has to power it again, as desktops and connman do, where bluetoothd does not.
        if not until(lambda: air.adapters().get("/org/bluez/hci0"), 3, 0.2):
            lab.figure("bluetoothd left the adapter off", what)
            try:
                air.power(True)
            except dbus.DBusException as error:
                lab.figure("bluetoothd refused to power it", error.get_dbus_name())
        took = lab.beats_again(f"{what}: the strap is heard again", back)
        lab.seconds("from the adapter's return to the next beat at the handler", took)
        lab.await_beats(2)
    lab.claim("the handler is told that the adapter went down and came up", told().count("adapter-down") >= 2 and
              told().count("adapter-up") >= 2, told())
    lab.reckon(strap, cuts)
