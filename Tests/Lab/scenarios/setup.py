"""Setting up pairs a strap in its pairing mode and ends with its first value; a handler that the tool wrote prints its beats."""
import os

LIBRARY = True


def run(lab):
    air, bridge = lab.start()
    strap = air.strap()
    handlers = os.path.join(bridge.work, "config", "handlers.d")
    said, status = bridge.tool("new", "handler", "hr", "--profile", "heart-rate-monitor", "--directory", handlers)
    lab.claim("the tool writes a handler and its manifest", status == 0, said)
    said, status = bridge.tool("setup", "--yes", "--for", "90s")
    lab.figure("setup says", said.strip())
    lab.claim("setup pairs the strap and ends with its first value", status == 0 and "bpm=" in said and "it works" in said,
              f"{status}: {said}")
    lab.claim("the strap is bonded and trusted", air.device(strap, "Bonded") and air.device(strap, "Trusted"))
    lab.eventually("the handler that the tool wrote prints what the strap measures",
                   lambda: "bpm" in bridge.tool("logs", "hr")[0], 60, 1)
    said, status = bridge.tool("setup", "--yes", "--for", "60s")
    lab.claim("once it is set up, setup only shows the next value", status == 0 and "bpm=" in said, f"{status}: {said}")
    lab.reckon(strap)
