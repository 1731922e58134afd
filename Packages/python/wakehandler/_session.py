"""The session that blocks: it waits for events and for answers in its caller's thread."""
from __future__ import annotations

import os
import select
from typing import Any, Callable, Dict, Iterator, List, Optional, Union

from ._core import Core
from ._events import Event
from ._lines import is_ready, when_ready
from ._values import CLOSED, Answer, BridgeError, Notice, Pending
from ._words import Outcome


class Session(Core[Answer, List[Pending], Outcome, bytes, None, float]):
    """Reads events from `input`, and writes answers to `replies`; both are numbers of descriptors.

    Iterate over it: `for event in session`. `on_notice` is called with each Notice, while the session waits for a line.
    """

    def __init__(self, *, on_notice: Optional[Callable[[Notice], None]] = None, input: int = 0,
                 replies: Optional[int] = None) -> None:
        super().__init__(on_notice=on_notice, input=input, replies=replies)
        self._waiting: Dict[int, Union[Dict[str, Any], BridgeError, None]] = {}

    def __iter__(self) -> Iterator[Event]:
        return self.events()

    def events(self, *, wait: bool = True) -> Iterator[Event]:
        """The events in the order of delivery, until the daemon ends the input.

        While it waits here with nothing open, the daemon may freeze the process. With `wait=False` it ends when all
        that has come is taken: use it between steps of a long job, whose other events would be late otherwise.
        """
        while True:
            if not wait:
                self._read_available()
            event = self._next_event()
            while event is not None:
                yield event
                event = self._next_event()
            if self._is_over or not wait:
                return
            self._read()

    def _ask(self, members: Dict[str, Any], read: Callable[[Dict[str, Any]], Any]) -> Any:
        reference = self._next_reference()
        self._waiting[reference] = None
        self._send({**members, "ref": reference})
        while self._waiting[reference] is None and not self._is_over:
            self._read()
        answer = self._waiting.pop(reference)
        if answer is None:
            raise BridgeError(*CLOSED)
        if isinstance(answer, BridgeError):
            raise answer
        return read(answer)

    def _answer(self, reference: Any, answer: Union[Dict[str, Any], BridgeError]) -> bool:
        if reference not in self._waiting:
            return False
        self._waiting[reference] = answer
        return True

    def _read(self) -> None:
        """Handles the lines that have come, the oldest first; waits for bytes where none has.

        A callback may get here again: each line leaves the queue before it is handled, so none overtakes another.
        """
        if not self._lines:
            self._append(when_ready(self._input, select.POLLIN, lambda: os.read(self._input, 65_536)))
        while self._lines:
            self._handle(self._lines.popleft())

    def _read_available(self) -> None:
        while self._lines or (not self._is_ended and is_ready(self._input, select.POLLIN, 0)):
            self._read()
