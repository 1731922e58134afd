#!/usr/bin/env python3
"""The reckoning of the break test: what handlers recorded and what the journal holds, against what each invariant promises.

    reckon.py round FOLDER        after a round; prints `count NAME N` lines, and a sentence for all that is wrong
    reckon.py calm FOLDER PID     while the bridge PID has nothing to do: who runs, and who is frozen
    reckon.py again FOLDER TOOL   plays the round's trace twice without a handler, and compares what was decided

Exit 1 where anything is wrong. It shares no code with the bridge, and believes no word of it that somebody else can witness.
"""
import bisect
import os
import subprocess
import sys

from evidence import UNNOTED, Journal, Round, answered
import gaps

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Lab"))
from waiting import until  # noqa: E402

PATIENCE = 1.5  # seconds that a busy machine may take for anything
complaints, counts = [], {}


def complain(invariant, sentence):
    complaints.append(f"{invariant}: {sentence}")


def complain_of_lateness(invariant, sentence):
    """A busy machine is late too, so the gate counts this (BREAK_LATENESS=counted), and the long test refuses it."""
    if os.environ.get("BREAK_LATENESS") == "counted":
        count(f"late-{invariant}", 1)
    else:
        complain(invariant, sentence)


def count(name, number):
    counts[name] = counts.get(name, 0) + number


def reckon(folder):
    game = Round(folder)
    for name, handler in game.handlers.items():
        events = game.events(name)
        count("deliveries", len(events))
        count("redeliveries", len(events) - len({event.key for event in events}))
        check_contents(game, name, handler, events)
        check_order(game, name)
        check_attempts(game, name, events)
        check_budgets(game, name, handler)
        check_stopped(game, name)
        if handler["steady"]:
            check_redelivered(game, name, events)
            check_steady(game, name)
    check_numbers(game)
    check_deaths(game)
    check_end(game)
    check_locks(game)
    check_disk(game)


# I4, I5, I11: contents, numbers

def check_contents(game, name, handler, events):
    for invariant, sentence in gaps.compare(game, name, handler, events, count):
        complain(invariant, sentence)


def check_numbers(game):
    """Every number that was given was heard by somebody, or is told in a gap."""
    heard, told = {}, []
    for name in game.handlers:
        for event in game.events(name):
            what = (event.device, event.kind, event.content)
            if heard.setdefault(event.key, what) != what:
                complain("I4", f"number {event.key} means {heard[event.key]} and, to {name}, {what}")
            if event.kind == "gap":
                told += [one for one in [gaps.span(event)] if one]
    covered = gaps.Cover(told + unborn(game))
    silent = [seq for seq in range(1, max(heard, default=0) + 1) if seq not in heard and not covered.holds(seq)]
    if silent:
        complain("I4", f"{len(silent)} numbers were neither heard nor told: {silent[:5]}")


def unborn(game):
    """What a bridge that died between the two commits of a turn had not journaled: nobody was given it, its line is played
    again, and its numbers lie below one that the disk knows."""
    spans = []
    for daemon in os.listdir(f"{game.folder}/deaths"):
        reach = Journal(f"{game.folder}/deaths/{daemon}", is_killed=True).reach
        run, disk = reach.get("run.sqlite", 0), reach.get("journal.sqlite", 0)
        if 0 < run < disk:
            spans.append((run + 1, disk))
    return spans


def check_order(game, name):
    """Within a process numbers of a device rise, but for what it refused, and where what it never answered comes once more;
    so do first deliveries over all processes."""
    for process in game.processes[name]:
        refused, newest, attempts = {seq for _, seq in process.refused}, {}, {}
        for event in process.events:
            if 0 < attempts.get(event.key, 0) < event.attempt and not game.handlers[name]["steady"]:
                newest.pop(event.device, None)
            attempts[event.key] = event.attempt
            if event.key <= newest.get(event.device, 0) and event.key not in refused:
                complain("I5", f"{name}, process {process.pid}: {event.key} of {event.device} after {newest[event.device]}")
            if event.kind != "attention":
                newest[event.device] = event.key
    newest, seen = {}, set()
    for event in game.events(name):
        if event.key in seen:
            continue
        seen.add(event.key)
        if event.key < newest.get(event.device, 0):
            complain("I5", f"{name}: {event.key} of {event.device} came first after {newest[event.device]} had come")
        # That a link went down is told at once, before what a nack holds back.
        if event.kind != "attention":
            newest[event.device] = event.key


def check_attempts(game, name, events):
    """An attempt is a delivery: each is higher than the one before."""
    if game.is_lossy():
        return
    latest = {}
    for event in events:
        if event.attempt <= latest.get(event.key, 0):
            complain("I4", f"{name}: {event.key} came with attempt {event.attempt} after {latest[event.key]}")
        latest[event.key] = event.attempt


# I6: what was in flight when the bridge was killed

def check_redelivered(game, name, events):
    """Of who never misbehaves: given by a bridge that died, not acknowledged, and given again at once by another."""
    if game.is_lossy():
        return
    killed = game.faults.killed()
    daemons = {one.pid: one.daemon for one in game.processes[name]}
    done = {one.pid: answered(one) for one in game.processes[name]}
    latest = {}
    for event in events:
        before = latest.get(event.key)
        latest[event.key] = event
        if not before or before.process in killed or event.attempt != before.attempt + 1:
            continue
        ended = game.faults.times("end-bridge", str(daemons[before.process]))
        if daemons[before.process] != daemons[event.process] and not ended and not event.again:
            complain("I6", f"{name}: {event.key} came again after the bridge's death without `redelivered`")
        if daemons[before.process] == daemons[event.process] and event.key in done[before.process]:
            complain("I4", f"{name}: {event.key} came again though it was acknowledged to the same bridge")


def check_deaths(game):
    """As each killed bridge left the journal: nothing was given before it was kept, and what was open is still there."""
    if game.is_lossy():
        return
    for daemon in sorted(os.listdir(f"{game.folder}/deaths")):
        journal = Journal(f"{game.folder}/deaths/{daemon}", is_killed=True)
        if not journal.sound:
            complain("I6", f"the journal that bridge {daemon} left cannot be read")
        for name in game.handlers:
            check_death(game, name, int(daemon), journal)


def settled(game, name, moment):
    """Numbers that the handler may have acknowledged before that, or was told to be gone at any time."""
    is_oneshot = game.handlers[name]["oneshot"]
    before = [process for process in game.processes[name] if process.born < moment]
    done = {one for process in before for one in answered(process, is_oneshot, or_saying=True)}
    for event in game.events(name):
        lost = gaps.span(event) if event.kind == "gap" else None
        if lost:
            done.update(range(lost[0], lost[1] + 1))
    return done


def check_death(game, name, daemon, journal):
    heard = {event.key for one in game.processes[name] if one.daemon == daemon for event in one.events}
    early = [seq for seq in heard if seq > journal.newest]
    if early:
        complain("I6", f"{name}: {min(early)} was given before it was journaled up to there, at bridge {daemon}'s death")
    kept = {seq for owner, seq in journal.owed | journal.letters if owner == name}
    death = game.faults.times("kill-bridge", str(daemon))[0]
    gone = sorted(heard - kept - settled(game, name, death))
    if gone:
        complain("I6", f"{name}: {gone[:5]} were given, not acknowledged, and not in the journal at bridge {daemon}'s death")


def check_end(game):
    journal = Journal(f"{game.folder}/end")
    if not journal.sound:
        complain("I4", "the journal cannot be read at the end")
    if journal.owed:
        complain("I4", f"{len(journal.owed)} events are still queued at the end: {sorted(journal.owed)[:5]}")
    count("dead-letters", len(journal.letters))
    for name, seq in journal.letters:
        if game.handlers.get(name, {}).get("steady"):
            complain("I13", f"{name} lost {seq} to the dead letters, and did nothing wrong")


# I2, I3, I9, I13: time

def check_budgets(game, name, handler):
    for process in game.processes[name]:
        times = progress(process)
        for moment, reason, last in process.warnings:
            if reason == "budget" and last:
                check_warning(game, name, handler, process, moment, last)
        for moment in process.beats:
            check_awake(game, name, handler, process, times, moment)


def progress(process):
    """When a new budget began: at deliveries, answers, and thaws."""
    times = [event.time for event in process.events] + [one for one, _ in process.answers]
    # Who is busy with himself does not read that he was frozen; that no beat came shows it.
    times += [after for before, after in zip(process.beats, process.beats[1:]) if after - before > 0.5]
    return sorted(times + [one for one, notice, _ in process.notices if notice == "wakebridge.resumed"])


def latest(times, moment):
    place = bisect.bisect_left(times, moment)
    return times[place - 1] if place else None


def check_warning(game, name, handler, process, moment, last):
    """What is read late was given earlier; the record tells since when at most. An answer counts from when the bridge can
    have heard it: where nothing was given after it, the warning may have been due before it was written."""
    read, since = last
    answers = [time for time, _ in process.answers if read <= time < moment]
    full = handler["budget"] - handler["warn"]
    for before, after in zip([since] + answers, answers):
        if after - before >= full - UNNOTED and moment - after <= PATIENCE + game.faults.silence(after, moment):
            return
    since = max([since] + answers)
    if moment - since < full - 0.3:
        complain("I2", f"{name}, process {process.pid}: warned {moment - since:.2f} s after it had been given something")


def check_awake(game, name, handler, process, times, moment):
    since = latest(times, moment)
    if since is None or any(word == "deaf" for _, word in process.moods):
        return
    most = handler["budget"] + handler["grace"] + PATIENCE
    if moment - since > most and moment - since > most + game.faults.silence(since, moment):
        complain_of_lateness("I3", f"{name}, process {process.pid}: still awake {moment - since:.2f} s after its last progress")


def check_stopped(game, name):
    """Between a stop that is done and the next start nobody is born, and who was told to end is gone in its time."""
    # One that found no bridge to tell was none.
    for stopped in game.faults.times("stop-done", name, "0"):
        end = min((one for one in game.faults.times("start-begins", name) if one > stopped), default=float("inf"))
        late = [event.time for event in game.events(name) if stopped + 1 + PATIENCE < event.time < end]
        late += [one.born for one in game.processes[name] if stopped + PATIENCE < one.born < end]
        if late:
            complain("I9", f"{name} ran while it was stopped, at {min(late):.3f}")


def check_steady(game, name):
    """Who answers everything at once is never ended by the bridge: as many processes as bridges and kills account for."""
    killed = game.faults.killed()
    for daemon in {one.daemon for one in game.processes[name]}:
        mine = [one for one in game.processes[name] if one.daemon == daemon]
        kills = sum(one.pid in killed for one in mine)
        if len(mine) > kills + 1:
            complain("I13", f"{name} had {len(mine)} processes of bridge {daemon} for {kills} kills: {[one.pid for one in mine]}")
    times = sorted(event.time for event in game.events(name))
    if game.theme in ("kills", "manners", "clock") and name == "bulk":
        check_silence(game, times)


def check_silence(game, times):
    """Whatever the others do, the stream goes on: the bridge waits for nobody."""
    for before, after in zip(times, times[1:]):
        if after - before <= 2 + PATIENCE:
            continue
        quiet = after - before - game.faults.silence(before, after)
        if quiet > 2 + PATIENCE:
            complain_of_lateness("I10", f"bulk heard nothing for {quiet:.2f} s, at {before:.3f}")


# I8, disk use

def check_locks(game):
    wanted = [(time, words[1]) for time, words in game.faults.all if words[0] == "contend"]
    waited = [words[1] if words[1:] else "forever" for _, words in game.faults.all if words[0] == "waited"]
    for (time, name), span in zip(wanted + [(0, None)] * len(waited), waited):
        if span == "forever" or float(span) > busy(game, name, time, float(span)) + 1 + 2 + PATIENCE:
            complain_of_lateness("I8", f"a lock that {name} held was waited for {span} s from {time:.3f}")
        count("locks", 1)


def busy(game, name, start, span):
    """For how long the handler went on with its work: who is awake may hold a lock."""
    moments = [moment for process in game.processes.get(name, []) for moment in progress(process)]
    return max((moment for moment in moments if start < moment < start + span), default=start) - start


def check_disk(game):
    """What handlers write cannot fill the disk."""
    size = os.path.getsize(f"{game.folder}/daemon.log")
    if size > 64 << 20:
        complain("disk", f"the log has {size} bytes")
    count("log-kilobytes", size >> 10)


# I1, I7: while all is calm

def look_at_calm(folder, daemon):
    game = Round(folder)
    until(lambda: not [*awake(game, daemon), *strays(game, folder, daemon)], 0.02 + 2 + PATIENCE, 0.02)
    for who in awake(game, daemon):
        complain("I1", f"{who} has nothing to do and is not frozen")
    for who in strays(game, folder, daemon):
        complain("I7", f"{who} belongs to no handler that lives")


def children(daemon):
    with open(f"/proc/{daemon}/task/{daemon}/children") as file:
        return file.read().split()


def awake(game, daemon):
    for pid in children(daemon):
        words = look(f"/proc/{pid}/stat").rsplit(")", 1)[-1].split()
        place = look(f"/proc/{pid}/cgroup").rsplit("0::", 1)[-1].strip()
        leaf = game.facts["tree"] + "/" + place.rsplit("/", 1)[-1]
        is_frozen = "frozen 1" in look(f"{leaf}/cgroup.events") if os.path.isdir(leaf) else words[:1] in (["T"], ["Z"])
        if words and not is_frozen:
            yield f"process {pid} ({look(f'/proc/{pid}/cmdline')})"


def strays(game, folder, daemon):
    """Processes of handlers outside of the leaf, or where there are none the group, of one that the bridge has."""
    living = {look(f"/proc/{pid}/cgroup").rsplit("0::", 1)[-1].strip() for pid in children(daemon)}
    has_leaves = any("/" in place.strip("/") for place in living)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        command = look(f"/proc/{pid}/cmdline")
        if f"{folder}/heard" not in command or "contend" in command or pid in children(daemon):
            continue
        place = look(f"/proc/{pid}/cgroup").rsplit("0::", 1)[-1].strip()
        state = look(f"/proc/{pid}/stat").rsplit(")", 1)[-1].split()[:1]
        if game.theme != "weak" and has_leaves and place not in living and state not in ([], ["Z"], ["X"]):
            yield f"process {pid} ({command})"


# I12

def play_again(folder, tool):
    decisions = []
    for turn in ("first", "second"):
        path = f"{folder}/decisions-{turn}"
        words = [tool, "replay", f"{folder}/made.trace", "--speed", "max", "--decisions", path]
        exit = subprocess.run(words, stdout=subprocess.DEVNULL).returncode
        if exit:
            complain("I12", f"the replay ended with {exit}")
        with open(path, "rb") as file:
            decisions.append(file.read())
        os.unlink(path)
    if not decisions[0] or decisions[0] != decisions[1]:
        complain("I12", "the same trace was decided upon differently")


def look(path):
    try:
        with open(path) as file:
            return file.read().replace("\0", " ")
    except OSError:
        return ""


if __name__ == "__main__":
    if sys.argv[1] == "calm":
        look_at_calm(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "again":
        play_again(sys.argv[2], sys.argv[3])
    else:
        reckon(sys.argv[2])
        for name, number in sorted(counts.items()):
            print("count", name, number)
    for one in sorted({complaint.split(":")[0] for complaint in complaints}):
        of_it = [complaint for complaint in complaints if complaint.startswith(one + ":")]
        print("\n".join(of_it[:8] + [f"{one}: and {len(of_it) - 8} more"] * (len(of_it) > 8)))
    sys.exit(1 if complaints else 0)
