"""The clock is set, by minutes, hours and years, to either side: no time of the day fires twice, and none is forgotten."""
import time

from lab import until
from schedule import instant, keep_clock, set_clock, text

BOOTS = ["utc"]
LIMIT = 1_200
DAY, HOUR = 86_400, 3_600
# What is overdue when the machine or the bridge came up is spread over 30 s.
SPREAD = 90
ALARMS = [
    {"id": "noon", "daily": ["12:30"], "zone": "UTC", "data": {"dose": 1}},
    {"id": "strict", "daily": ["12:30"], "zone": "UTC", "catch_up": "skip"},
    # Fires a minute after the others, and so shows that they would have.
    {"id": "fence", "daily": ["12:31"], "zone": "UTC"}]


def run(lab):
    first = (int(time.time()) // DAY + 1) * DAY

    def at(day, clock):
        hour, minute, second = map(int, clock.split(":"))
        return first + day * DAY + hour * HOUR + minute * 60 + second

    set_clock(at(0, "12:00:00"))
    keep_clock()
    alarms = lab.schedule(alarms=ALARMS)

    def told(alarm, number):
        """What the event of that number says."""
        one = alarms.fired(alarm)[number]
        return one.data["due"][:19], one.data["missed"]

    def fires(sentence, alarm, count):
        """Claims that there are so many events of it, and waits for the last."""
        lab.eventually(sentence, lambda: len(alarms.fired(alarm)) >= count, SPREAD)
        if len(alarms.fired(alarm)) < count:
            raise RuntimeError(f"{alarm} did not fire; see wakebridged.log")

    def through_noon(day):
        """The clock is set to shortly before 12:30, and goes past it; then to before 12:31, until that alarm comes."""
        set_clock(at(day, "12:29:58"))
        until(lambda: time.time() > at(day, "12:30:01"), 20)
        fences = len(alarms.fired("fence"))
        set_clock(at(day, "12:30:58"))
        fires("an alarm of the next minute comes", "fence", fences + 1)

    def due(day, clock="12:30:00"):
        return text(at(day, clock))[:19]

    lab.claim("at noon comes what is to come at noon", alarms.due("noon") == due(0), alarms.due("noon"))
    through_noon(0)
    fires("set to shortly before its time, an alarm comes", "noon", 1)
    lab.claim("for that time, none being missed", told("noon", 0) == (due(0), 0), told("noon", 0))
    late = alarms.fired("noon")[0].data["late_s"]
    lab.in_time("and it says that it is not late", late <= 3, late)
    lab.claim("it brings what it was given", alarms.fired("noon")[0].data["data"] == {"dose": 1})

    set_clock(at(0, "11:30:00"))
    lab.claim("set back by an hour, its next time is tomorrow", alarms.due("noon") == due(1), alarms.due("noon"))
    set_clock(at(0, "12:29:58"))
    until(lambda: time.time() > at(0, "12:30:03"), 20)
    alarms.pending()
    counts = alarms.count("noon", "strict", "fence")
    lab.claim("the same time passes again, and nothing comes again", counts == [1, 1, 1], counts)

    set_clock(at(1, "13:00:00"))
    fires("set forward over its time, it comes late", "noon", 2)
    fires("and so does the other one", "fence", 2)
    lab.claim("for that time, none being missed", told("noon", 1) == (due(1), 0), told("noon", 1))
    late = alarms.fired("noon")[1].data["late_s"]
    lab.claim("and it says how late", HOUR / 2 <= late, late)
    lab.in_time("which is no later than the spread", late <= HOUR / 2 + 40, late)
    lab.claim("its next time is tomorrow", alarms.due("noon") == due(2), alarms.due("noon"))

    set_clock(at(4, "13:00:00"))
    fires("set forward over three days, it comes", "noon", 3)
    fires("and so does the other one", "fence", 3)
    lab.claim("once, for the last of them, two being missed", told("noon", 2) == (due(4), 2), told("noon", 2))

    set_clock(at(6, "07:30:00"))
    lab.claim("a morning after the next one it waits for noon, which is nearer than what it missed",
              (alarms.due("noon"), *alarms.count("noon", "fence")) == (due(6), 3, 3),
              (alarms.due("noon"), *alarms.count("noon", "fence")))
    through_noon(6)
    fires("at noon it comes", "noon", 4)
    lab.claim("and says what it missed", told("noon", 3) == (due(6), 1), told("noon", 3))
    fires("what wants no catching up comes in time", "strict", 2)
    lab.claim("and says how many times it was set past", told("strict", 1) == (due(6), 5), told("strict", 1))
    for alarm in ("noon", "strict", "fence"):
        events = alarms.fired(alarm)
        whole = len(events) + sum(one.data["missed"] for one in events)
        lab.claim(f"{alarm}: what came and what was missed are seven days", whole == 7, [one.data for one in events])

    set_clock(at(6, "08:00:00"))
    lab.claim("set back by more than three hours, the clock was wrong: the day is gone through again",
              alarms.due("noon") == due(6), alarms.due("noon"))
    through_noon(6)
    fires("and it comes again", "noon", 5)
    lab.claim("for that time", told("noon", 4) == (due(6), 0), told("noon", 4))
    years(lab, alarms, at, due, fires)
    once(lab, alarms, at, fires)


def years(lab, alarms, at, due, fires):
    before, fences = alarms.count("noon", "fence")
    set_clock(at(1_006, "13:00:00"))
    fires("set a thousand days ahead, it comes once", "noon", before + 1)
    last = alarms.fired("noon")[-1].data
    lab.claim("and counts the others", (last["due"][:19], last["missed"]) == (due(1_006), 999), last)
    fires("and so does the other one", "fence", fences + 1)
    set_clock(at(6, "13:00:00"))
    lab.claim("set back from there, its next time is tomorrow, not in years", alarms.due("noon") == due(7),
              alarms.due("noon"))


def once(lab, alarms, at, fires):
    """Alarms that a handler orders: for one instant, and for a span of real time."""
    alarms.say({"alarm": {"id": "once", "at": text(at(6, "15:00:00"))}})
    ordered = instant(alarms.say({"alarm": {"id": "hour", "in_s": HOUR}}).data["pending"][0]["due"])
    set_clock(at(6, "16:00:00"))
    fires("set forward over its instant, an alarm for that instant comes", "once", 1)
    late = alarms.fired("once")[0].data["late_s"]
    lab.claim("and says how late", HOUR <= late, late)
    pending = alarms.pending()
    lab.claim("it is not pending any more", "once" not in pending, pending)
    moved = instant(pending["hour"]["due"]) - ordered
    lab.claim("an alarm in an hour is still to come, at what the clock then shows", moved > 2 * HOUR, pending["hour"])
    alarms.say({"alarm": {"id": "soon", "in_s": 20}})
    set_clock(at(6, "14:59:55"))
    fires("set back by an hour, an alarm in twenty seconds comes", "soon", 1)
    until(lambda: time.time() > at(6, "15:00:03"), 20)
    alarms.pending()
    lab.claim("its instant passes again, and nothing comes again", alarms.count("once", "soon", "hour") == [1, 1, 0],
              alarms.count("once", "soon", "hour"))
