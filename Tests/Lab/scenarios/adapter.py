"""The adapter is switched off and on, blocked and unblocked by rfkill: the strap is heard again each time."""
import time

import dbus


def run(lab):
    air, strap, bridge = lab.paired()
    cuts = []
    for what, off, on in (("switched off and on", lambda: air.power(False), lambda: air.power(True)),
                          ("blocked and unblocked by rfkill", lambda: air.rfkill(True), lambda: air.rfkill(False))):
        cuts.append(time.monotonic())
        off()
        time.sleep(3)
        strap.tell("lose")
        back = time.monotonic()
        on()
        # Who blocked a radio has to power it again, as desktops and connman do, where bluetoothd does not.
        time.sleep(3)
        if not air.adapters().get("/org/bluez/hci0"):
            lab.figure("bluetoothd left the adapter off", what)
            try:
                air.power(True)
            except dbus.DBusException as error:
                lab.figure("bluetoothd refused to power it", error.get_dbus_name())
        took = lab.beats_again(f"{what}: the strap is heard again", back)
        lab.seconds("from the adapter's return to the next beat at the handler", took)
        time.sleep(2)
    told = [one.data.get("condition") for one in bridge.heard("bridge")]
    lab.claim("the handler is told that the adapter went down and came up", told.count("adapter-down") >= 2 and
              told.count("adapter-up") >= 2, told)
    lab.reckon(strap, cuts)
