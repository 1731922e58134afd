"""A handler of Python's logging, whose lines go to the log of the bridge."""
from __future__ import annotations

import logging


class LogHandler(logging.Handler):
    """Writes records to stdout, and so to the log, at once: `logging.basicConfig(handlers=[wakehandler.LogHandler()])`.

    A line of another level than INFO begins with it: `warning: the disk is nearly full`.
    """

    def emit(self, record: logging.LogRecord) -> None:
        try:
            level = "" if record.levelno == logging.INFO else record.levelname.lower() + ": "
            print(level + self.format(record), flush=True)
        except Exception:
            self.handleError(record)
