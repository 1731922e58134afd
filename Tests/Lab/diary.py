"""What a peripheral tells the test of its life."""
import time


class Log:
    """The strap's diary, written out a few times a second: a thousand beats a second must not wait for a disk."""

    def __init__(self, path):
        self.file = open(path, "w", buffering=1 << 20, encoding="utf-8", errors="backslashreplace")

    def __call__(self, word, **fields):
        parts = [f"{time.monotonic():.6f}", word] + [f"{k}={v}" for k, v in fields.items()]
        self.file.write(" ".join(parts) + "\n")

    def flush(self):
        self.file.flush()
