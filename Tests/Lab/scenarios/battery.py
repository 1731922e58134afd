"""A peripheral with a battery and nothing else, known by an operator's own profile: each level reaches the handler."""
from lab import until

WAITS = True

PROFILE = """{
  name: "battery", title: "Battery", mode: "bluetooth-central",
  match: { services: ["180f"] },
  notify: ["2a19"], read: ["2a19"],
  characteristics: { "2a19": { name: "battery_level", fields: [{ name: "battery_percent", type: "uint8" }] } },
}"""


def run(lab):
    air, bridge = lab.start(own={"battery": PROFILE})
    battery = air.strap("--percent", "61", kind="battery")
    bridge.pair(battery, "cell")

    def levels():
        return [one.data["value"].get("battery_percent") for one in bridge.heard("data")
                if one.data["characteristic"] == "2a19" and one.data.get("value")]

    lab.eventually("the level that it had when it was met is told", lambda: 61 in levels(), 30)
    until(lambda: battery.entries("subscription", "restored"), 20)
    for percent in (60, 17, 17):
        battery.tell(f"battery {percent}")
    lab.eventually("each level that it tells is told on, an equal one too", lambda: levels()[-3:] == [60, 17, 17], 15)
    lab.figure("levels at the handler", levels())
    names = {(one.event["subject"], one.data["profile"]) for one in bridge.heard("data")}
    lab.claim("as the operator's alias and profile", names == {("cell", "battery")}, names)
    battery.tell("drop")
    lab.eventually("after a drop it is met again, and read again", lambda: len(levels()) >= 5, 40)
    battery.tell("battery 5")
    lab.eventually("and heard again", lambda: levels()[-1] == 5, 30)
    told = {one.data["characteristic"] for one in bridge.heard("data")}
    lab.claim("of nothing else is the handler told", told == {"2a19"}, told)
