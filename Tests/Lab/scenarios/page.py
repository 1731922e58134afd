"""A strap that asks for its passkey is paired through the page, in a browser, and the page shows what it measures."""
import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.join(HERE, "..", "..", "..")
PYTHON = os.path.join(CHECKOUT, ".build", "page", "venv", "bin", "python")
PORT = 8787
WAITS = True


def run(lab):
    if not os.path.exists(PYTHON):
        return lab.skip("there is no browser to open the page with: run Scripts/prepare-page.sh")
    air, bridge = lab.start(settings={"web": {"listen": f"127.0.0.1:{PORT}"}})
    said, status = bridge.tool("web", "--token", "lab", "--role", "pair", "--json")
    lab.claim("the tool makes a token for the page", status == 0, said)
    token = json.loads(said)["token"]
    strap = air.strap("--ability", "display", "--passkey", "428913")
    for passkey, outcome in (("428914", "refused"), ("428913", "paired")):
        # bluetoothd 5.66 may die a moment after a pairing that failed.
        air.revive_bluetoothd()
        words = [f"http://127.0.0.1:{PORT}/", token, strap.address, passkey, os.path.join(lab.folder, f"{outcome}.png")]
        done = subprocess.run([PYTHON, os.path.join(CHECKOUT, "Tests", "Page", "pair.py"), *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200)
        lines = done.stdout.decode(errors="replace").strip().splitlines()
        lab.claim(f"with {'a wrong' if outcome == 'refused' else 'the right'} passkey, typed on the page, it is {outcome}",
                  f"outcome: {outcome}" in lines, lines[-5:])
        lab.figure("the page says", lines[-1] if lines else "nothing")
        bonded = bool(air.device(strap, "Bonded"))
        lab.claim(f"bluetoothd agrees that it is {'bonded' if outcome == 'paired' else 'not'}",
                  bonded == (outcome == "paired"))
    lab.claim("the page shows its first value", any(line.startswith("value: ") for line in lines), lines[-5:])
    lab.eventually("and the handler hears it", lambda: bridge.beats(), 60)
    lab.reckon(strap)
