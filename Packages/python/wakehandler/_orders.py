"""What a handler may ask of the daemon, in one place for both sessions: one waits for the answer, one is awaited."""
from __future__ import annotations

import datetime
from typing import Any, Callable, Dict, Generic, Literal, Optional, Sequence, TypeVar, Union

from ._events import Event
from ._lines import address, given, pending_in
from ._values import Answer
from ._words import Outcome

AnswerT = TypeVar("AnswerT")
PendingT = TypeVar("PendingT")
OutcomeT = TypeVar("OutcomeT")
BytesT = TypeVar("BytesT")
DoneT = TypeVar("DoneT")
SecondsT = TypeVar("SecondsT")
BytesLike = Union[bytes, bytearray, memoryview]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Orders(Generic[AnswerT, PendingT, OutcomeT, BytesT, DoneT, SecondsT]):
    """The orders and requests of a session. Each raises BridgeError where the daemon or the manifest refuses.

    What was answered outlives the process, the daemon and the machine.
    """

    def _ask(self, members: Dict[str, Any], read: Callable[[Dict[str, Any]], Any]) -> Any:
        """Sends a line, and gives what `read` makes of the answer: at once, or awaited."""
        raise NotImplementedError

    def _forget_flow(self, name: str) -> None:
        raise NotImplementedError

    def _order(self, verb: str, value: Any) -> AnswerT:
        answer: AnswerT = self._ask(
            {verb: value}, lambda answer: Answer(Outcome(answer.get(verb, "")), pending_in(answer)))
        return answer

    def _outcome(self, verb: str, value: Any) -> OutcomeT:
        outcome: OutcomeT = self._ask({verb: value}, lambda answer: Outcome(answer.get(verb, "")))
        return outcome

    def time_remaining(self) -> SecondsT:
        """Asks the daemon how many seconds are left. Raises BridgeError where it cannot say."""
        seconds: SecondsT = self._ask({"remaining": True}, lambda answer: float(answer["remaining_ms"]) / 1000)
        return seconds

    def write(self, device: str, data: BytesLike, characteristic: Optional[str] = None) -> DoneT:
        """Writes to a characteristic (up to 512 bytes), or to the device's stream where none is named.

        Waits for the answer. Raises BridgeError where the device, the daemon or the manifest refuses.
        """
        members = {"write": {**address(device, characteristic), "hex": bytes(data).hex()}}
        done: DoneT = self._ask(members, lambda answer: None)
        return done

    def read(self, device: str, characteristic: Optional[str] = None) -> BytesT:
        """Reads a characteristic, or the device's stream where none is named.

        Waits for the answer. Raises BridgeError where the device, the daemon or the manifest refuses.
        """
        members = {"read": address(device, characteristic)}
        read: BytesT = self._ask(members, lambda answer: bytes.fromhex(answer.get("hex", "")))
        return read

    def alarm(self, id: str, *, in_s: Optional[float] = None, every_s: Optional[float] = None,
              at: Optional[datetime.datetime] = None, daily: Optional[Sequence[str]] = None,
              days: Optional[Sequence[Day]] = None, zone: Optional[str] = None, data: Any = None,
              alert: Optional[str] = None, catch_up: Optional[Literal["once", "skip"]] = None, leeway_s: Optional[float] = None) -> AnswerT:
        """Sets an alarm, or replaces the one of this id. It comes as an event of the kind `alarm.fired`.

        Say when by one of these: `in_s` from now, `every_s` (60 or more), `at` an instant, or `daily` at times such as
        `07:30`, on `days` such as `mon`, in a `zone` such as `Europe/Berlin`. An `at` without a zone is local time.
        `data` is JSON of up to 4 KiB that comes back, and `alert` a text for people. `catch_up` is `once` or `skip`.
        """
        return self._order("alarm", given(
            id=id, in_s=in_s, every_s=every_s, at=at and at.astimezone().isoformat(), daily=daily, days=days, zone=zone,
            data=data, alert=alert, catch_up=catch_up, leeway_s=leeway_s))

    def cancel_alarm(self, id: str) -> AnswerT:
        """Cancels an alarm that alarm() set."""
        return self._order("cancel", {"alarm": id})

    def cancel_alarms(self) -> AnswerT:
        """Cancels all alarms that alarm() set."""
        return self._order("cancel", {"alarms": True})

    def submit(self, job: str, *, not_before_s: Optional[int] = None, deadline_s: Optional[int] = None,
               require: Optional[Sequence[str]] = None, strategy: Optional[Literal["queue", "fail"]] = None) -> AnswerT:
        """Submits a job of the manifest to run once, or replaces what is pending of it. It comes as a `job.due`.

        It runs after `not_before_s`, when the conditions in `require` are true, such as `power`. At `deadline_s` it
        runs without those that can be waived. The strategy `fail` refuses it as `unavailable` if it cannot run now.
        """
        return self._order("submit", given(
            job=job, not_before_s=not_before_s, deadline_s=deadline_s, require=require, strategy=strategy))

    def cancel_job(self, job: str) -> AnswerT:
        """Cancels what is pending of a job."""
        return self._order("cancel", {"job": job})

    def cancel_jobs(self) -> AnswerT:
        """Cancels what is pending of all jobs."""
        return self._order("cancel", {"jobs": True})

    def register(self, job: str) -> AnswerT:
        """Says that this program does this job of the manifest. Call it once for a job, before declare_ready()."""
        return self._order("register", job)

    def poll(self, min_interval_s: Optional[int]) -> AnswerT:
        """Asks for a `poll.due` no more often than this (60 or more); None for none at all."""
        return self._order("poll", "never" if min_interval_s is None else {"min_interval_s": min_interval_s})

    def pending(self) -> PendingT:
        """All that is scheduled for the handler, and what each waits for."""
        pending: PendingT = self._ask({"pending": True}, pending_in)
        return pending

    def region_state(self, id: str) -> OutcomeT:
        """`inside` or `outside` of a region of the manifest; `unknown` until the radio has listened for long enough."""
        return self._outcome("state", {"region": id})

    def open_flow(self, name: str) -> OutcomeT:
        """Says that data of a flow with `from: "self"` flows now: call it again before the manifest's `idle` is over.

        `open`, or `waiting` where another flow of its group comes first. It begins with a `flow.started`, which you leave
        unanswered for as long as it flows.
        """
        return self._outcome("flow", {"name": name, "open": True})

    def close_flow(self, name: str) -> OutcomeT:
        """Ends a flow now. One from a device begins again when that has paused."""
        self._forget_flow(name)
        return self._outcome("flow", {"name": name, "open": False})

    def keepalive(self, name: str, within_s: Optional[int] = None) -> AnswerT:
        """Asks for a `socket.keepalive` before each `within_s` seconds are over (600 or more), from now on.

        None begins the time of before again: call it when you have just sent your peer something.
        """
        return self._order("keepalive", given(socket=name, within_s=within_s))

    def serve(self, characteristic: str, data: BytesLike, centrals: Optional[Sequence[str]] = None) -> OutcomeT:
        """Sets the value of a characteristic of the manifest's `peripheral`, and sends it to its subscribers, or only to these `centrals`.

        `served`, or `behind` where a subscriber takes no more now; it gets the latest value once it does.
        """
        return self._outcome("serve", given(
            characteristic=characteristic, hex=bytes(data).hex(), centrals=list(centrals) if centrals is not None else None))

    def answer_read(self, event: Event, data: BytesLike) -> OutcomeT:
        """Answers the read of a `peripheral.read`. Raises BridgeError where the central has got the last value by now."""
        return self._outcome("serve", {"request": event.data["request"], "hex": bytes(data).hex()})

    def refuse_read(self, event: Event, error: int = 128) -> OutcomeT:
        """Fails the read of a `peripheral.read`, with an error of the application from 128 to 159."""
        return self._outcome("serve", {"request": event.data["request"], "refuse": error})

    def reconnect(self, name: str) -> AnswerT:
        """Gives the connection up, and has another one opened at once."""
        return self._order("reconnect", name)
