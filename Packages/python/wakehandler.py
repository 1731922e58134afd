"""Write WakeBridge handlers in Python: events come in on stdin, answers go out on descriptor 3.

    import wakehandler

    session = wakehandler.Session()
    for event in session.events():
        session.log(f"{event.device}: {event.value}")
        event.done()

An event stays yours until you call done() or retry(). One that you never finish comes again, and holds back the
acknowledgement of those after it, unless it is a long job. A session belongs to one thread.
"""
from __future__ import annotations

import array
import contextlib
import dataclasses
import datetime
import json
import os
import select
import socket
import sys
import time
from collections import deque
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Sequence, Tuple

__all__ = ["Answer", "BridgeError", "Event", "Expired", "Notice", "Pending", "Restoration", "Session", "Task",
           "TransferDelegate", "TransferSession", "TransferTask"]

_PREFIXES = ("wakebridge.device.", "wakebridge.")
_SCHEDULED = ("alarm.fired", "poll.due", "job.due", "region.entered", "region.exited", "message.received",
              "flow.started", "flow.interrupted", "flow.ended",
              "transfer.finished", "transfer.challenge", "transfer.settled",
              "socket.opened", "socket.readable", "socket.closed", "socket.keepalive")
_LONG_JOBS = ("processing", "continued")
_REASONS_OF_ONE_JOB = ("condition", "stalled", "max-run")
_LONGEST_WAIT_S = 86_400


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

    source: str
    """`alarm`, `poll`, `job`, `inbox`, `flow`, `transfer` or `socket`."""
    id: str
    """Its name, such as `photos/17` for a transfer; empty for the poll and the inbox, of which there is one."""
    state: str
    """`waiting`, `queued` or `running`."""
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

    outcome: str
    """`set`, `submitted`, `replaced`, `cancelled`, `not-pending`, `registered`, `never`, `ordered`,
    `known` or `reconnecting`."""
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

    kind: str
    """`restored`, `resumed`, `expiring`, `terminating`, `memory`, `time`, `storage`, `bridge` or `error`."""
    data: Dict[str, Any]
    """The members of the line's `data`, such as `reason` and `remaining_ms`."""


class Event:
    """One event of a device, a region, a socket or a flow, an alarm, a poll, a job or a message. It may come again, with its id."""

    def __init__(self, line: Dict[str, Any], session: Session) -> None:
        self._session = session
        self.kind: str = _without_prefix(line["type"])
        """`connected`, `disconnected`, `data`, `gap`, `attention`, `alarm.fired`, `poll.due`, `job.due`, `region.entered`,
        `region.exited`, `message.received`, `flow.started`, `flow.interrupted`, `flow.ended`,
        `transfer.finished`, `transfer.challenge`, `transfer.settled`, `socket.opened`, `socket.readable`, `socket.closed`
        or `socket.keepalive`."""
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
        self.time: datetime.datetime = _time(line.get("time"))
        """When it arrived, in UTC; 1970 where the line names no time."""
        self.data: Dict[str, Any] = line.get("data") or {}
        """The members of the line's `data`, as docs/reference/events-and-replies.md lists them."""
        self.expiration: Optional[str] = None
        """Why its time is nearly over, or why it was taken back: a word such as `condition`. None before that."""

    @property
    def name(self) -> str:
        """The id of the alarm, job, region, message or transfer, the name of the flow or socket; empty for a poll; otherwise the device's."""
        if self.kind in _SCHEDULED:
            return self.data.get("id") or self.data.get("job") or self.data.get("name") or self.data.get("socket") or ""
        return self.device

    @property
    def profile(self) -> Optional[str]:
        """The profile that matched the device."""
        return self.data.get("profile")

    @property
    def characteristic(self) -> Optional[str]:
        """The Bluetooth UUID in its shortest form, such as `2a37`; None for streams and broadcasts."""
        return self.data.get("characteristic")

    @property
    def stream(self) -> Optional[str]:
        """`serial`, `input` or `report-N`; `advertisement` for a broadcast without a link."""
        return self.data.get("stream")

    @property
    def bytes(self) -> bytes:
        """Exactly what the device, or the sender of a message, sent."""
        if self.kind == "message.received" and "payload" in self.data:
            return self.data["payload"].encode()
        return bytes.fromhex(self.data.get("raw", ""))

    @property
    def text(self) -> Optional[str]:
        """What a message says; None where its bytes are no text."""
        return self.data.get("payload")

    @property
    def topic(self) -> Optional[str]:
        """Of a message: a later one of the same topic takes its place. None where it has none."""
        return self.data.get("topic")

    @property
    def value(self) -> Any:
        """What the profile decoded, and {} where it decoded nothing.

        Of an alarm, what you gave it to carry; of a poll, a job, a region, a message, a flow or a socket, the same as `data`.
        """
        if self.kind == "alarm.fired":
            return self.data.get("data", {})
        return self.data if self.kind in _SCHEDULED else self.data.get("value") or {}

    @property
    def reason(self) -> Optional[str]:
        """Why the device is disconnected, or a flow is over, or a socket is not open: a word such as `remote-user` or `idle`."""
        return self.data.get("reason")

    @property
    def cause(self) -> Optional[str]:
        """Why events were lost: a word such as `link`."""
        return self.data.get("cause")

    def done(self, result: str = "useful") -> None:
        """Finishes the event: the daemon deletes it.

        `result` is `useful`, `nothing` or `failed`: for statistics, and for how soon the next poll comes. If a long job
        is done already, or was taken back, the daemon answers with the error `stale-lease` as a Notice.
        """
        self._session._close(self, result)

    def retry(self, after_s: Optional[float] = None, *, until: Sequence[str] = ()) -> None:
        """Gives the event back. It comes again, with its device's later events, after 0 to 86,400 s.

        None leaves the wait to the daemon. Alarms, polls, jobs, messages and transfers may have `until` in place
        of `after_s`: conditions such as `network`. It comes again, without a charge, when all of them are true.
        """
        conditions = [until] if isinstance(until, str) else list(until)
        if conditions and (after_s is not None or self.kind not in _SCHEDULED):
            raise ValueError(f"{self!r} is given back until {conditions}: leave out after_s, and use until only for "
                             "alarms, polls, jobs, messages and transfers.")
        self._session._give_back(self, after_s, conditions)

    def progress(self, done: int, total: Optional[int] = None) -> None:
        """Says how far a long job is. It goes on while `done` grows at least once a minute.

        Raises Expired as check() does, after it has told the daemon.
        """
        self._session._send({"progress": self.sequence, **_given(done=done, total=total)})
        self.check()

    def check(self) -> None:
        """Reads what the daemon has written meanwhile. Call it between steps of long work.

        Raises Expired when the event's time is nearly over: keep what is done, and finish the event or give it back.
        """
        self._session._read_available()
        if self.expiration is not None:
            raise Expired(f"The time of {self!r} is nearly over, {self.expiration}: keep what is done, and finish it "
                          "or give it back.")

    @property
    def _is_standing(self) -> bool:
        """Of a long job or a flow: acknowledgements of other events pass over it, and only one that names it ends it."""
        return self.kind == "flow.started" or self.kind == "job.due" and self.data.get("kind") in _LONG_JOBS

    def _is_flow_of(self, name: str) -> bool:
        return self.kind == "flow.started" and self.name == name

    def _expires_by(self, reason: str) -> bool:
        """A machine that sleeps stops every clock, and the budget of the batch is not that of a long job."""
        return reason != "system-sleep" and not (reason == "budget" and self._is_standing)

    def _ends_wait(self, awaited: Event) -> bool:
        """Whether this is the refused event again, or a gap that may report its loss: one that covers its time."""
        if self.kind == "gap" and _time(self.data.get("from")) <= awaited.time <= _time(self.data.get("to")):
            return True
        return self.sequence == awaited.sequence

    def __repr__(self) -> str:
        return f"Event({self.kind} {self.id} of {self.name or self.source}, attempt {self.attempt})"


class Task:
    """Keeps the process awake past its budget, from a pool that all tasks share. End every task that you begin."""

    def __init__(self, name: str, reference: int, session: Session, on_expiration: Optional[Callable[[], None]]) -> None:
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


class TransferTask:
    """One file that is received or sent. TransferSession makes it, or a delegate is given it."""

    def __init__(self, id: str, transfers: TransferSession, order: Optional[Dict[str, Any]] = None) -> None:
        self.id = id
        """Its name in its session."""
        self.session = transfers
        self._order = order

    def resume(self) -> Answer:
        """Hands it over, or lets one move that was handed over as paused. The same one again changes nothing."""
        if self._order is None:
            return self.session._session._order("resume", self._name)
        return self.session._session._order("transfer", self._order)

    def cancel(self) -> Answer:
        """Takes it back: its end is not told, and nothing of its file stays."""
        return self.session._session._order("cancel", {"transfer": self._name})

    def answer(self, user: str, password: str) -> Answer:
        """Says who you are to a server that asked. Neither word is kept on the disk."""
        return self.session._session._order(
            "credential", {"transfer": self._name, "user": user, "password": password})

    @property
    def _name(self) -> str:
        return f"{self.session.name}/{self.id}"


class TransferSession:
    """A session of transfers that the manifest declares, as a background URLSession of iOS: the same in each process."""

    def __init__(self, name: str, session: Session) -> None:
        self.name = name
        """As in `transfers` of the manifest."""
        self._session = session

    def download_task(self, id: str, url: str, to: str, *, sha256: Optional[str] = None,
                      not_before_s: Optional[int] = None, deadline_s: Optional[int] = None,
                      expect_received: Optional[int] = None, paused: Optional[bool] = None) -> TransferTask:
        """A task that receives a file. Nothing happens before its resume(). `to` counts from the state directory on."""
        return TransferTask(id, self, _given(
            session=self.name, id=id, url=url, to=to, sha256=sha256, not_before_s=not_before_s, deadline_s=deadline_s,
            expect_received=expect_received, paused=paused))

    def upload_task(self, id: str, path: str, url: str, *, method: Optional[str] = None,
                    not_before_s: Optional[int] = None, deadline_s: Optional[int] = None,
                    expect_sent: Optional[int] = None, paused: Optional[bool] = None) -> TransferTask:
        """A task that sends a file, by PUT unless you say POST. `path` counts from the state directory on."""
        return TransferTask(id, self, _given(
            **{"session": self.name, "id": id, "url": url, "from": path, "method": method,
               "not_before_s": not_before_s, "deadline_s": deadline_s, "expect_sent": expect_sent, "paused": paused}))

    def tasks(self) -> List[TransferTask]:
        """Those that the daemon has, such as what an earlier process handed over."""
        names = [entry.id.partition("/") for entry in self._session.pending() if entry.source == "transfer"]
        return [TransferTask(id, self) for name, _, id in names if name == self.name]

    def cancel(self) -> None:
        """Cancels all of them."""
        for task in self.tasks():
            task.cancel()


class TransferDelegate:
    """What becomes of the transfers of a session. Override what you need; each event is done when its call returns.

    If a call raises wakehandler.Expired, or anything else, the event stays open, and comes again.
    """

    def finished(self, task: TransferTask, path: str, event: Event) -> None:
        """All of the file was received or sent. A received one lies at `path`, from the state directory on."""

    def failed(self, task: TransferTask, why: str, event: Event) -> None:
        """It will not be; `why` is a word such as `checksum`."""

    def challenged(self, task: TransferTask, realm: str, event: Event) -> Optional[Tuple[str, str]]:
        """The server asks who you are: return a user and a password, or None to cancel the task."""
        return None

    def settled(self, session: TransferSession, finished: int, failed: int, event: Event) -> None:
        """Nothing of the session is open any more."""


class Session:
    """Reads events from `input`, and writes answers to `replies`; both are numbers of descriptors.

    `on_notice` is called with each Notice, while the session waits for a line.
    """

    def __init__(self, *, on_notice: Optional[Callable[[Notice], None]] = None, input: int = 0,
                 replies: Optional[int] = None) -> None:
        number = int(os.environ.get("WAKEBRIDGE_FD", "3")) if replies is None else replies
        self._replies: Optional[int] = number if _is_open(number) else None
        self._input = input
        self._on_notice = on_notice
        self._rest = b""
        self._lines: Deque[bytes] = deque()
        self._is_ended = False
        self._arrived: Deque[Event] = deque()
        self._open: List[Tuple[Event, Optional[str]]] = []
        self._standing: Dict[int, Event] = {}
        self._refused: Dict[str, Event] = {}
        self._tasks: Dict[int, Task] = {}
        self._waiting: Dict[int, Any] = {}
        self._delegates: Dict[str, Tuple[TransferSession, TransferDelegate]] = {}
        self._last_reference = 0
        self._deadline: Optional[float] = None
        self._sockets: Dict[str, socket.socket] = {}
        channel = os.environ.get("WAKEBRIDGE_SOCKETS_FD")
        self._channel = int(channel) if channel else None
        self._inherited = dict(pair.split("=", 1) for pair in os.environ.get("WAKEBRIDGE_SOCKETS", "").split(",") if pair)
        self.restoration: Optional[Restoration] = None
        """What the process was told at its start. It is there before the first event."""

    def events(self, *, wait: bool = True) -> Iterator[Event]:
        """The events in the order of delivery, until the daemon ends the input.

        While it waits here with nothing open, the daemon may freeze the process. With `wait=False` it ends when all
        that has come is taken: use it between steps of a long job, whose other events would be late otherwise.
        """
        while True:
            if not wait:
                self._read_available()
            while self._arrived:
                event = self._arrived.popleft()
                if self._opens(event) and not self._delivers(event):
                    self._follow_socket(event)
                    yield event
            if self._is_over or not wait:
                return
            self._read()

    @property
    def time_remaining_estimate(self) -> Optional[float]:
        """Seconds, after the daemon's latest line; None while nothing is known. Never base logic on it: use a task."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def time_remaining(self) -> float:
        """Asks the daemon how many seconds are left. Raises BridgeError where it cannot say."""
        return self._ask({"remaining": True})["remaining_ms"] / 1000

    @contextlib.contextmanager
    def task(self, name: str, on_expiration: Optional[Callable[[], None]] = None) -> Iterator[Task]:
        """Keeps the process awake for the work in a `with` block, and ends the task after it."""
        task = self.begin(name, on_expiration)
        try:
            yield task
        finally:
            task.end()

    def begin(self, name: str, on_expiration: Optional[Callable[[], None]] = None) -> Task:
        """Begins a task; begin it before the work.

        `name` is 1 to 120 bytes, shown to operators. `on_expiration` is called once, when the time is nearly over.
        """
        names = {task.name for task in self._tasks.values()}
        unique, count = name, 2
        while unique in names:
            unique, count = f"{name}#{count}", count + 1
        reference = self._next_reference()
        self._tasks[reference] = Task(unique, reference, self, on_expiration)
        self._send({"begin": unique, "ref": reference})
        return self._tasks[reference]

    def checkpoint(self, text: str) -> None:
        """Stores up to 16 KiB of text, no later than the next done(); Restoration.checkpoint returns it."""
        self._send({"checkpoint": text})

    def log(self, text: str) -> None:
        """Writes a line to stdout, and so to the log, at once."""
        print(text, flush=True)

    def declare_ready(self) -> None:
        """For manifests that say `ready: "explicit"`: events come after this."""
        self._send({"ready": True})

    def write(self, device: str, data: bytes, characteristic: Optional[str] = None) -> None:
        """Writes to a characteristic (up to 512 bytes), or to the device's stream where none is named.

        Waits for the answer. Raises BridgeError where the device, the daemon or the manifest refuses.
        """
        self._ask({"write": {**_address(device, characteristic), "hex": data.hex()}})

    def read(self, device: str, characteristic: Optional[str] = None) -> bytes:
        """Reads a characteristic, or the device's stream where none is named.

        Waits for the answer. Raises BridgeError where the device, the daemon or the manifest refuses.
        """
        return bytes.fromhex(self._ask({"read": _address(device, characteristic)}).get("hex", ""))

    # What is scheduled: the manifest permits it. Each order waits for its answer, and raises BridgeError where the
    # daemon or the manifest refuses. What was answered outlives the process, the daemon and the machine.

    def alarm(self, id: str, *, in_s: Optional[float] = None, every_s: Optional[float] = None,
              at: Optional[datetime.datetime] = None, daily: Optional[Sequence[str]] = None,
              days: Optional[Sequence[str]] = None, zone: Optional[str] = None, data: Any = None,
              alert: Optional[str] = None, catch_up: Optional[str] = None, leeway_s: Optional[float] = None) -> Answer:
        """Sets an alarm, or replaces the one of this id. It comes as an event of the kind `alarm.fired`.

        Say when by one of these: `in_s` from now, `every_s` (60 or more), `at` an instant, or `daily` at times such as
        `07:30`, on `days` such as `mon`, in a `zone` such as `Europe/Berlin`. An `at` without a zone is local time.
        `data` is JSON of up to 4 KiB that comes back, and `alert` a text for people. `catch_up` is `once` or `skip`.
        """
        return self._order("alarm", _given(
            id=id, in_s=in_s, every_s=every_s, at=at and at.astimezone().isoformat(), daily=daily, days=days, zone=zone,
            data=data, alert=alert, catch_up=catch_up, leeway_s=leeway_s))

    def cancel_alarm(self, id: str) -> Answer:
        """Cancels an alarm that alarm() set."""
        return self._order("cancel", {"alarm": id})

    def cancel_alarms(self) -> Answer:
        """Cancels all alarms that alarm() set."""
        return self._order("cancel", {"alarms": True})

    def submit(self, job: str, *, not_before_s: Optional[int] = None, deadline_s: Optional[int] = None,
               require: Optional[Sequence[str]] = None, strategy: Optional[str] = None) -> Answer:
        """Submits a job of the manifest to run once, or replaces what is pending of it. It comes as a `job.due`.

        It runs after `not_before_s`, when the conditions in `require` are true, such as `power`. At `deadline_s` it
        runs without those that can be waived. The strategy `fail` refuses it as `unavailable` if it cannot run now.
        """
        return self._order("submit", _given(
            job=job, not_before_s=not_before_s, deadline_s=deadline_s, require=require, strategy=strategy))

    def cancel_job(self, job: str) -> Answer:
        """Cancels what is pending of a job."""
        return self._order("cancel", {"job": job})

    def cancel_jobs(self) -> Answer:
        """Cancels what is pending of all jobs."""
        return self._order("cancel", {"jobs": True})

    def register(self, job: str) -> Answer:
        """Says that this program does this job of the manifest. Call it once for a job, before declare_ready()."""
        return self._order("register", job)

    def poll(self, min_interval_s: Optional[int]) -> Answer:
        """Asks for a `poll.due` no more often than this (60 or more); None for none at all."""
        return self._order("poll", "never" if min_interval_s is None else {"min_interval_s": min_interval_s})

    def transfers(self, name: str, delegate: Optional[TransferDelegate] = None) -> TransferSession:
        """The session of transfers that the manifest calls so. It is the same one in each process.

        With a delegate, what becomes of its transfers goes there and not to events(), which must run. Say so before
        the first event.
        """
        session = TransferSession(name, self)
        if delegate is not None:
            self._delegates[name] = (session, delegate)
        return session

    def pending(self) -> List[Pending]:
        """All that is scheduled for the handler, and what each waits for."""
        return _pending(self._ask({"pending": True}))

    def region_state(self, id: str) -> str:
        """`inside` or `outside` of a region of the manifest; `unknown` until the radio has listened for long enough."""
        return self._order("state", {"region": id}).outcome

    def open_flow(self, name: str) -> str:
        """Says that data of a flow with `from: "self"` flows now: call it again before the manifest's `idle` is over.

        `open`, or `waiting` where another flow of its group comes first. It begins with a `flow.started`, which you leave
        unanswered for as long as it flows.
        """
        return self._order("flow", {"name": name, "open": True}).outcome

    def close_flow(self, name: str) -> str:
        """Ends a flow now. One from a device begins again when that has paused."""
        self._forget_flow(name)
        return self._order("flow", {"name": name, "open": False}).outcome

    # The sockets of the manifest, which the daemon holds while the handler is frozen or gone.

    def socket(self, name: str) -> Optional[socket.socket]:
        """A socket of the manifest; None while the process has none. It is closed before its `socket.closed` comes.

        Its calls raise BlockingIOError in place of a wait. Read until that before you finish a `socket.readable`.
        """
        if name in self._inherited:
            self._sockets[name] = socket.socket(fileno=int(self._inherited.pop(name)))
        return self._sockets.get(name)

    def keepalive(self, name: str, within_s: Optional[int] = None) -> Answer:
        """Asks for a `socket.keepalive` before each `within_s` seconds are over (600 or more), from now on.

        None begins the time of before again: call it when you have just sent your peer something.
        """
        return self._order("keepalive", _given(socket=name, within_s=within_s))

    def reconnect(self, name: str) -> Answer:
        """Gives the connection up, and has another one opened at once."""
        return self._order("reconnect", name)

    def _follow_socket(self, event: Event) -> None:
        if event.kind == "socket.closed":
            former = self.socket(event.name)
            if former:
                former.close()
                del self._sockets[event.name]
        elif event.kind == "socket.opened" and event.data.get("passed") and self._channel is not None:
            self._receive_sockets(self._channel)

    def _receive_sockets(self, number: int) -> None:
        """Each comes with a line that names it."""
        with socket.socket(fileno=os.dup(number)) as channel:
            while _is_ready(number, select.POLLIN, 0):
                text, control, _, _ = channel.recvmsg(4096, socket.CMSG_SPACE(4), socket.MSG_DONTWAIT)
                numbers = array.array("i")
                for _, kind, part in control:
                    if kind == socket.SCM_RIGHTS:
                        numbers.frombytes(part[:4])
                if not text or not numbers:
                    return
                name = json.loads(text)["socket"]
                self._inherited.pop(name, None)
                self._sockets[name] = socket.socket(fileno=numbers[0])

    # What goes out.

    def _send(self, members: Dict[str, Any]) -> None:
        replies = self._replies
        if replies is None:
            return
        rest = (json.dumps(members, separators=(",", ":")) + "\n").encode()
        try:
            while rest:
                rest = rest[_when_ready(replies, select.POLLOUT, lambda: os.write(replies, rest)):]
        except OSError:
            # The reader has closed its end, and nothing that follows can be told either.
            self._replies = None

    def _next_reference(self) -> int:
        self._last_reference += 1
        return self._last_reference

    def _ask(self, members: Dict[str, Any]) -> Dict[str, Any]:
        reference = self._next_reference()
        self._waiting[reference] = None
        self._send({**members, "ref": reference})
        while self._waiting[reference] is None and not self._is_over:
            self._read()
        answer = self._waiting.pop(reference)
        if answer is None:
            raise BridgeError("closed", "The daemon closed the handler's input before it answered this request.",
                              "Ask again in the next process.")
        if isinstance(answer, BridgeError):
            raise answer
        return answer

    def _order(self, verb: str, value: Any) -> Answer:
        answer = self._ask({verb: value})
        return Answer(answer.get(verb, ""), _pending(answer))

    def _end(self, task: Task) -> None:
        if self._tasks.pop(task._reference, None):
            self._send({"end": task.name})

    def _delivers(self, event: Event) -> bool:
        """Whether the event was one of transfers whose session has a delegate, which has it now."""
        known = self._delegates.get(event.data.get("session", "")) if event.kind.startswith("transfer.") else None
        if known is None:
            return False
        transfers, delegate = known
        task = TransferTask(event.data.get("id", ""), transfers)
        if event.kind == "transfer.settled":
            delegate.settled(transfers, event.data["finished"], event.data["failed"], event)
        elif event.kind == "transfer.challenge":
            answer = delegate.challenged(task, event.data.get("realm", ""), event)
            task.answer(*answer) if answer else task.cancel()
        elif event.data.get("ok"):
            delegate.finished(task, event.data.get("path", ""), event)
        else:
            delegate.failed(task, event.data.get("why", "status"), event)
        event.done()
        return True

    # The events that are not answered yet, so that an acknowledgement never covers unfinished work.

    def _opens(self, event: Event) -> bool:
        """False for an event behind a retry of its device: it comes again, in order."""
        if event._is_standing:
            self._standing[event.sequence] = event
            return True
        if not (event.kind == "attention" and event.data.get("kind") == "link-down"):
            awaited = self._refused.get(event.source)
            if awaited and not event._ends_wait(awaited):
                return False
            self._refused.pop(event.source, None)
        self._open = [entry for entry in self._open if entry[0].sequence != event.sequence]
        self._open.append((event, None))
        return True

    def _forget_flow(self, name: str) -> None:
        """The daemon has closed its beginning, or does so."""
        for sequence in [event.sequence for event in self._standing.values() if event._is_flow_of(name)]:
            del self._standing[sequence]

    def _place(self, event: Event) -> Optional[int]:
        for place, (candidate, _) in enumerate(self._open):
            if candidate.sequence == event.sequence:
                return place
        return None

    def _close(self, event: Event, result: str) -> None:
        if result not in ("useful", "nothing", "failed"):
            raise ValueError(f"{result!r} is no result: write useful, nothing or failed.")
        if event._is_standing:
            self._standing.pop(event.sequence, None)
            self._send({"ack": event.sequence, "result": result})
            return
        place = self._place(event)
        if place is not None:
            self._open[place] = (self._open[place][0], result)
            self._acknowledge()

    def _give_back(self, event: Event, after_s: Optional[float], conditions: List[str]) -> None:
        place = self._place(event)
        if event._is_standing:
            self._standing.pop(event.sequence, None)
        elif place is None:
            return
        else:
            # Of those one at a time comes, so nothing can come out of order behind it.
            if event.kind not in _SCHEDULED:
                self._refused[event.source] = event
            self._open = [entry for number, entry in enumerate(self._open)
                          if number < place or entry[0].source != event.source]
        wait = None if after_s is None else min(max(after_s, 0), _LONGEST_WAIT_S)
        self._send({"nack": event.sequence, **_given(after_s=wait, until=conditions or None)})
        self._acknowledge()

    def _acknowledge(self) -> None:
        due = None
        while self._open and self._open[0][1] is not None:
            due = self._open.pop(0)
        if due:
            self._send({"ack": due[0].sequence, "result": due[1]})

    # What comes in.

    @property
    def _is_over(self) -> bool:
        return self._is_ended and not self._lines

    def _read(self) -> None:
        """Handles the lines that have come, the oldest first; waits for bytes where none has.

        A callback may get here again: each line leaves the queue before it is handled, so none overtakes another.
        """
        if not self._lines:
            self._receive()
        while self._lines:
            self._handle(self._lines.popleft())

    def _receive(self) -> None:
        chunk = _when_ready(self._input, select.POLLIN, lambda: os.read(self._input, 65_536))
        self._is_ended = not chunk
        lines = (self._rest + chunk).split(b"\n")
        self._rest = b"" if self._is_ended else lines.pop()
        self._lines.extend(line for line in lines if line.strip())

    def _read_available(self) -> None:
        while self._lines or (not self._is_ended and _is_ready(self._input, select.POLLIN, 0)):
            self._read()

    def _handle(self, text: bytes) -> None:
        try:
            line = json.loads(text)
            kind, data = line["type"], line.get("data") or {}
        except (ValueError, KeyError, TypeError):
            self._tell(Notice("error", {
                "code": "malformed", "sentence": "A line on stdin is no event of the protocol; it was passed over.",
                "advice": "Send one JSON object a line."}))
            return
        if isinstance(line.get("seq"), int):
            self._arrive(Event(line, self), line.get("budgetms", 0) / 1000)
        else:
            self._handle_notice(_without_prefix(kind), data)

    def _arrive(self, event: Event, budget_s: float) -> None:
        # A long job's time is its own.
        if not event._is_standing:
            self._deadline = time.monotonic() + budget_s
        if event.kind.startswith("flow."):
            self._forget_flow(event.name)
        # A later delivery of an event takes the place of an earlier one that was not taken.
        self._arrived = deque(earlier for earlier in self._arrived if earlier.sequence != event.sequence)
        self._arrived.append(event)

    def _handle_notice(self, kind: str, data: Dict[str, Any]) -> None:
        reference = data.get("ref")
        if kind in ("reply", "remaining"):
            if kind == "remaining":
                self._deadline = time.monotonic() + data.get("remaining_ms", 0) / 1000
            if reference in self._waiting:
                self._waiting[reference] = data
            return
        if kind == "error" and self._refuse(reference, data):
            return
        if kind == "restored":
            self.restoration = Restoration(
                data.get("reason", ""), data.get("devices", []), data.get("checkpoint"), _pending(data))
        elif kind == "resumed":
            self._resume(data.get("open", []))
        elif kind == "expiring":
            self._expire(data.get("reason", ""), data.get("remaining_ms", 0) / 1000, data.get("open", []))
        self._tell(Notice(kind, data))

    @property
    def _held(self) -> List[Event]:
        """What was delivered and is not finished."""
        return [*self._arrived, *(event for event, _ in self._open), *self._standing.values()]

    def _expire(self, reason: str, remaining_s: float, open: List[int]) -> None:
        """What is only about one job takes no time from tasks and from other events."""
        for event in self._held:
            if event.sequence in open and event._expires_by(reason):
                event.expiration = event.expiration or reason
        if reason not in _REASONS_OF_ONE_JOB:
            self._deadline = time.monotonic() + remaining_s
            for task in list(self._tasks.values()):
                task._expire()

    def _resume(self, owed: List[int]) -> None:
        """Forgets the events that the daemon has taken back; the others have all their time again."""
        self._deadline = None
        for event in self._held:
            event.expiration = None if event.sequence in owed else event.expiration or "budget"
        self._standing = {sequence: event for sequence, event in self._standing.items() if sequence in owed}
        self._open = [entry for entry in self._open if entry[0].sequence in owed]
        self._arrived = deque(event for event in self._arrived if event.sequence in owed)
        self._acknowledge()

    def _refuse(self, reference: Any, data: Dict[str, Any]) -> bool:
        """True where a request or a task waits for this error."""
        if reference in self._waiting:
            self._waiting[reference] = BridgeError(
                data.get("code", ""), data.get("sentence", ""), data.get("advice", ""))
            return True
        # A refused task counts as ended before its callback runs, so that end() in it writes nothing.
        task = self._tasks.pop(reference, None) if isinstance(reference, int) else None
        if task:
            task._expire()
        return task is not None

    def _tell(self, notice: Notice) -> None:
        if self._on_notice:
            self._on_notice(notice)
        elif notice.kind == "error":
            print(f"wakehandler: {notice.data.get('sentence')} {notice.data.get('advice')}", file=sys.stderr, flush=True)


def _address(device: str, characteristic: Optional[str]) -> Dict[str, str]:
    return {"device": device, **({"characteristic": characteristic.lower()} if characteristic else {})}


def _given(**members: Any) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _without_prefix(kind: str) -> str:
    prefix = next((prefix for prefix in _PREFIXES if kind.startswith(prefix)), "")
    return kind[len(prefix):]


def _pending(data: Dict[str, Any]) -> List[Pending]:
    return [Pending(
        entry.get("source", ""), entry.get("id", ""), entry.get("state", ""), _time_if_any(entry.get("due")),
        _time_if_any(entry.get("deadline")), entry.get("waits_for", []), _time_if_any(entry.get("next_chance")),
        entry.get("event")) for entry in data.get("pending") or []]


def _is_ready(descriptor: int, events: int, timeout_ms: Optional[int]) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, events)
    return bool(waiting.poll(timeout_ms))


def _when_ready(descriptor: int, events: int, call: Callable[[], Any]) -> Any:
    """A program that shares the descriptor may have made it non-blocking: the call then waits here."""
    while True:
        try:
            return call()
        except BlockingIOError:
            _is_ready(descriptor, events, None)


def _is_open(descriptor: int) -> bool:
    """Checked once, at the start: the next file that the handler opens would get a closed descriptor 3."""
    try:
        os.fstat(descriptor)
        return True
    except OSError:
        return False


def _time(text: Any) -> datetime.datetime:
    utc = datetime.timezone.utc
    try:
        time = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return datetime.datetime.fromtimestamp(0, utc)
    return time if time.tzinfo else time.replace(tzinfo=utc)


def _time_if_any(text: Any) -> Optional[datetime.datetime]:
    return None if text is None else _time(text)
