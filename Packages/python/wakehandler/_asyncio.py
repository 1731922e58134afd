"""The session for asyncio: events are an asynchronous iterator, and orders are awaited."""
from __future__ import annotations

import asyncio
import os
import select
import threading
from typing import Any, AsyncIterator, Awaitable, Callable, Dict, List, Optional, Union

from ._core import Core
from ._events import Event
from ._lines import when_ready
from ._values import CLOSED, Answer, BridgeError, Notice, Pending
from ._words import Outcome


class AsyncSession(Core[Awaitable[Answer], Awaitable[List[Pending]], Awaitable[Outcome], Awaitable[bytes],
                        Awaitable[None], Awaitable[float]]):
    """The same as Session for asyncio: `async for event in session`, and `await` before each order.

    Use it in one event loop. A thread reads the input, so that nothing waits in the loop.
    """

    def __init__(self, *, on_notice: Optional[Callable[[Notice], None]] = None, input: int = 0,
                 replies: Optional[int] = None) -> None:
        super().__init__(on_notice=on_notice, input=input, replies=replies)
        self._waiting: Dict[int, asyncio.Future[Dict[str, Any]]] = {}
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._consumers: List[asyncio.Future[None]] = []

    def __aiter__(self) -> AsyncIterator[Event]:
        return self.events()

    async def events(self) -> AsyncIterator[Event]:
        """The events in the order of delivery, until the daemon ends the input."""
        loop = self._start()
        while True:
            event = self._next_event()
            while event is not None:
                yield event
                event = self._next_event()
            if self._is_over:
                return
            consumer: asyncio.Future[None] = loop.create_future()
            self._consumers.append(consumer)
            await consumer

    async def _ask(self, members: Dict[str, Any], read: Callable[[Dict[str, Any]], Any]) -> Any:
        loop = self._start()
        if self._is_over:
            raise BridgeError(*CLOSED)
        reference = self._next_reference()
        waiting: asyncio.Future[Dict[str, Any]] = loop.create_future()
        self._waiting[reference] = waiting
        self._send({**members, "ref": reference})
        try:
            return read(await waiting)
        finally:
            self._waiting.pop(reference, None)

    def _answer(self, reference: Any, answer: Union[Dict[str, Any], BridgeError]) -> bool:
        waiting = self._waiting.get(reference)
        if waiting is None:
            return False
        if waiting.done():
            pass
        elif isinstance(answer, BridgeError):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)
        return True

    def _read_available(self) -> None:
        """Nothing waits: lines are handled as they come, while the loop runs."""

    def _start(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            threading.Thread(target=self._supply, args=(self._loop,), name="wakehandler", daemon=True).start()
        return self._loop

    def _supply(self, loop: asyncio.AbstractEventLoop) -> None:
        chunk = b" "
        while chunk:
            chunk = when_ready(self._input, select.POLLIN, lambda: os.read(self._input, 65_536))
            try:
                loop.call_soon_threadsafe(self._take, chunk)
            except RuntimeError:
                # The loop was closed: nobody takes what comes.
                return

    def _take(self, chunk: bytes) -> None:
        self._append(chunk)
        while self._lines:
            self._handle(self._lines.popleft())
        if self._is_ended:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(BridgeError(*CLOSED))
        consumers, self._consumers = self._consumers, []
        for consumer in consumers:
            if not consumer.done():
                consumer.set_result(None)
