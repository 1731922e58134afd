"""Write WakeBridge handlers in Python: events come in on stdin, answers go out on descriptor 3.

    import wakehandler

    session = wakehandler.Session()
    for event in session:
        with event:
            session.log(f"{event.device}: {event.value}")

The end of the `with` block finishes the event, and an exception in it gives the event back. Without one, an event stays
yours until you call done() or retry(). One that you never finish comes again, and holds back the acknowledgement of
those after it, unless it is a long job. A session belongs to one thread. AsyncSession is the same for asyncio.
"""
from ._asyncio import AsyncSession
from ._events import Event, Task
from ._logging import LogHandler
from ._session import Session
from ._transfers import TransferDelegate, TransferSession, TransferTask
from ._values import Answer, BridgeError, Expired, Notice, Pending, Restoration
from ._words import (EventKind, ExpirationReason, GapCause, NoticeKind, Outcome, PendingSource, PendingState, Result,
                     Word)

__all__ = ["Answer", "AsyncSession", "BridgeError", "Event", "EventKind", "Expired", "ExpirationReason", "GapCause",
           "LogHandler", "Notice", "NoticeKind", "Outcome", "Pending", "PendingSource", "PendingState", "Restoration",
           "Result", "Session", "Task", "TransferDelegate", "TransferSession", "TransferTask", "Word"]
