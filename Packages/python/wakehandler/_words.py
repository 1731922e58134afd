"""The daemon's words as enums: known members, and room for the words of later versions."""
from __future__ import annotations

import enum
from typing import Type, TypeVar

Self = TypeVar("Self", bound="Word")


class Word(str, enum.Enum):
    """A word of the daemon. It equals its text: `event.kind == "data"`. A word of a later version becomes a member of its own."""

    @classmethod
    def _missing_(cls: Type[Self], value: object) -> Self:
        member = str.__new__(cls, str(value))
        member._name_ = str(value)
        member._value_ = str(value)
        return member

    # The text and not the class, in any version of Python.
    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, format_spec: str) -> str:
        return format(str(self.value), format_spec)


class EventKind(Word):
    """What an event is about."""

    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    DATA = "data"
    GAP = "gap"
    ATTENTION = "attention"
    ALARM_FIRED = "alarm.fired"
    POLL_DUE = "poll.due"
    JOB_DUE = "job.due"
    REGION_ENTERED = "region.entered"
    REGION_EXITED = "region.exited"
    MESSAGE_RECEIVED = "message.received"
    FLOW_STARTED = "flow.started"
    FLOW_INTERRUPTED = "flow.interrupted"
    FLOW_ENDED = "flow.ended"
    TRANSFER_FINISHED = "transfer.finished"
    TRANSFER_CHALLENGE = "transfer.challenge"
    TRANSFER_SETTLED = "transfer.settled"
    SOCKET_OPENED = "socket.opened"
    SOCKET_READABLE = "socket.readable"
    SOCKET_CLOSED = "socket.closed"
    SOCKET_KEEPALIVE = "socket.keepalive"
    PERIPHERAL_WRITTEN = "peripheral.written"
    PERIPHERAL_READ = "peripheral.read"
    PERIPHERAL_SUBSCRIBED = "peripheral.subscribed"
    PERIPHERAL_UNSUBSCRIBED = "peripheral.unsubscribed"
    PERIPHERAL_CONFIRMED = "peripheral.confirmed"

    @property
    def is_of_device(self) -> bool:
        """False for what is scheduled, or comes by other ways than from a device."""
        return "." not in self


class NoticeKind(Word):
    """What a notice is about."""

    RESTORED = "restored"
    RESUMED = "resumed"
    EXPIRING = "expiring"
    TERMINATING = "terminating"
    MEMORY = "memory"
    TIME = "time"
    STORAGE = "storage"
    BRIDGE = "bridge"
    ERROR = "error"


class Result(Word):
    """How an event ended: for statistics, and for how soon the next poll comes."""

    USEFUL = "useful"
    NOTHING = "nothing"
    FAILED = "failed"


class GapCause(Word):
    """Why events were lost."""

    LINK = "link"
    OVERFLOW = "overflow"
    POLICY = "policy"
    STORM = "storm"
    STOPPED = "stopped"
    RETENTION = "retention"
    DURABILITY = "durability"
    DEAD_LETTER = "dead-letter"
    BRIDGE_RESTART = "bridge-restart"


class ExpirationReason(Word):
    """Why your time ends."""

    BUDGET = "budget"
    EXTENSION = "extension"
    LOCK = "lock"
    OPERATOR = "operator"
    SYSTEM_SLEEP = "system-sleep"
    MEMORY = "memory"
    THERMAL = "thermal"
    SHUTDOWN = "shutdown"
    CONDITION = "condition"
    STALLED = "stalled"
    MAX_RUN = "max-run"
    CANCELLED = "cancelled"


class Outcome(Word):
    """What became of an order."""

    SET = "set"
    SUBMITTED = "submitted"
    REPLACED = "replaced"
    CANCELLED = "cancelled"
    NOT_PENDING = "not-pending"
    REGISTERED = "registered"
    NEVER = "never"
    ORDERED = "ordered"
    KNOWN = "known"
    RESUMED = "resumed"
    RECONNECTING = "reconnecting"
    INSIDE = "inside"
    OUTSIDE = "outside"
    UNKNOWN = "unknown"
    OPEN = "open"
    WAITING = "waiting"
    CLOSED = "closed"
    SERVED = "served"
    BEHIND = "behind"


class PendingSource(Word):
    """What is pending."""

    ALARM = "alarm"
    POLL = "poll"
    JOB = "job"
    INBOX = "inbox"
    FLOW = "flow"
    TRANSFER = "transfer"
    SOCKET = "socket"
    PERIPHERAL = "peripheral"


class PendingState(Word):
    """How far it is."""

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
