"""What the daemon answers and tells, as values."""
from __future__ import annotations

import dataclasses
import datetime
from typing import Any, Dict, List, Optional

from ._words import NoticeKind, Outcome, PendingSource, PendingState


class BridgeError(Exception):
    """The daemon's answer to a line that it could not use, or to a request that failed."""

    def __init__(self, code: str, sentence: str, advice: str) -> None:
        super().__init__(f"{sentence} {advice}")
        self.code = code
        """A word such as `not-connected`; `closed` where the input ended before the answer."""
        self.sentence = sentence
        self.advice = advice


class Expired(Exception):
    """Raised where the time of a task or an event is nearly over, or the daemon refused the task."""


@dataclasses.dataclass(frozen=True)
class Pending:
    """One alarm, poll, job or transfer of the handler, its inbox with messages in it, or one of its sockets."""

    source: PendingSource
    """What it is."""
    id: str
    """Its name, such as `photos/17` for a transfer; empty for the poll and the inbox, of which there is one."""
    state: PendingState
    """How far it is."""
    due: Optional[datetime.datetime]
    """When it is due at the earliest, in UTC; None while that is not known."""
    deadline: Optional[datetime.datetime]
    """By then it runs, even if some of its conditions are not met; None where it has no deadline."""
    waits_for: List[str]
    """Why it does not run now: `time`, or words such as `power`, `slot` and `stopped`."""
    next_chance: Optional[datetime.datetime]
    """When it may come, if nothing else changes; None where only a condition decides."""
    sequence: Optional[int]
    """The event's number, once it is one."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What became of an order."""

    outcome: Outcome
    """A word such as `set`, which says what was done."""
    pending: List[Pending]
    """What is pending after it: the entry itself first."""


@dataclasses.dataclass(frozen=True)
class Restoration:
    """What a new process is told."""

    reason: str
    """Why the process was launched: a word such as `data`."""
    devices: List[Dict[str, Any]]
    """Each with `device` (its name), `source`, `connected`, and `profile` where one matched."""
    checkpoint: Optional[str]
    """The latest text of Session.checkpoint(); None where there is none."""
    pending: List[Pending] = dataclasses.field(default_factory=list)
    """What is scheduled for the handler. It outlives the process, so do not order it again."""


@dataclasses.dataclass(frozen=True)
class Notice:
    """What a handler is told about itself and the daemon. It needs no answer."""

    kind: NoticeKind
    """What it is about."""
    data: Dict[str, Any]
    """The members of the line's `data`, such as `reason` and `remaining_ms`."""


CLOSED = ("closed", "The daemon closed the handler's input before it answered this request.",
          "Ask again in the next process.")
