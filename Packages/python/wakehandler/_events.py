"""What comes to a handler, and the tasks with which it stays awake for longer work."""
from __future__ import annotations

import datetime
import logging
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Dict, Literal, Optional, Sequence, Type, Union

from ._lines import given, time_of, without_prefix
from ._values import Expired
from ._words import EventKind, ExpirationReason, GapCause, Result

if TYPE_CHECKING:
    from ._core import Core

_LOGGER = logging.getLogger("wakehandler")


class Event:
    """One event of a device, a region, a socket or a flow, an alarm, a poll, a job or a message. It may come again, with its id."""

    def __init__(self, line: Dict[str, Any], session: Core[Any, Any, Any, Any, Any, Any]) -> None:
        self._session = session
        self._is_finished = False
        self.kind = EventKind(without_prefix(line["type"]))
        """What it is about, such as EventKind.DATA, which equals `"data"`."""
        self.id: str = line.get("id", "")
        """Journal and sequence, such as `j7-42`; store it with your data to recognise a repeated delivery."""
        self.sequence: int = line["seq"]
        self.attempt: int = line.get("attempt", 1)
        """Counts deliveries, from 1."""
        self.is_redelivered: bool = line.get("redelivered", False)
        """True for an event that was in flight when the daemon ended."""
        self.device: str = line.get("subject", "")
        """The name that you gave the device; see `name` for all others."""
        self.source: str = line.get("source", "")
        """A stable identity, such as `/bluetooth/C0:F1:F2:F3:F4:01` or `/alarm/my-handler/tea`."""
        self.is_authenticated: bool = line.get("authenticated", False)
        """True where a bond proved the device's identity when the event arose."""
        self.time: datetime.datetime = time_of(line.get("time"))
        """When it arrived, in UTC; 1970 where the line names no time."""
        self.data: Dict[str, Any] = line.get("data") or {}
        """The members of the line's `data`, as docs/reference/events-and-replies.md lists them."""
        self.expiration: Optional[ExpirationReason] = None
        """Why its time is nearly over, or why it was taken back: a word such as `condition`. None before that."""

    @property
    def name(self) -> str:
        """The id of the alarm, job, region, message or transfer, the name of the flow or socket; empty for a poll; otherwise the device's."""
        if self.kind.is_of_device:
            return self.device
        members = ("id", "job", "name", "socket")
        return next((str(self.data[member]) for member in members if self.data.get(member)), "")

    @property
    def profile(self) -> Optional[str]:
        """The profile that matched the device."""
        return self._text("profile")

    @property
    def characteristic(self) -> Optional[str]:
        """The Bluetooth UUID in its shortest form, such as `2a37`; None for streams and broadcasts."""
        return self._text("characteristic")

    @property
    def stream(self) -> Optional[str]:
        """`serial`, `input` or `report-N`; `advertisement` for a broadcast without a link."""
        return self._text("stream")

    @property
    def bytes(self) -> bytes:
        """Exactly what the device, the sender of a message, or a central sent."""
        if self.kind == "message.received" and "payload" in self.data:
            return str(self.data["payload"]).encode()
        return bytes.fromhex(self.data.get("hex" if self.kind == "peripheral.written" else "raw", ""))

    @property
    def text(self) -> Optional[str]:
        """What a message says; None where its bytes are no text."""
        return self._text("payload")

    @property
    def topic(self) -> Optional[str]:
        """Of a message: a later one of the same topic takes its place. None where it has none."""
        return self._text("topic")

    @property
    def value(self) -> Any:
        """What the profile decoded, and {} where it decoded nothing.

        Of an alarm, what you gave it to carry; of a poll, a job, a region, a message, a flow or a socket, the same as `data`.
        """
        if self.kind == "alarm.fired":
            return self.data.get("data", {})
        return self.data.get("value") or {} if self.kind.is_of_device else self.data

    @property
    def reason(self) -> Optional[str]:
        """Why the device is disconnected, or a flow is over, or a socket is not open: a word such as `remote-user` or `idle`."""
        return self._text("reason")

    @property
    def cause(self) -> Optional[GapCause]:
        """Why events were lost, such as GapCause.LINK."""
        return GapCause(self.data["cause"]) if "cause" in self.data else None

    def __enter__(self) -> Event:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> bool:
        """Finishes the event, or gives it back where the block raised.

        An Exception is logged and ends here, so that the loop goes on; Expired is not even logged. Others leave the block.
        A flow that began stays open.
        """
        if self._is_finished:
            pass
        elif error is not None:
            self.retry()
        elif self.kind != EventKind.FLOW_STARTED:
            self.done()
        if isinstance(error, Exception) and not isinstance(error, Expired):
            _LOGGER.error("%r failed, and comes again", self, exc_info=error)
        return isinstance(error, Exception)

    def done(self, result: Union[Result, Literal["useful", "nothing", "failed"]] = Result.USEFUL) -> None:
        """Finishes the event: the daemon deletes it.

        `result` is `useful`, `nothing` or `failed`: for statistics, and for how soon the next poll comes. If a long job
        is done already, or was taken back, the daemon answers with the error `stale-lease` as a Notice.
        """
        if result not in list(Result):
            raise ValueError(f"{result!r} is no result: write useful, nothing or failed.")
        self._is_finished = True
        self._session._close(self, Result(result))

    def retry(self, after_s: Optional[float] = None, *, until: Sequence[str] = ()) -> None:
        """Gives the event back. It comes again, with its device's later events, after 0 to 86,400 s.

        None leaves the wait to the daemon. Alarms, polls, jobs, messages and transfers may have `until` in place
        of `after_s`: conditions such as `network`. It comes again, without a charge, when all of them are true.
        """
        conditions = [until] if isinstance(until, str) else list(until)
        if conditions and (after_s is not None or self.kind.is_of_device):
            raise ValueError(f"{self!r} is given back until {conditions}: leave out after_s, and use until only for "
                             "alarms, polls, jobs, messages and transfers.")
        self._is_finished = True
        self._session._give_back(self, after_s, conditions)

    def progress(self, done: int, total: Optional[int] = None) -> None:
        """Says how far a long job is. It goes on while `done` grows at least once a minute.

        Raises Expired as check() does, after it has told the daemon.
        """
        self._session._send({"progress": self.sequence, **given(done=done, total=total)})
        self.check()

    def check(self) -> None:
        """Reads what the daemon has written meanwhile. Call it between steps of long work.

        Raises Expired when the event's time is nearly over: keep what is done, and finish the event or give it back.
        """
        self._session._read_available()
        if self.expiration is not None:
            raise Expired(f"The time of {self!r} is nearly over, {self.expiration}: keep what is done, and finish it "
                          "or give it back.")

    def _text(self, member: str) -> Optional[str]:
        value = self.data.get(member)
        return value if isinstance(value, str) else None

    @property
    def _is_standing(self) -> bool:
        """Of a long job or a flow: acknowledgements of other events pass over it, and only one that names it ends it."""
        kind = self.data.get("kind")
        return self.kind == "flow.started" or self.kind == "job.due" and kind in ("processing", "continued")

    def _is_flow_of(self, name: str) -> bool:
        return self.kind == "flow.started" and self.name == name

    def _expires_by(self, reason: str) -> bool:
        """A machine that sleeps stops every clock, and the budget of the batch is not that of a long job."""
        return reason != "system-sleep" and not (reason == "budget" and self._is_standing)

    def _ends_wait(self, awaited: Event) -> bool:
        """Whether this is the refused event again, or a gap that may report its loss: one that covers its time."""
        if self.kind == "gap" and time_of(self.data.get("from")) <= awaited.time <= time_of(self.data.get("to")):
            return True
        return self.sequence == awaited.sequence

    def __repr__(self) -> str:
        return f"Event({self.kind} {self.id} of {self.name or self.source}, attempt {self.attempt})"


class Task:
    """Keeps the process awake past its budget, from a pool that all tasks share. End every task that you begin."""

    def __init__(self, name: str, reference: int, session: Core[Any, Any, Any, Any, Any, Any], on_expiration: Optional[Callable[[], None]]) -> None:
        self.name = name
        self._reference = reference
        self._session = session
        self._on_expiration = on_expiration
        self.is_expired = False
        """True once the time is nearly over, or the daemon refused the task."""

    def end(self) -> None:
        """Ends the task. Does nothing the second time, or after the daemon refused the task."""
        self._session._end(self)

    def check(self) -> None:
        """Reads what the daemon has written meanwhile. Call it between steps of long work.

        Raises Expired when the time is nearly over: clean up and end the task.
        """
        self._session._read_available()
        if self.is_expired:
            raise Expired(f"The time of task {self.name} is nearly over: keep what is done, and end the task.")

    def _expire(self) -> None:
        if not self.is_expired:
            self.is_expired = True
            if self._on_expiration:
                self._on_expiration()
