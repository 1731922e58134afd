"""The waits of the lab by the clock: for a condition that sends no notice, for a rhythm's next turn, and for time itself."""
import time


def pace(due):
    """Returns at the instant `due` of CLOCK_MONOTONIC, and at once where it has passed."""
    time.sleep(max(0, due - time.monotonic()))


def until(condition, seconds=30, every=0.05):
    """Returns the value of `condition` as soon as it holds, and at the latest after `seconds`."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        pace(time.monotonic() + every)
    return found


def let_pass(seconds, why):
    """Lets real time pass for a claim about just that, and prints `why` no event ends it sooner."""
    print(f"{seconds:.1f} s pass: {why}", flush=True)
    pace(time.monotonic() + seconds)
