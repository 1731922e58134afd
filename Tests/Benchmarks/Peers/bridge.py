"""The whole job as one would write it with asyncio: read, journal in SQLite, thaw, deliver, read the answer, freeze.

    bridge.py FOLDER BOARD HANDLER BYTES [awake]

The device is descriptor 0 and says four bytes an event, of which BYTES are read at once. Written with care, since it is
compared with: one commit for all that one read brought, statements that SQLite keeps, descriptors that stay open.
"""
import asyncio
import fcntl
import json
import os
import signal
import socket
import sqlite3
import sys
from datetime import datetime, timezone

FRAME = 4
BATCH = 64  # as many events in one delivery as the bridge has
PIPE = 1 << 20


def own_cgroup():
    """Ours in the unified hierarchy, wherever that is mounted."""
    with open("/proc/self/mounts") as mounts:
        mount = next(words[1] for words in map(str.split, mounts) if words[2] == "cgroup2")
    with open("/proc/self/cgroup") as lines:
        below = next(line[3:].strip() for line in lines if line.startswith("0::"))
    return mount + below.rstrip("/")


class Handler:
    """The process, in a cgroup of its own; frozen while it has nothing to do, unless it is to stay awake."""

    def __init__(self, program, board, stays_awake):
        self.group = f"{own_cgroup()}/wakebridge-peer-{os.getpid()}"
        os.mkdir(self.group)
        self.freezer = os.open(self.group + "/cgroup.freeze", os.O_WRONLY | os.O_CLOEXEC)
        self.stays_awake = stays_awake
        self.is_frozen = False
        reader, self.input = os.pipe()
        fcntl.fcntl(self.input, fcntl.F_SETPIPE_SZ, PIPE)
        self.replies, theirs = socket.socketpair()
        self.process = os.fork()
        if self.process == 0:
            with open(self.group + "/cgroup.procs", "w") as procs:
                procs.write("0")
            os.dup2(reader, 0)
            os.dup2(theirs.fileno(), 3)
            os.execv(program, [program, board])
        os.close(reader)
        theirs.close()
        self.replies.setblocking(False)

    def write(self, text):
        os.write(self.input, text.encode())
        if self.is_frozen:
            os.pwrite(self.freezer, b"0", 0)
            self.is_frozen = False

    def rest(self):
        if not self.stays_awake:
            os.pwrite(self.freezer, b"1", 0)
            self.is_frozen = True

    def end(self):
        os.pwrite(self.freezer, b"0", 0)
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.rmdir(self.group)


class Bridge:
    def __init__(self, folder, handler, limit, ended):
        self.handler = handler
        self.limit = limit
        self.ended = ended
        self.sequence = 0
        self.queue = []
        self.unanswered = 0
        self.answers = b""
        self.journal = sqlite3.connect(folder + "/journal.sqlite", isolation_level=None)
        self.journal.execute("PRAGMA journal_mode = WAL")
        self.journal.execute("PRAGMA synchronous = NORMAL")
        self.journal.execute("PRAGMA wal_autocheckpoint = 0")
        self.journal.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, time TEXT, bytes BLOB)")

    def heard(self):
        data = os.read(0, self.limit)
        if not data:
            return self.ended.set_result(None)
        time = datetime.now(timezone.utc).isoformat()
        events = []
        for place in range(0, len(data), FRAME):
            self.sequence += 1
            events.append((self.sequence, time, data[place:place + FRAME]))
        self.journal.execute("BEGIN")
        self.journal.executemany("INSERT INTO events VALUES (?, ?, ?)", events)
        self.journal.execute("COMMIT")
        self.queue += events
        self.deliver()

    def deliver(self):
        if self.unanswered or not self.queue:
            return
        batch, self.queue = self.queue[:BATCH], self.queue[BATCH:]
        self.unanswered = batch[-1][0]
        notice = self.notice() if self.handler.is_frozen else ""
        self.handler.write(notice + "".join(self.line(*event) for event in batch))

    def notice(self):
        return json.dumps({
            "specversion": "1.0", "id": f"peer-n{self.sequence}", "source": "/bridge", "type": "wakebridge.resumed",
            "time": datetime.now(timezone.utc).isoformat(), "data": {"reason": "data", "open": []}}) + "\n"

    def line(self, sequence, time, data):
        value = {"bpm": data[1], "rr_s": [int.from_bytes(data[2:4], "little") / 1024]}
        # The null handler looks for the number as the bridge writes it, without a space.
        return json.dumps({
            "specversion": "1.0", "id": f"peer-{sequence}", "source": "/bluetooth/C0:F1:F2:F3:F4:01",
            "type": "wakebridge.device.data", "subject": "chest-strap", "time": time,
            "datacontenttype": "application/json", "authenticated": False, "seq": sequence, "attempt": 1,
            "budgetms": 10000, "data": {"characteristic": "2a37", "value": value, "raw": data.hex()}},
            separators=(",", ":")) + "\n"

    def answered(self):
        *lines, self.answers = (self.answers + self.handler.replies.recv(1 << 16)).split(b"\n")
        if not lines:
            return
        done = max(json.loads(line)["ack"] for line in lines)
        self.journal.execute("DELETE FROM events WHERE seq <= ?", (done,))
        if done >= self.unanswered:
            self.unanswered = 0
            self.deliver()
            if not self.unanswered:
                self.handler.rest()


async def main(folder, board, program, limit, stays_awake):
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    handler = Handler(program, board, stays_awake)
    bridge = Bridge(folder, handler, limit, ended)
    os.set_blocking(0, False)
    loop.add_reader(0, bridge.heard)
    loop.add_reader(handler.replies, bridge.answered)
    await ended
    loop.remove_reader(0)
    handler.end()

asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:] == ["awake"]))
