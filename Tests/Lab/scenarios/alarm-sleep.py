"""The machine sleeps, alarms come due, and one of them wakes it: each comes once, within the spread of what was missed."""
import time

from lab import now, until
from schedule import instant, sleep_machine, text

# A sleep lasts by the host's clock: that of the emulated machine stands still in it.
BOOTS = ["base=utc,clock=host"]
LIMIT = 1_300
# After so long alarms are due, and the machine, which goes to sleep before that, sleeps until the one that wakes it.
AHEAD, WAKING = 120, 240
# Its hardware clock wakes it after so long, where no alarm did.
ASLEEP = 480
SPREAD, MARGIN = 30, 5
MINUTE, DAY = 60, 86_400


def run(lab):
    begun = int(time.time())
    due, waking = begun + AHEAD, begun + WAKING
    alarms = lab.schedule(alarms=[
        {"id": "day", "daily": [text(due)[11:19]], "zone": "UTC"},
        {"id": "waking", "daily": [text(waking)[11:19]], "zone": "UTC", "wakes_machine": True},
        {"id": "minute", "every": "1m"},
        {"id": "eve", "daily": [text(begun + 7_200)[11:19]], "zone": "UTC"}])
    tea = instant(alarms.say({"alarm": {"id": "tea", "in_s": AHEAD}}).data["pending"][0]["due"])
    alarms.say({"alarm": {"id": "once", "at": text(due)}})
    pending = alarms.pending()
    lab.claim("all are pending", {"day", "waking", "minute", "eve", "tea", "once"} == set(pending), pending)
    lab.eventually("with nothing to do the handler is frozen", lab.bridge.is_frozen, 15)
    lab.in_time("the machine goes to sleep before they are due", time.time() < due, time.time() - begun)
    counts = alarms.count("day", "waking", "tea", "once", "eve")
    lab.in_time("and before any has come", counts == [0, 0, 0, 0, 0], counts)
    slept = sleep_machine(ASLEEP)
    # It is awake at once for the one alarm, which may be there before this line.
    resumed, woke = now() - 1, time.time()
    lab.seconds("the machine slept", slept)
    lab.seconds("it woke, after the instant of the alarm that wakes it", woke - waking)
    lab.claim("the alarm that wakes the machine ended its sleep", waking - 5 < woke < waking + ASLEEP / 4, woke - waking)
    for alarm, nominal in (("day", due), ("waking", waking), ("once", due), ("tea", tea)):
        comes(lab, alarms, alarm, resumed)
        told = [one.data for one in alarms.fired(alarm)]
        lab.claim(f"{alarm}: once, none being missed", [one["missed"] for one in told] == [0], told)
        lab.claim(f"{alarm}: for its time", told and abs(instant(told[0]["due"]) - nominal) <= 1, (told, text(nominal)))
        late = woke - nominal
        lab.claim(f"{alarm}: it says how late it is", told and told[0]["late_s"] >= int(late) - 1, (told, late))
    minutes(lab, alarms, instant(pending["minute"]["due"]), resumed, slept)
    pending = alarms.pending()
    dues = {alarm: pending.get(alarm, {}).get("due", "never")[:19] for alarm in ("day", "waking", "eve")}
    lab.claim("what was not due is still pending, and what came is pending for tomorrow",
              dues == {"day": text(due + DAY)[:19], "waking": text(waking + DAY)[:19], "eve": text(begun + 7_200)[:19]}, dues)
    lab.claim("what comes once is pending no more", not {"tea", "once"} & set(pending), pending)
    counts = alarms.count("day", "waking", "tea", "once", "eve")
    lab.claim("and nothing came twice", counts == [1, 1, 1, 1, 0], counts)


def comes(lab, alarms, alarm, resumed):
    """Claims that it comes after the sleep, within the spread of what was missed."""
    lab.eventually(f"{alarm}: it comes after the sleep", lambda: alarms.fired(alarm, resumed), SPREAD + MARGIN)
    for one in alarms.fired(alarm, resumed)[:1]:
        lab.seconds(f"{alarm}: from the resume to the handler", one.at - resumed)
        lab.in_time(f"{alarm}: within the spread", one.at - resumed < SPREAD + MARGIN, one.at - resumed)


def minutes(lab, alarms, phase, resumed, slept):
    """Those of the sleep are one event, which counts them: the next one where that is nearer than a quarter of a minute."""
    comes(lab, alarms, "minute", resumed)
    first = alarms.fired("minute", resumed)[0].data
    lab.claim("minute: one event stands for all that were missed", first["missed"] >= int(slept) // MINUTE - 1, first)
    lab.eventually("minute: the next ones come", lambda: len(alarms.fired("minute", resumed)) > 1, 2 * MINUTE)
    told = [one.data for one in alarms.fired("minute")]
    times = [instant(one["due"]) for one in told]
    lab.claim("minute: what came and what was missed are all of its times",
              round((times[-1] - times[0]) / MINUTE) == sum(1 + one["missed"] for one in told[1:]), told)
    off = [abs((one - phase + MINUTE // 2) % MINUTE - MINUTE // 2) for one in times]
    lab.claim("minute: each on its minute", max(off) <= 2, (told, text(phase)))
