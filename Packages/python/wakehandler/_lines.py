"""How lines are read and written: times, members, and descriptors that may not block."""
from __future__ import annotations

import datetime
import os
import select
from typing import Any, Callable, Dict, List, Optional, TypeVar

from ._values import Pending
from ._words import PendingSource, PendingState

Value = TypeVar("Value")
PREFIXES = ("wakebridge.device.", "wakebridge.")


def address(device: str, characteristic: Optional[str]) -> Dict[str, str]:
    return {"device": device, **({"characteristic": characteristic.lower()} if characteristic else {})}


def given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def without_prefix(kind: str) -> str:
    prefix = next((prefix for prefix in PREFIXES if kind.startswith(prefix)), "")
    return kind[len(prefix):]


def pending_in(data: Dict[str, Any]) -> List[Pending]:
    return [Pending(
        PendingSource(entry.get("source", "")), entry.get("id", ""), PendingState(entry.get("state", "")),
        time_if_any(entry.get("due")), time_if_any(entry.get("deadline")), entry.get("waits_for", []), time_if_any(entry.get("next_chance")),
        entry.get("event")) for entry in data.get("pending") or []]


def is_ready(descriptor: int, events: int, timeout_ms: Optional[int]) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, events)
    return bool(waiting.poll(timeout_ms))


def when_ready(descriptor: int, events: int, call: Callable[[], Value]) -> Value:
    """A program that shares the descriptor may have made it non-blocking: the call then waits here."""
    while True:
        try:
            return call()
        except BlockingIOError:
            is_ready(descriptor, events, None)


def is_open(descriptor: int) -> bool:
    """Checked once, at the start: the next file that the handler opens would get a closed descriptor 3."""
    try:
        os.fstat(descriptor)
        return True
    except OSError:
        return False


def time_of(text: Any) -> datetime.datetime:
    utc = datetime.timezone.utc
    try:
        time = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return datetime.datetime.fromtimestamp(0, utc)
    return time if time.tzinfo else time.replace(tzinfo=utc)


def time_if_any(text: Any) -> Optional[datetime.datetime]:
    return None if text is None else time_of(text)
