"""A handler reads and writes: short values, 300 bytes, and what the strap refuses, in words."""
from lab import until

NOTES = "5f0f0002-1ab0-4c7a-9e33-000000000001"


def run(lab):
    air, strap, bridge = lab.paired()
    long = bytes(n % 251 for n in range(300)).hex()

    def ask(ref, verb, characteristic, **more):
        bridge.order({verb: {"device": "strap", "characteristic": characteristic, **more}, "ref": ref})
        found = until(lambda: [one for one in bridge.heard("reply", "error") if answers(one, ref)], 40)
        return found[0] if found else None

    def answers(one, ref):
        return ref in (one.data.get("ref"), one.event.get("ref"))

    def show(one):
        return one.event if one else "no answer"

    place = ask(1, "read", "2a38")
    lab.claim("a read brings the value", place and place.kind == "reply" and "01" in str(place.data), show(place))
    wrote = ask(2, "write", NOTES, hex=long)
    lab.claim("a write of 300 bytes is answered", wrote and wrote.kind == "reply", show(wrote))
    lab.eventually("the strap has all 300",
                   lambda: any(fields["size"] == "300" for _, _, fields in strap.entries("notes")))
    back = ask(3, "read", NOTES)
    lab.claim("and a read brings them back", back and long in str(back.data), show(back))
    refused = ask(4, "write", "2a39", hex="02")
    lab.claim("a write that the strap refuses is an error with the ATT code in words",
              refused and refused.kind == "error" and "0x80" in refused.data.get("sentence", ""), show(refused))
    lab.figure("the refusal", refused.data.get("sentence") if refused else None)
    missing = ask(5, "read", "2a6e")
    lab.claim("a characteristic that it has not is an error", missing and missing.kind == "error", show(missing))
    lab.figure("the absence", missing.data.get("sentence") if missing else None)
    lab.reckon(strap)
