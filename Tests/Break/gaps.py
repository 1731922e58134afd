"""A handler's deliveries against the trace: everything in the trace's order, and what is missing told in one gap."""
import bisect

from evidence import answered

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
    done = acknowledged(game, name)
    for group in overlapping(told):
        (first, last), wanted = span(group[0]), sum(map(number_of, group))
        last = max(span(one)[1] for one in group)
        lost = sum(game.devices.get(one, device) == device and one not in done for one in range(first, last + 1))
        if wanted > lost:
            spans = ", ".join(f"{number_of(one)} in {span(one)}" for one in group)
            yield "I4", f"{name} was told twice of lost numbers of {device}: {spans}, where only {lost} can be lost"


def overlapping(told):
    """Gaps in groups that share numbers. What lies between the first and the last that a gap tells of need not all be lost:
    numbers of others, what came back too late for the gap before, and the number of the gap itself, which may be lost later."""
    groups, end = [], 0
    for event in sorted(filter(span, told), key=span):
        first, last = span(event)
        if first > end:
            groups.append([])
        groups[-1].append(event)
        end = max(end, last)
    return groups


def number_of(event):
    """How many a gap says are lost; one that does not know tells of all."""
    number, (first, last) = event.content.split()[1], span(event)
    return last - first + 1 if number == "-" else int(number)


def acknowledged(game, name):
    """What the handler is done with; what it said to a bridge that was killed may have been heard by nobody."""
    is_oneshot = game.handlers[name]["oneshot"]
    heard = [process for process in game.processes[name] if process.daemon not in game.ended]
    return {one for process in heard for one in answered(process, is_oneshot)}


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
