"""Beats of no byte and of 512, some that the profile cannot decode, and a name that is no UTF-8: events all."""
import os
import time


def run(lab):
    air, strap, bridge = lab.paired("--name", os.fsdecode(b"Lab\xff\xfe\xc3 Strap"), "--interval", "0.5")

    def sizes(since):
        return [len(one.data["raw"]) // 2 for one in bridge.heard("data")
                if one.at > since and one.data["characteristic"] == "2a37"]

    for size, expected in (("0", 0), ("1", 1), ("512", 512)):
        begun = time.monotonic()
        strap.tell(f"size {size}")
        lab.eventually(f"beats of {size} bytes reach the handler", lambda: sizes(begun).count(expected) >= 4, 20)
        lab.figure(f"of {size} bytes, the handler got", sorted(set(sizes(begun))))
    begun = time.monotonic()
    strap.tell("size -")
    lab.beats_again("and beats as they should be follow", begun)
    empty = [one.data for one in bridge.heard("data") if one.data.get("raw") in ("", "16")]
    lab.claim("what cannot be decoded comes raw, and says why", empty and all(one.get("undecodable") for one in empty),
              empty[:2])
    lab.figure("why not", sorted({str(one.get("undecodable")) for one in empty}))
    name = air.device(strap, "Name")
    lab.figure("its name, as bluetoothd tells it", repr(str(name)))
    told, status = bridge.tool("status")
    lab.claim("status can be told", status == 0, told)
