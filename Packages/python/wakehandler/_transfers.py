"""Transfers as a background URLSession of iOS has them: handed over, and done while the handler sleeps."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Generic, List, Literal, Optional, Tuple

from ._events import Event
from ._lines import given, pending_in
from ._orders import AnswerT

if TYPE_CHECKING:
    from ._core import Core


class TransferTask(Generic[AnswerT]):
    """One file that is received or sent. TransferSession makes it, or a delegate is given it."""

    def __init__(self, id: str, transfers: TransferSession[AnswerT], order: Optional[Dict[str, Any]] = None) -> None:
        self.id = id
        """Its name in its session."""
        self.session = transfers
        self._order = order

    def resume(self) -> AnswerT:
        """Hands it over, or lets one move that was handed over as paused. The same one again changes nothing."""
        if self._order is None:
            return self.session._session._order("resume", self._name)
        return self.session._session._order("transfer", self._order)

    def cancel(self) -> AnswerT:
        """Takes it back: its end is not told, and nothing of its file stays."""
        return self.session._session._order("cancel", {"transfer": self._name})

    def answer(self, user: str, password: str) -> AnswerT:
        """Says who you are to a server that asked. Neither word is kept on the disk."""
        return self.session._session._order(
            "credential", {"transfer": self._name, "user": user, "password": password})

    @property
    def _name(self) -> str:
        return f"{self.session.name}/{self.id}"


class TransferSession(Generic[AnswerT]):
    """A session of transfers that the manifest declares, as a background URLSession of iOS: the same in each process."""

    def __init__(self, name: str, session: Core[AnswerT, Any, Any, Any, Any, Any]) -> None:
        self.name = name
        """As in `transfers` of the manifest."""
        self._session = session

    def download_task(self, id: str, url: str, to: str, *, sha256: Optional[str] = None,
                      not_before_s: Optional[int] = None, deadline_s: Optional[int] = None,
                      expect_received: Optional[int] = None, paused: Optional[bool] = None) -> TransferTask[AnswerT]:
        """A task that receives a file. Nothing happens before its resume(). `to` counts from the state directory on."""
        return TransferTask(id, self, given(
            session=self.name, id=id, url=url, to=to, sha256=sha256, not_before_s=not_before_s, deadline_s=deadline_s,
            expect_received=expect_received, paused=paused))

    def upload_task(self, id: str, path: str, url: str, *, method: Optional[Literal["PUT", "POST"]] = None,
                    not_before_s: Optional[int] = None, deadline_s: Optional[int] = None,
                    expect_sent: Optional[int] = None, paused: Optional[bool] = None) -> TransferTask[AnswerT]:
        """A task that sends a file, by PUT unless you say POST. `path` counts from the state directory on."""
        return TransferTask(id, self, given(
            **{"session": self.name, "id": id, "url": url, "from": path, "method": method,
               "not_before_s": not_before_s, "deadline_s": deadline_s, "expect_sent": expect_sent, "paused": paused}))

    def tasks(self) -> Any:
        """A list of those that the daemon has, such as what an earlier process handed over."""
        return self._session._ask({"pending": True}, self._tasks_in)

    def cancel(self) -> Any:
        """Cancels all of them. A refusal comes as a Notice."""
        def cancel_all(answer: Dict[str, Any]) -> None:
            for task in self._tasks_in(answer):
                self._session._send({"cancel": {"transfer": task._name}})
        return self._session._ask({"pending": True}, cancel_all)

    def _tasks_in(self, answer: Dict[str, Any]) -> List[TransferTask[AnswerT]]:
        names = [entry.id.partition("/") for entry in pending_in(answer) if entry.source == "transfer"]
        return [TransferTask(id, self) for name, _, id in names if name == self.name]


class TransferDelegate:
    """What becomes of the transfers of a session. Override what you need; each event is done when its call returns.

    If a call raises wakehandler.Expired, or anything else, the event stays open, and comes again.
    """

    def finished(self, task: TransferTask[Any], path: str, event: Event) -> None:
        """All of the file was received or sent. A received one lies at `path`, from the state directory on."""

    def failed(self, task: TransferTask[Any], why: str, event: Event) -> None:
        """It will not be; `why` is a word such as `checksum`."""

    def challenged(self, task: TransferTask[Any], realm: str, event: Event) -> Optional[Tuple[str, str]]:
        """The server asks who you are: return a user and a password, or None to cancel the task."""
        return None

    def settled(self, session: TransferSession[Any], finished: int, failed: int, event: Event) -> None:
        """Nothing of the session is open any more."""
