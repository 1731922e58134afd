"""A strap that asks for its passkey is paired through the page, in a browser, and the page shows what it measures."""
import json
import os

import door

WAITS = True


def run(lab):
    if "LAB_DOOR" not in os.environ:
        return lab.skip("there is no browser to open the page with: run Scripts/prepare-page.sh")
    outside = door.Door()
    air, bridge = lab.start(settings={"web": {"listen": f"{door.ADDRESS}:{door.PORT}"}})
    said, status = bridge.tool("web", "--token", "lab", "--role", "pair", "--json")
    lab.claim("the tool makes a token for the page", status == 0, said)
    token = json.loads(said)["token"]
    strap = air.strap("--ability", "display", "--passkey", "428913")
    for passkey, outcome in (("428914", "refused"), ("428913", "paired")):
        # bluetoothd 5.66 may die a moment after a pairing that failed.
        air.revive_bluetoothd()
        answer = outside.order(100, token=token, device=strap.address, passkey=passkey, picture=f"page-{outcome}.png")
        kind = "a wrong" if outcome == "refused" else "the right"
        lab.claim(f"with {kind} passkey, typed on the page, it is {outcome}", answer["outcome"] == outcome, answer)
        lab.figure("the page says", answer["says"].strip().replace("\n", " "))
        lab.claim(f"bluetoothd says that it is {'bonded' if outcome == 'paired' else 'not bonded'}",
                  bool(air.device(strap, "Bonded")) == (outcome == "paired"))
    outside.close()
    lab.eventually("the handler hears it", lambda: bridge.beats(), 60)
    lab.reckon(strap)
