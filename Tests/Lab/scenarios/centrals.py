"""Two centrals that are not ours use the handler: 100 writes while it is frozen between them, a bond, and bluetoothd's death."""
from lab import until

SERVED = {"peripheral": {"name": "Pulse", "services": [{"uuid": "180d", "characteristics": [
    {"uuid": "2a37", "properties": ["notify"]}, {"uuid": "2a39", "properties": ["write"]},
    {"uuid": "2a38", "properties": ["read", "write", "reliable-write"], "require": "encrypted"}]}]}}


def run(lab):
    air, bridge = lab.start(extra=SERVED)
    first, second = (air.strap(kind="central") for _ in range(2))
    lab.claim("a central finds and discovers the peripheral", first.tell("join") == "ok")

    def written():
        return [int(one.data["hex"], 16) for one in bridge.heard("peripheral.written")]

    # One at a time, so that the handler sleeps between them.
    for number in range(1, 101):
        first.tell(f"write 2a39 {number} 1")
        until(lambda: len(written()) >= number, 20)
    lab.account("100 writes with response come once each and in order", written() == list(range(1, 101)), written())
    lab.claim("a central bonds", first.tell("bond") == "ok")
    lab.claim("what demands encryption is written then", first.tell("write 2a38 7 1") == "ok")
    lab.claim("and is refused to a stranger", second.tell("join") == "ok" and second.tell("write 2a38 8 1") != "ok")
    for one in (first, second):
        one.tell("subscribe 2a37")
    lab.eventually("both are subscribed", lambda: len(bridge.heard("peripheral.subscribed")) == 2)
    bridge.order({"serve": {"characteristic": "2a37", "hex": "0048"}})
    first.tell("write 2a39 101 1")
    for one in (first, second):
        lab.eventually("it gets what the handler serves", lambda: one.entries("notified"))
    second.tell("begin 2a38")
    second.tell("leave")
    air.restart_bluetoothd()
    lab.claim("after bluetoothd's death it comes back", lab.eventually(
        "and joins", lambda: first.tell("join") == "ok", 60) is not None)
    first.tell("subscribe 2a37")
    before = len(first.entries("notified"))
    bridge.order({"serve": {"characteristic": "2a37", "hex": "0049"}})
    first.tell("write 2a39 102 1")
    lab.eventually("and gets values again", lambda: len(first.entries("notified")) > before)
    lab.account("no write is lost or doubled", written() == list(range(1, 101)) + [7, 101, 102], written())
