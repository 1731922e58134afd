"""A central that is not ours uses the handler: 100 writes while it is frozen between them, and a value after bluetoothd's death."""
from lab import until

SERVED = {"peripheral": {"name": "Pulse", "services": [{"uuid": "180d", "characteristics": [
    {"uuid": "2a37", "properties": ["notify"]}, {"uuid": "2a39", "properties": ["write"]}]}]}}


def run(lab):
    air, bridge = lab.start(extra=SERVED)
    central = air.strap(kind="central")
    lab.claim("a central finds and discovers the peripheral", central.tell("join") == "ok")

    def written():
        return [int(one.data["hex"], 16) for one in bridge.heard("peripheral.written")]

    # Each write waits for its event, so that the handler sleeps between them.
    for number in range(1, 101):
        central.tell(f"write 2a39 {number} 1")
        until(lambda: len(written()) >= number, 20)
    lab.account("100 writes with response come once each and in order", written() == list(range(1, 101)), written())
    lab.claim("it subscribes", central.tell("subscribe 2a37") == "ok")
    lab.eventually("the handler gets the subscription", lambda: bridge.heard("peripheral.subscribed"))
    bridge.order({"serve": {"characteristic": "2a37", "hex": "0048"}})
    central.tell("write 2a39 101 1")
    lab.eventually("the central gets what the handler serves", lambda: central.entries("notified"))
    air.restart_bluetoothd()
    lab.eventually("after bluetoothd's death the central finds it again", lambda: central.tell("join") == "ok", 60)
    before = len(central.entries("notified"))
    lab.claim("and subscribes", central.tell("subscribe 2a37") == "ok")
    bridge.order({"serve": {"characteristic": "2a37", "hex": "0049"}})
    central.tell("write 2a39 102 1")
    lab.eventually("and gets the next value", lambda: len(central.entries("notified")) > before)
    lab.account("102 writes once each", written() == list(range(1, 103)), written())
