"""Compares what the strap said with what the handler heard: nothing may be lost that is not told in exactly one gap."""

# What was sent just before a link fell was still in the air, or in bluetoothd.
IN_THE_AIR = 0.5
# A bluetoothd that forgets hundreds of devices reads nothing meanwhile, for so long at most.
BUSY = 10


def rearmed(entries, cut, end):
    """When the strap was subscribed to on the first link after `cut`."""
    link = min((at for at, word, _ in entries if word == "connected" and at > cut), default=end)
    return min((at for at, word, fields in entries if word == "subscription" and at > link and fields["uuid"] == "2A37"
                and fields["cccd"][1] == "1"), default=end)


def unheard(entries):
    """From when a strap took up again by itself what it had kept to when bluetoothd listened: it may not do so at once."""
    begun = [at for at, word, fields in entries if word == "restored" and fields["uuid"] == "2A37"]
    listens = [at for at, word, fields in entries if word == "subscription" and fields["uuid"] == "2A37"]
    return [(at, min((one for one in listens if one > at), default=at)) for at in begun]


def under_way(sent, came, falls, farewells):
    """From when to when what was sent went with a link that fell. Bluetoothd drops what it has not read by then, since the last
    beat that was heard: where it told late of the fall it was busy, and may have read nothing for long."""
    spans = []
    for fall, following in zip(falls, [*falls[1:], float("inf")]):
        last = max((at for at, _, number in sent if at <= fall and number in came), default=0)
        told = min((one for one in farewells if fall <= one <= following), default=fall)
        spans.append((max(last, fall - (BUSY if told - fall > IN_THE_AIR else IN_THE_AIR)), fall))
    return spans


class Reckoning:
    """Every beat in these entries of the strap's log that is younger than the first gap's begin.

    lost        sent on an armed link, long before it fell, and never heard; where bluetoothd did not listen yet to a strap
                that did not wait for it, only if it is in no gap either
    untold      not heard, and within no gap
    twice_told  not heard, and within more than one gap
    repeated    heard as more than one event
    disorder    pairs heard in the wrong order
    may_come    of the lost and the untold, those after the last that was heard: late, if not lost

    `cuts` are instants when the way from the radio to the bridge was cut, as by the death of bluetoothd: from then to
    the next subscription on another link the strap may believe to have a subscriber, and has none.
    """

    def __init__(self, strap, entries, bridge, cuts=(), settle=0.7):
        self.gaps = [(bridge.instant(one.data["from"]), bridge.instant(one.data["to"]))
                     for one in bridge.heard("gap") if one.event["source"].endswith(strap.address)]
        begin = min((begin for begin, _ in self.gaps), default=0)
        end = entries[-1][0] - settle
        sent = [(at, word, int(fields["n"]) & 0xFFFF) for at, word, fields in entries
                if word in ("notify", "unsubscribed", "alone") and begin <= at <= end]
        dead = [(cut, rearmed(entries, cut, end)) for cut in cuts]
        deaf = unheard(entries)
        events = {}
        for one in bridge.beats(of=strap):
            events.setdefault(one.beat, {}).setdefault(one.event["id"], one)
        spoken = {number for _, _, number in sent}
        numbers = [beat for beat in events if beat in spoken]
        came = {beat: min(bridge.instant(one.event["time"]) for one in events[beat].values()) for beat in numbers}
        spans = under_way(sent, came, [at for at, word, _ in entries if word == "disconnected"],
                          [bridge.instant(one.event["time"]) for one in bridge.heard("disconnected")
                           if one.event["source"].endswith(strap.address)])
        firsts = sorted((one.event["seq"], beat) for beat in numbers for one in events[beat].values())
        self.sent, self.heard = len(sent), len(numbers)
        self.armed = sum(word == "notify" for _, word, _ in sent)
        self.repeated = [beat for beat in numbers if len(events[beat]) > 1]
        self.disorder = [(a, b) for (_, a), (_, b) in zip(firsts, firsts[1:]) if (b - a) & 0xFFFF > 0x8000]
        self.lost, self.untold, self.twice_told, self.in_gaps = [], [], [], 0
        known = 0
        for at, word, number in sent:
            if number in events:
                known = max(known, came[number])
                continue
            # A gap begins when the beat before it was heard, which may be after this one was sent.
            told = sum(begin <= max(at, known) <= end for begin, end in self.gaps)
            fell = any(begin <= at <= fall for begin, fall in spans)
            nobody = any(cut - IN_THE_AIR <= at <= again for cut, again in dead)
            early = told == 1 and any(begin <= at <= end for begin, end in deaf)
            if word == "notify" and not fell and not nobody and not early:
                self.lost.append(number)
            if told == 0:
                self.untold.append(number)
            elif told > 1:
                self.twice_told.append(number)
            self.in_gaps += 1
        spoken_in_turn = [number for _, _, number in sent]
        last = max((turn for turn, number in enumerate(spoken_in_turn) if number in events), default=-1)
        self.may_come = {*self.lost, *self.untold} & {*spoken_in_turn[last + 1:]}

    def __str__(self):
        return (f"{self.sent} beats sent, {self.armed} of them to a subscriber; {self.heard} heard, {self.in_gaps} in "
                f"{len(self.gaps)} gaps; lost {self.lost}, untold {self.untold}, twice told {self.twice_told}, "
                f"repeated {self.repeated}, out of order {self.disorder}")
