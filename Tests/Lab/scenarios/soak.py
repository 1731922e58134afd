"""Faults at random for three minutes, or as long as LAB_SOAK says: no beat unsaid, no leak, no handler left awake."""
import os
import random
import time

import dbus

from lab import let_pass, until

SECONDS = float(os.environ.get("LAB_SOAK", "180"))
LIMIT = int(SECONDS * 1.5 + 300)
WAITS = True


def run(lab):
    seed = int(os.environ.get("LAB_SEED", time.time()))
    chance = random.Random(seed)
    lab.figure("LAB_SEED", seed)
    air, strap, bridge = lab.paired("--interval", "0.5")
    cuts, played = [], []

    def is_powered():
        powered = air.adapters().values()
        return bool(powered) and all(powered)

    def power_up():
        """Bluetoothd may still be busy with the order before."""

        def obeys():
            try:
                air.power(True)
            except dbus.DBusException as error:
                lab.figure("bluetoothd refused to power it", error.get_dbus_name())
            return is_powered()

        until(obeys, 30, 0.5)

    def away():
        strap.tell("vanish")
        let_pass(chance.uniform(1, 8), "the strap is away")
        strap.tell("appear")

    def bluetoothd():
        cuts.append(time.monotonic())
        air.restart_bluetoothd()

    def power():
        cuts.append(time.monotonic())
        air.power(False)
        let_pass(chance.uniform(0.5, 4), "the adapter is off")
        power_up()

    def rfkill():
        cuts.append(time.monotonic())
        air.rfkill(True)
        let_pass(chance.uniform(0.5, 4), "the radio is blocked")
        strap.tell("lose")
        air.rfkill(False)
        if not until(is_powered, 5):
            power_up()

    def deaf():
        strap.tell("deaf 1")
        strap.tell("drop")

    def kept():
        strap.tell("keep-cccd")
        strap.tell("drop")

    faults = {"drop": lambda: strap.tell("drop"), "away": away, "bluetoothd": bluetoothd, "power": power,
              "rfkill": rfkill, "deaf": deaf, "kept": kept, "handler": bridge.kill_handler,
              "services": lambda: strap.tell("change-services")}
    lab.await_beats(10)
    before = bridge.descriptors(), bridge.resident()
    end = time.monotonic() + SECONDS
    returns = []
    while time.monotonic() < end:
        name = chance.choice(list(faults))
        played.append(name)
        begun = time.monotonic()
        faults[name]()
        # What was in the air when the fault came may still be heard for a moment.
        settled = time.monotonic() + 0.3
        if not until(lambda: bridge.beats(settled), 60):
            lab.claim(f"beats come again after fault {len(played)}, {name}", False)
            break
        returns.append(time.monotonic() - begun)
        let_pass(chance.uniform(0.2, 4), "the next fault comes at random")
        # A handler that was killed often is held for longer and longer; nobody but us is to blame.
        bridge.tool("start", "beats")
    lab.figure("faults", " ".join(played))
    lab.claim("beats came again after every fault", len(returns) == len(played), f"{len(returns)} of {len(played)}")
    lab.figure("longest until beats came again", f"{max(returns, default=0):.1f} s")
    lab.reckon(strap, cuts)
    after = bridge.descriptors(), bridge.resident()
    lab.figure("descriptors, then KiB of memory, before and after", f"{before} {after}")
    lab.claim("no descriptor leaks", after[0] <= before[0] + 2, f"{before[0]} to {after[0]}")
    lab.claim("its memory grows by less than 2 MiB", after[1] <= before[1] + 2048, f"{before[1]} to {after[1]} KiB")
    strap.tell("vanish")
    lab.eventually("with nothing to do the handler is frozen", bridge.is_frozen, 10)
