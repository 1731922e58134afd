"""The doctor finds an adapter that is off, one that is blocked, no bluetoothd, and is content when each is mended."""
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

    def expect(what, code, command):
        """Claims that it is found, as a fault that this command mends, and as nothing else that is as bad."""
        found = {}

        def is_found():
            found.clear()
            found.update(look())
            return code in found

        took = lab.eventually(f"{what}: the doctor finds {code}", is_found, 15, 0.2)
        lab.seconds(f"{what}: until the doctor has found it", took)
        lab.claim(f"{what}: what mends it is '{command}'", found.get(code, {}).get("command") == command, show(found))
        faults = [code for code, one in found.items() if one["level"] in ("fault", "warning")]
        lab.claim(f"{what}: nothing else is told for it", faults == [code], show(found))

    def status():
        return json.loads(bridge.tool("status", "--json")[0])

    def is_well():
        return look().keys() == well.keys()

    well = look()
    lab.figure("with all well", show(well))
    lab.claim("with all well nothing is worse than what a guest lacks, the time of day",
              look.exit == 0 and {code for code, one in well.items() if one["level"] != "ok"} <= {"clock-unset"},
              show(well))
    lab.claim("bluetoothd, the adapter and the bridge are told to be well",
              all(well.get(code, {}).get("level") == "ok" for code in ("bluetoothd", "adapter", "bridge")), show(well))

    air.power(False)
    strap.tell("lose")
    expect("switched off", "adapter-off", "bluetoothctl power on")
    told = status()
    lab.claim("switched off: status tells the same of adapter and strap", told["adapters"][0]["powered"] is False and
              told["devices"][0]["why"] == "its adapter is off or gone", told)
    obey("bluetoothctl power on")
    lab.eventually("switched on as it said: it is content", is_well, 15, 0.2)

    air.rfkill(True)
    strap.tell("lose")
    expect("blocked", "rfkill-soft", "sudo rfkill unblock bluetooth")
    air.rfkill(False)
    if not until(is_well, 4, 0.2):
        # Bluetoothd leaves off what was blocked: the next thing that the doctor says.
        expect("unblocked", "adapter-off", "bluetoothctl power on")
        obey("bluetoothctl power on")
    lab.eventually("unblocked: it is content", is_well, 15, 0.2)

    air.bluetoothd.kill(signal.SIGTERM)
    expect("bluetoothd stopped", "bluetoothd-down", "sudo service bluetooth start")
    told = status()
    lab.claim("bluetoothd stopped: status tells the same of adapter and strap",
              told["adapters"] == [] and told["devices"][0]["why"] == "bluetoothd is not there", told)
    back = now()
    air.start_bluetoothd()
    lab.eventually("bluetoothd started: it is content", is_well, 15, 0.2)
    lab.beats_again("the strap is heard again", back)
