"""What both sessions have: the books of events, tasks and answers, and what each line does to them."""
from __future__ import annotations

import array
import contextlib
import json
import os
import select
import sys
import time
from collections import deque
from socket import CMSG_SPACE, MSG_DONTWAIT, SCM_RIGHTS
from socket import socket as Socket
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Tuple, Union

from ._events import Event, Task
from ._lines import given, is_open, is_ready, pending_in, time_of, when_ready, without_prefix
from ._orders import AnswerT, BytesT, DoneT, Orders, OutcomeT, PendingT, SecondsT
from ._transfers import TransferDelegate, TransferSession, TransferTask
from ._values import BridgeError, Notice, Restoration
from ._words import ExpirationReason, NoticeKind, Result

LONGEST_WAIT_S = 86_400
REASONS_OF_ONE_JOB = ("condition", "stalled", "max-run")


class Core(Orders[AnswerT, PendingT, OutcomeT, BytesT, DoneT, SecondsT]):
    """What both sessions have: which events are open, which tasks and requests wait, and what each line does to them."""

    def __init__(self, *, on_notice: Optional[Callable[[Notice], None]] = None, input: int = 0,
                 replies: Optional[int] = None) -> None:
        number = int(os.environ.get("WAKEBRIDGE_FD", "3")) if replies is None else replies
        self._replies: Optional[int] = number if is_open(number) else None
        self._input = input
        self._on_notice = on_notice
        self._rest = b""
        self._lines: Deque[bytes] = deque()
        self._is_ended = False
        self._arrived: Deque[Event] = deque()
        self._open: List[Tuple[Event, Optional[Result]]] = []
        self._standing: Dict[int, Event] = {}
        self._refused: Dict[str, Event] = {}
        self._tasks: Dict[int, Task] = {}
        self._delegates: Dict[str, Tuple[TransferSession[AnswerT], TransferDelegate]] = {}
        self._last_reference = 0
        self._deadline: Optional[float] = None
        self._sockets: Dict[str, Socket] = {}
        channel = os.environ.get("WAKEBRIDGE_SOCKETS_FD")
        self._channel = int(channel) if channel else None
        self._inherited = dict(pair.split("=", 1) for pair in os.environ.get("WAKEBRIDGE_SOCKETS", "").split(",") if pair)
        self.restoration: Optional[Restoration] = None
        """What the process was told at its start. It is there before the first event."""

    @property
    def time_remaining_estimate(self) -> Optional[float]:
        """Seconds, after the daemon's latest line; None while nothing is known. Never base logic on it: use a task."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

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

    def transfers(self, name: str, delegate: Optional[TransferDelegate] = None) -> TransferSession[AnswerT]:
        """The session of transfers that the manifest calls so. It is the same one in each process.

        With a delegate, what becomes of its transfers goes there and not to events(), which must run. Say so before
        the first event.
        """
        session = TransferSession(name, self)
        if delegate is not None:
            self._delegates[name] = (session, delegate)
        return session

    # The sockets of the manifest, which the daemon holds while the handler is frozen or gone.

    def socket(self, name: str) -> Optional[Socket]:
        """A socket of the manifest; None while the process has none. It is closed before its `socket.closed` comes.

        Its calls raise BlockingIOError in place of a wait. Read until that before you finish a `socket.readable`.
        """
        if name in self._inherited:
            self._sockets[name] = Socket(fileno=int(self._inherited.pop(name)))
        return self._sockets.get(name)

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
        with Socket(fileno=os.dup(number)) as channel:
            while is_ready(number, select.POLLIN, 0):
                text, control, _, _ = channel.recvmsg(4096, CMSG_SPACE(4), MSG_DONTWAIT)
                numbers = array.array("i")
                for _, kind, part in control:
                    if kind == SCM_RIGHTS:
                        numbers.frombytes(part[:4])
                if not text or not numbers:
                    return
                name = json.loads(text)["socket"]
                self._inherited.pop(name, None)
                self._sockets[name] = Socket(fileno=numbers[0])

    # What goes out.

    def _answer(self, reference: Any, answer: Union[Dict[str, Any], BridgeError]) -> bool:
        """True where a request waits for the answer."""
        raise NotImplementedError

    def _read_available(self) -> None:
        """Handles what the daemon has written by now."""
        raise NotImplementedError

    def _next_event(self) -> Optional[Event]:
        """The next one that has come and is the caller's to handle."""
        while self._arrived:
            event = self._arrived.popleft()
            if self._opens(event) and not self._delivers(event):
                self._follow_socket(event)
                return event
        return None

    def _send(self, members: Dict[str, Any]) -> None:
        if self._replies is None:
            return
        replies: int = self._replies
        rest = (json.dumps(members, separators=(",", ":")) + "\n").encode()
        try:
            while rest:
                rest = rest[when_ready(replies, select.POLLOUT, lambda: os.write(replies, rest)):]
        except OSError:
            # The reader has closed its end, and nothing that follows can be told either.
            self._replies = None

    def _next_reference(self) -> int:
        self._last_reference += 1
        return self._last_reference

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
            user, password = answer or ("", "")
            # A refusal comes as a notice: nothing waits for it here.
            self._send({"credential": {"transfer": task._name, "user": user, "password": password}} if answer
                       else {"cancel": {"transfer": task._name}})
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

    def _close(self, event: Event, result: Result) -> None:
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
            if event.kind.is_of_device:
                self._refused[event.source] = event
            self._open = [entry for number, entry in enumerate(self._open)
                          if number < place or entry[0].source != event.source]
        wait = None if after_s is None else min(max(after_s, 0), LONGEST_WAIT_S)
        self._send({"nack": event.sequence, **given(after_s=wait, until=conditions or None)})
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

    def _handle(self, text: bytes) -> None:
        try:
            line = json.loads(text)
            kind, data = line["type"], line.get("data") or {}
        except (ValueError, KeyError, TypeError):
            self._tell(Notice(NoticeKind.ERROR, {
                "code": "malformed", "sentence": "A line on stdin is no event of the protocol; it was passed over.",
                "advice": "Send one JSON object a line."}))
            return
        if isinstance(line.get("seq"), int):
            self._arrive(Event(line, self), line.get("budgetms", 0) / 1000)
        else:
            self._handle_notice(without_prefix(kind), data)

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
            self._answer(reference, data)
            return
        if kind == "error" and self._refuse(reference, data):
            return
        if kind == "restored":
            self.restoration = Restoration(
                data.get("reason", ""), data.get("devices", []), data.get("checkpoint"), pending_in(data))
        elif kind == "resumed":
            self._resume(data.get("open", []))
        elif kind == "expiring":
            self._expire(ExpirationReason(data.get("reason", "")), data.get("remaining_ms", 0) / 1000, data.get("open", []))
        self._tell(Notice(NoticeKind(kind), data))

    def _append(self, chunk: bytes) -> None:
        """Takes what was read; nothing is the end of the input."""
        self._is_ended = not chunk
        lines = (self._rest + chunk).split(b"\n")
        self._rest = b"" if self._is_ended else lines.pop()
        self._lines.extend(line for line in lines if line.strip())

    @property
    def _held(self) -> List[Event]:
        """What was delivered and is not finished."""
        return [*self._arrived, *(event for event, _ in self._open), *self._standing.values()]

    def _expire(self, reason: ExpirationReason, remaining_s: float, open: List[int]) -> None:
        """What is only about one job takes no time from tasks and from other events."""
        for event in self._held:
            if event.sequence in open and event._expires_by(reason):
                event.expiration = event.expiration or reason
        if reason not in REASONS_OF_ONE_JOB:
            self._deadline = time.monotonic() + remaining_s
            for task in list(self._tasks.values()):
                task._expire()

    def _resume(self, owed: List[int]) -> None:
        """Forgets the events that the daemon has taken back; the others have all their time again."""
        self._deadline = None
        for event in self._held:
            event.expiration = None if event.sequence in owed else event.expiration or ExpirationReason.BUDGET
        self._standing = {sequence: event for sequence, event in self._standing.items() if sequence in owed}
        self._open = [entry for entry in self._open if entry[0].sequence in owed]
        self._arrived = deque(event for event in self._arrived if event.sequence in owed)
        self._acknowledge()

    def _refuse(self, reference: Any, data: Dict[str, Any]) -> bool:
        """True where a request or a task waits for this error."""
        refusal = BridgeError(data.get("code", ""), data.get("sentence", ""), data.get("advice", ""))
        if self._answer(reference, refusal):
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
