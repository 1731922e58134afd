"""The clock is set, by minutes, hours and years, to either side: no time of the day fires twice, and none is forgotten."""
import time

from lab import Late, until
from schedule import instant, keep_clock, set_clock, text

BOOTS = ["base=utc,clock=vm"]
LIMIT = 1_200
DAY, HOUR = 86_400, 3_600
# What was overdue before the bridge came up, as the clock now has it, is spread over 30 s.
SPREAD, MARGIN = 30, 5
ALARMS = [
    {"id": "noon", "daily": ["12:30"], "zone": "UTC", "data": {"dose": 1}},
    {"id": "strict", "daily": ["12:30"], "zone": "UTC", "catch_up": "skip"},
    # Fires a minute after the others, and so shows that they would have.
    {"id": "fence", "daily": ["12:31"], "zone": "UTC"}]


def run(lab):
    play = Play(lab)
    play.in_time()
    play.back_an_hour()
    play.over_noon()
    play.over_three_days()
    play.until_a_morning()
    play.corrected()
    play.years_ahead()
    play.ordered()


class Play:
    """Days are counted from the first one, on which it begins at noon."""

    def __init__(self, lab):
        self.lab, self.first = lab, (int(time.time()) // DAY + 1) * DAY
        self.set(0, "12:00:00")
        keep_clock()
        self.alarms = lab.schedule(alarms=ALARMS)

    def at(self, day, clock):
        hour, minute, second = map(int, clock.split(":"))
        return self.first + day * DAY + hour * HOUR + minute * 60 + second

    def set(self, day, clock):
        set_clock(self.at(day, clock))

    def passes(self, day, clock):
        """Waits until that time has passed, and the bridge has answered after it."""
        until(lambda: time.time() > self.at(day, clock) + 2, 60)
        self.alarms.pending()

    def fires(self, sentence, alarm, count):
        """Claims that there are so many events of it, and waits for the last."""
        self.lab.eventually(sentence, lambda: len(self.alarms.fired(alarm)) >= count, SPREAD + MARGIN)
        if len(self.alarms.fired(alarm)) < count:
            raise Late(f"{alarm} did not fire; see wakebridged.log")

    def through_noon(self, day):
        """The clock is set to shortly before 12:30, and goes past it; then to before 12:31, until that alarm comes."""
        self.set(day, "12:29:58")
        self.passes(day, "12:30:00")
        fences = len(self.alarms.fired("fence"))
        self.set(day, "12:30:58")
        self.fires("an alarm of the next minute comes", "fence", fences + 1)

    def counts(self, sentence, expected, *alarms):
        counts = self.alarms.count(*alarms)
        self.lab.claim(sentence, counts == expected, counts)

    def next_is(self, sentence, day):
        due = self.alarms.due("noon")
        self.lab.claim(sentence, due == text(self.at(day, "12:30:00"))[:19], due)

    def tells(self, sentence, alarm, number, day, missed):
        """Claims for which day the event of that number is, and how many it says were missed before."""
        one = self.alarms.fired(alarm)[number].data
        expected = (text(self.at(day, "12:30:00"))[:19], missed)
        self.lab.claim(sentence, (one["due"][:19], one["missed"]) == expected, (one, expected))

    # The claims.

    def in_time(self):
        self.next_is("at noon comes what is to come at noon", 0)
        self.through_noon(0)
        self.fires("set to shortly before its time, an alarm comes", "noon", 1)
        self.tells("for that time, none being missed", "noon", 0, 0, 0)
        told = self.alarms.fired("noon")[0].data
        self.lab.in_time("it says that it is not late", told["late_s"] <= 3, told)
        self.lab.claim("it brings what it was given", told["data"] == {"dose": 1}, told)

    def back_an_hour(self):
        self.set(0, "11:30:00")
        self.next_is("set back by an hour, its next time is tomorrow", 1)
        self.set(0, "12:29:58")
        self.passes(0, "12:30:00")
        self.counts("the same time passes again, and nothing comes again", [1, 1, 1], "noon", "strict", "fence")

    def over_noon(self):
        self.set(1, "13:00:00")
        self.fires("set forward over its time, it comes late", "noon", 2)
        self.fires("and so does the other one", "fence", 2)
        self.tells("for that time, none being missed", "noon", 1, 1, 0)
        late = self.alarms.fired("noon")[1].data["late_s"]
        self.lab.claim("it says how late", late >= HOUR / 2, late)
        self.lab.in_time("and that is no later than the spread", late <= HOUR / 2 + SPREAD + MARGIN, late)
        self.next_is("its next time is tomorrow", 2)

    def over_three_days(self):
        self.set(4, "13:00:00")
        self.fires("set forward over three days, it comes", "noon", 3)
        self.fires("and so does the other one", "fence", 3)
        self.tells("once, for the last of them, two being missed", "noon", 2, 4, 2)

    def until_a_morning(self):
        self.set(6, "07:30:00")
        self.next_is("a morning after one that it was set past, noon is nearer, and it waits for that", 6)
        self.counts("nothing comes for the one before", [3, 3], "noon", "fence")
        self.through_noon(6)
        self.fires("at noon it comes", "noon", 4)
        self.tells("and says what it missed", "noon", 3, 6, 1)
        self.fires("what wants no catching up comes in time", "strict", 2)
        self.tells("and says how many times it was set past", "strict", 1, 6, 5)
        for alarm in ("noon", "strict", "fence"):
            told = [one.data for one in self.alarms.fired(alarm)]
            whole = len(told) + sum(one["missed"] for one in told)
            self.lab.claim(f"{alarm}: what came and what was missed are seven days", whole == 7, told)

    def corrected(self):
        self.set(6, "08:00:00")
        self.next_is("set back by more than three hours, the clock was wrong: the day is gone through again", 6)
        self.through_noon(6)
        self.fires("and it comes again", "noon", 5)
        self.tells("for that time", "noon", 4, 6, 0)

    def years_ahead(self):
        fences = len(self.alarms.fired("fence"))
        self.set(1_006, "13:00:00")
        self.fires("set a thousand days ahead, it comes", "noon", 6)
        self.fires("and so does the other one", "fence", fences + 1)
        self.tells("once, and counts the others", "noon", 5, 1_006, 999)
        self.set(6, "13:00:00")
        self.next_is("set back from there, its next time is tomorrow, not in years", 7)

    def ordered(self):
        """Alarms that a handler orders: for one instant, and for a span of real time."""
        self.alarms.say({"alarm": {"id": "once", "at": text(self.at(6, "15:00:00"))}})
        ordered = self.alarms.say({"alarm": {"id": "hour", "in_s": HOUR}}).data["pending"][0]["due"]
        self.set(6, "16:00:00")
        self.fires("set forward over its instant, an alarm for that instant comes", "once", 1)
        late = self.alarms.fired("once")[0].data["late_s"]
        self.lab.claim("it says how late", late >= HOUR, late)
        pending = self.alarms.pending()
        self.lab.claim("it is not pending any more", "once" not in pending, pending)
        moved = instant(pending["hour"]["due"]) - instant(ordered)
        self.lab.claim("an alarm in an hour is still to come, at what the clock then shows", moved > 2 * HOUR, pending)
        self.alarms.say({"alarm": {"id": "soon", "in_s": 20}})
        self.set(6, "14:59:55")
        self.fires("set back by an hour, an alarm in twenty seconds comes", "soon", 1)
        self.passes(6, "15:00:00")
        self.counts("its instant passes again, and nothing comes again", [1, 1, 0], "once", "soon", "hour")
