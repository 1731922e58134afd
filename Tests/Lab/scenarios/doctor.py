"""The doctor finds an adapter that is off, one that is blocked, no bluetoothd, and is content when each is fixed."""
import json
import signal
import subprocess

from lab import now, until


def run(lab):
    air, strap, bridge = lab.paired()

    def look():
        """Its findings by their codes."""
        said, look.exit = bridge.tool("doctor", "--json")
        return {one["code"]: one for one in json.loads(said)["findings"]}

    def show(found):
        return "; ".join(f"{one['level']} {code}: {one['what']}" for code, one in found.items())

    def obey(command):
        """As root here, where there is no sudo."""
        done = subprocess.run(command.removeprefix("sudo ").split(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=30)
        lab.figure(command, f"status {done.returncode}, {done.stdout.decode(errors='replace').split(chr(10))[0]}")

    def is_all(code, found):
        """Whether this is found and nothing else that is as bad."""
        return [code for code, one in found.items() if one["level"] in ("fault", "warning")] == [code]

    def fixes(what, code, command, found):
        lab.claim(f"{what}: what fixes it is '{command}'", found.get(code, {}).get("command") == command, show(found))

    def expect(what, code, command):
        """Claims that it is found, as a fault that this command fixes, and as nothing else that is as bad."""
        found = {}

        def is_found():
            found.clear()
            found.update(look())
            return is_all(code, found)

        took = lab.eventually(f"{what}: the doctor finds {code}, and nothing else for it", is_found, 15, 0.2)
        lab.seconds(f"{what}: until the doctor has found it", took)
        fixes(what, code, command, found)

    def expect_status(what, *told):
        """Claims that it tells so of whether each adapter is powered, and of why each device is not heard."""

        def is_told():
            said = json.loads(bridge.tool("status", "--json")[0])
            return ([one["powered"] for one in said["adapters"]], [one.get("why") for one in said["devices"]]) == told

        lab.eventually(f"{what}: status tells the same of adapter and strap", is_told, 15, 0.2)

    def is_well(found=None):
        return (look() if found is None else found).keys() == well.keys()

    well = look()
    lab.figure("with all well", show(well))
    lab.claim("with all well nothing is worse than what a guest lacks, the time of day and installed udev rules",
              look.exit == 0 and {code for code, one in well.items() if one["level"] != "ok"} <=
              {"clock-unset", "rules-absent"}, show(well))
    lab.claim("bluetoothd, the adapter and the bridge are told to be well",
              all(well.get(code, {}).get("level") == "ok" for code in ("bluetoothd", "adapter", "bridge")), show(well))

    air.power(False)
    strap.tell("lose")
    expect("switched off", "adapter-off", "bluetoothctl power on")
    expect_status("switched off", [False], ["its adapter is off or gone"])
    obey("bluetoothctl power on")
    lab.eventually("switched on as it said: it is content", is_well, 15, 0.2)

    air.rfkill(True)
    strap.tell("lose")
    expect("blocked", "rfkill-soft", "sudo rfkill unblock bluetooth")
    air.rfkill(False)
    # Bluetoothd may leave off what was blocked: the next thing that the doctor says.
    found = until(lambda: [one for one in [look()] if is_well(one) or is_all("adapter-off", one)], 15, 0.2)
    lab.claim("unblocked: the doctor is content, or finds adapter-off and nothing else", found)
    if found and not is_well(found[0]):
        fixes("unblocked", "adapter-off", "bluetoothctl power on", found[0])
        obey("bluetoothctl power on")
    lab.eventually("unblocked: it is content", is_well, 15, 0.2)

    air.bluetoothd.kill(signal.SIGTERM)
    expect("bluetoothd stopped", "bluetoothd-down", "sudo service bluetooth start")
    expect_status("bluetoothd stopped", [], ["bluetoothd is not there"])
    back = now()
    air.start_bluetoothd()
    lab.eventually("bluetoothd started: it is content", is_well, 15, 0.2)
    lab.beats_again("the strap is heard again", back)
