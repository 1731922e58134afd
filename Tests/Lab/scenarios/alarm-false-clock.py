"""A machine whose hardware clock has lost the time boots in 1970: calendars wait for the true time, and go on from there."""
import time

from lab import until
from schedule import boottime, instant, keep_clock, set_clock, text

BOOTS = ["base=2031-03-10T12:20:00,clock=vm", "base=1970-01-01T00:00:00,clock=vm"]
LIMIT = 1_200
# What is overdue when the clock is set is spread over 30 s; the bridge looks whether it is kept at most a minute apart.
SPREAD = 150
NOON = {"id": "noon", "daily": ["12:30"], "zone": "UTC"}
LATER = {"id": "later", "daily": ["12:45"], "zone": "UTC"}


def run(lab):
    (before, after)[lab.boot](lab)


def at(words):
    return instant(words + "Z")


def before(lab):
    """The clock is right: one alarm comes, and three others are ordered."""
    lab.claim("the machine boots in 2031", time.gmtime().tm_year == 2031, text(time.time()))
    alarms = lab.schedule(alarms=[NOON])
    set_clock(at("2031-03-10T12:29:57"))
    keep_clock()
    lab.eventually("at noon an alarm comes", lambda: alarms.fired("noon"), SPREAD)
    first = alarms.fired("noon")[0]
    lab.claim("by a clock that is right", "clock_synced" not in first.data, first.data)
    for order in ({"id": "once", "at": "2031-03-12T09:00:00Z"}, {"id": "ahead", "at": "2031-03-20T09:00:00Z"},
                  {"id": "hours", "in_s": 7_200}):
        alarms.say({"alarm": order})
    lab.claim("all are pending", {"noon", "once", "ahead", "hours"} == set(alarms.pending()), alarms.pending())
    lab.claim("noon came once", alarms.count("noon") == [1], alarms.count("noon"))


def after(lab):
    """Nothing of the calendar comes in 1970, nor by a clock that was only set, but all of it once that is kept."""
    lab.claim("the machine boots in 1970", time.gmtime().tm_year == 1970, text(time.time()))
    alarms = lab.schedule(alarms=[NOON, LATER])
    calendars = ("noon", "later", "once", "ahead")

    def waits(pending):
        return {one: pending.get(one, {}).get("waits_for") for one in calendars}

    def fenced(sentence, alarm):
        """What goes by real time comes, by whatever clock; nothing of the calendar has come until then."""
        alarms.say({"alarm": {"id": alarm, "in_s": 3}})
        lab.eventually(f"{sentence}: an alarm in three seconds comes", lambda: alarms.fired(alarm), 60)
        one = alarms.fired(alarm)[0]
        lab.claim(f"{sentence}: by a clock that is said not to be kept", one.data.get("clock_synced") is False, one.data)
        pending = alarms.pending()
        lab.in_time(f"{sentence}: the ten minutes for which calendars wait are not over", boottime() < 600, boottime())
        lab.claim(f"{sentence}: all of the calendar wait for the clock",
                  all("clock" in (words or []) for words in waits(pending).values()), waits(pending))
        lab.claim(f"{sentence}: and none has come", alarms.count(*calendars) == [0, 0, 0, 0], alarms.count(*calendars))
        return pending

    pending = fenced("in 1970", "soon")
    lab.claim("what was ordered for two hours from then is still to come", "hours" in pending, pending)
    set_clock(at("2031-03-13T13:10:00"))
    fenced("set, but not kept", "again")
    keep_clock()
    lab.eventually("kept, noon comes", lambda: alarms.fired("noon"), SPREAD)
    lab.eventually("and what was ordered for a day before", lambda: alarms.fired("once"), SPREAD)
    lab.eventually("and what was due long ago by real time", lambda: alarms.fired("hours"), SPREAD)
    noon, once, hours = (alarms.fired(alarm)[0] for alarm in ("noon", "once", "hours"))
    lab.claim("noon comes for the last time that has passed, and has missed the two before",
              (noon.data["due"][:19], noon.data["missed"]) == ("2031-03-13T12:30:00", 2), noon.data)
    lab.claim("it says how late", noon.data["late_s"] >= 2_400, noon.data)
    lab.claim("by a clock that is right", "clock_synced" not in noon.data, noon.data)
    lab.claim("the one for an instant comes for that instant", (once.data["due"][:19], once.data["missed"]) ==
              ("2031-03-12T09:00:00", 0), once.data)
    lab.claim("the one by real time was two hours after its order", hours.data["due"][:13] in (
        "2031-03-10T14", "2031-03-10T15"), hours.data)
    lab.claim("what was new under the false clock missed nothing", alarms.count("later") == [0], alarms.count("later"))
    onward(lab, alarms)


def onward(lab, alarms):
    pending = alarms.pending()
    dues = {one: pending.get(one, {}).get("due", "never")[:19] for one in ("noon", "later", "ahead")}
    lab.claim("each is pending for its next time", dues == {
        "noon": "2031-03-14T12:30:00", "later": "2031-03-14T12:45:00", "ahead": "2031-03-20T09:00:00"}, dues)
    for alarm, clock, count in (("noon", "12:29:57", 2), ("later", "12:44:57", 1)):
        set_clock(at(f"2031-03-14T{clock}"))
        lab.eventually(f"{alarm}: the next day it comes", lambda: len(alarms.fired(alarm)) >= count, SPREAD)
        last = alarms.fired(alarm)[-1].data
        lab.claim(f"{alarm}: for its time, none being missed", (last["due"][:10], last["missed"]) == ("2031-03-14", 0), last)
        lab.in_time(f"{alarm}: and in time", last["late_s"] <= 3, last)
    until(lambda: time.time() > at("2031-03-14T12:45:03"), 20)
    counts = alarms.count("noon", "later", "once", "ahead", "hours", "soon", "again")
    lab.claim("nothing came twice, and nothing for the years between", counts == [2, 1, 1, 0, 1, 1, 1], counts)
