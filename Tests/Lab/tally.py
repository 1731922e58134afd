"""Compares what an accessory said, message by message, with what the handler heard of it."""


class Tally:
    """Of messages that differ from each other; `said` are (instant, bytes).

    lost        said and never heard
    repeated    heard as more than one event
    disorder    pairs heard in the wrong order
    unsaid      heard and never said: parts of messages, or two in one
    """

    def __init__(self, said, heard):
        events = {}
        for one in sorted(heard, key=lambda one: one.event["seq"]):
            events.setdefault(one.raw, set()).add(one.event["id"])
        order = {message: place for place, (_, message) in enumerate(said)}
        self.said, self.heard = len(said), sum(message in events for message in order)
        self.repeated = [message for message, ids in events.items() if len(ids) > 1]
        self.unsaid = [message for message in events if message not in order]
        places = [order[message] for message in events if message in order]
        self.disorder = [(a, b) for a, b in zip(places, places[1:]) if b < a]
        self.missed = [(at, message) for at, message in said if message not in events]
        self.lost = [message for _, message in self.missed]

    @property
    def is_true(self):
        """Of what was heard."""
        return not (self.repeated or self.disorder or self.unsaid)

    def untold(self, gaps):
        """Of what is lost, what lies in none of them."""
        return [message for at, message in self.missed if not any(begin <= at <= end for begin, end in gaps)]

    def __str__(self):
        few = {name: getattr(self, name)[:3] for name in ("lost", "repeated", "disorder", "unsaid")}
        return (f"{self.said} said, {self.heard} heard; "
                + ", ".join(f"{len(getattr(self, name))} {name} {value if value else ''}".strip()
                            for name, value in few.items()))
