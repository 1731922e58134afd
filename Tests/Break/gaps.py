"""A handler's deliveries against the trace: everything in the trace's order, and what is missing told in one gap."""
import bisect

# What may lose something, and how that is told.
CAUSES = {
    "bridge-restart": lambda game, handler: game.is_lossy(),
    "durability": lambda game, handler: game.is_lossy(),
    "dead-letter": lambda game, handler: not handler["steady"],
    "stopped": lambda game, handler: not handler["steady"] or game.is_lossy(),
}


def span(event):
    """First and last number of what a gap says is gone; None where it names none."""
    words = event.content.split()
    if len(words) < 4 or words[2] == "-" or words[3] == "-":
        return None
    return int(words[2]), int(words[3])


class Cover:
    """Numbers that lie in any of some spans."""

    def __init__(self, spans):
        self.spans = []
        for first, last in sorted(spans):
            if self.spans and first <= self.spans[-1][1] + 1:
                self.spans[-1] = (self.spans[-1][0], max(last, self.spans[-1][1]))
            else:
                self.spans.append((first, last))
        self.firsts = [first for first, _ in self.spans]

    def holds(self, number):
        place = bisect.bisect_right(self.firsts, number) - 1
        return place >= 0 and number <= self.spans[place][1]


def compare(game, name, handler, events, count):
    firsts = {}
    for event in events:
        firsts.setdefault(event.key, event)
    firsts = sorted(firsts.values(), key=lambda event: event.key)
    for device in handler["devices"]:
        mine = [event for event in firsts if event.device == device]
        told = [event for event in mine if event.kind == "gap"]
        count("gaps", len(told))
        yield from check_gaps(game, name, handler, device, told)
        heard = [event for event in mine if event.kind != "gap" and event.kind != "attention"]
        spans = [one for one in map(span, told) if one]
        yield from align(game, name, device, heard, game.expected[device], spans, count)


def check_gaps(game, name, handler, device, told):
    """No number is told twice as lost, and nobody loses what no fault could take from him."""
    for event in told:
        cause = event.content.split()[0]
        if not CAUSES.get(cause, lambda *_: False)(game, handler):
            yield "I4", f"{name} was told of a loss that nothing explains: {event.content} of {device}, number {event.key}"
    if game.is_lossy():
        # What is damaged twice is told twice: a span is what may have been lost.
        return
    before = None
    for one in sorted(filter(None, map(span, told))):
        if before and one[0] <= before[1]:
            yield "I4", f"{name} was told twice of lost numbers of {device}: {before} and {one}"
        before = max(before, one, key=lambda span: span[1]) if before else one


def align(game, name, device, heard, expected, spans, count):
    """Walks from beat to beat, whose bytes stand once only; links that came and went between two are told apart by their order."""
    places = {what: place for place, what in enumerate(expected) if what[0] == "data"}
    cover = Cover(spans)
    last, before, links, met = -1, 0, [], set()
    for event in heard + [None]:
        if event and event.kind != "data":
            links.append((event.kind, event.content))
            continue
        place = places.get((event.kind, event.content)) if event else len(expected)
        if place is None:
            yield "I4", f"{name} was given {event.content} as {event.key} of {device}, which never was"
            continue
        after = event.key if event else 10 ** 12
        if place <= last:
            # Played again under new numbers, as it may be where the journal was damaged.
            if not game.is_lossy():
                yield "I5", f"{name}: {event.content} of {device} came as {event.key} after what follows it"
        else:
            between = expected[last + 1:place]
            if not is_within(links, between) and not game.is_lossy():
                yield "I11", f"{name}: {device} came and went {links} before {after}, and the trace says {between[:5]}"
            hole = sum(one not in met for one in range(last + 1, place)) - len(links)
            if hole > 0:
                count("missing", hole)
                if not told(cover, before, after, hole):
                    yield "I4", f"{name}: {hole} events of {device} are missing before {after}, and no gap tells it"
        met.update(range(last + 1, place + 1))
        last, before, links = place, after, []


def is_within(links, between):
    rest = iter(between)
    return all(link in rest for link in links)


def told(cover, before, after, wanted):
    """Whether gaps tell of at least so many numbers between two that were heard."""
    return wanted <= sum(max(0, min(last, after - 1) - max(first, before + 1) + 1) for first, last in cover.spans)
