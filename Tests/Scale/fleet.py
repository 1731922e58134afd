"""What a broker pays for a fleet of bridges, measured with a real mosquitto, and what that comes to for a million devices.

    fleet.py [--bridges N] [--seconds S] [--devices D] [--batch S] [--bytes B]

Each simulated bridge keeps one MQTT connection and publishes, every BATCH seconds, one message with all that its DEVICES
said, QoS 1: kept until the broker has acknowledged it, as an outbox is. One subscriber takes all of it. Printed are the
broker's processor time for a message and its memory for a connection, and the sums. Plain TCP on this machine, without TLS.
"""

import argparse
import asyncio
import itertools
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Lab"))
from rhythm import pace  # noqa: E402
from waiting import until  # noqa: E402

MILLION = 1_000_000
# Each device says so much a second.
RATE = 1
# Seconds that a busy machine may take for what is under way.
PATIENCE = 10


def packet(kind, body):
    length = []
    rest = len(body)
    while True:
        rest, low = divmod(rest, 128)
        length.append(low | (0x80 if rest else 0))
        if not rest:
            return bytes([kind, *length]) + body


def text(word):
    return len(word).to_bytes(2, "big") + word.encode()


async def whole(reader):
    """One packet: its first byte and its body."""
    kind = (await reader.readexactly(1))[0]
    length, shift = 0, 0
    while True:
        byte = (await reader.readexactly(1))[0]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return kind, await reader.readexactly(length)


async def connect(port, name):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(packet(0x10, text("MQTT") + bytes([4, 2, 0, 0]) + text(name)))
    kind, body = await whole(reader)
    if kind != 0x20 or body[1] != 0:
        raise SystemExit(f"the broker refused {name}: {body.hex()}")
    return reader, writer


class Broker:
    """A mosquitto of our own, that keeps nothing on disk."""

    def __init__(self):
        program = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        if not program:
            raise SystemExit("fleet.py: there is no mosquitto; install the Debian package mosquitto")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory()
        file = pathlib.Path(self.folder.name, "mosquitto.conf")
        file.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nlog_type error\n"
            "max_queued_messages 0\nmax_inflight_messages 0\n"
        )
        self.process = subprocess.Popen([program, "-c", file])

    def answers(self):
        with socket.socket() as trial:
            return trial.connect_ex(("127.0.0.1", self.port)) == 0

    def processor(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self):
        """Anonymous bytes that are resident."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                return int(line.split()[1]) * 1024
        return 0

    def end(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()


async def subscribe(port, counts):
    reader, writer = await connect(port, "everything")
    writer.write(packet(0x82, b"\0\1" + text("fleet/#") + b"\0"))
    await whole(reader)

    async def count():
        try:
            while True:
                kind, _ = await whole(reader)
                counts["taken"] += kind >> 4 == 3
        finally:
            writer.close()

    return asyncio.create_task(count())


async def bridge(link, number, payload, batch, end, counts, delays):
    """Publishes a batch, waits for its acknowledgement, and for the next."""
    reader, writer = link
    await pace(time.monotonic() + batch * number / counts["bridges"])
    for identifier in itertools.count(1):
        begun = time.monotonic()
        if begun >= end:
            return
        body = text(f"fleet/{number}") + (identifier % 65535 + 1).to_bytes(2, "big") + payload
        writer.write(packet(0x32, body))
        kind, _ = await whole(reader)
        counts["acknowledged"] += kind == 0x40
        delays.append(time.monotonic() - begun)
        await pace(begun + batch)


async def measure(broker, options):
    counts = {"bridges": options.bridges, "acknowledged": 0, "taken": 0}
    listener = await subscribe(broker.port, counts)
    before = broker.memory()
    links = [await connect(broker.port, f"bridge-{number}") for number in range(options.bridges)]
    each = (broker.memory() - before) / options.bridges
    payload = bytes(options.devices * RATE * options.batch * options.bytes)
    # So that they are measured often enough, the fleet's time runs faster than its batches are long.
    pace = options.seconds / 5
    delays, began = [], broker.processor()
    end = time.monotonic() + options.seconds
    lives = [bridge(link, number, payload, pace, end, counts, delays) for number, link in enumerate(links)]
    await asyncio.gather(*lives)
    late = time.monotonic() + PATIENCE
    while counts["taken"] < counts["acknowledged"] and not listener.done() and time.monotonic() < late:
        await pace(time.monotonic() + 0.01)
    if listener.done():
        listener.result()
    listener.cancel()
    cost = (broker.processor() - began) / max(counts["acknowledged"], 1)
    return counts, each, cost, len(payload), delays


def tell(options, counts, each, cost, size, delays):
    devices = options.devices
    bridges = -(-MILLION // devices)
    messages = bridges / options.batch
    print(f"{options.bridges} bridges of {devices} devices, a message of {size} bytes each {options.batch} s:")
    print(f"  acknowledged {counts['acknowledged']}, taken by the subscriber {counts['taken']}")
    print(f"  the broker: {cost * 1e6:.0f} µs of processor a message, {each / 1024:.1f} KiB a connection")
    print(f"  acknowledged within {statistics.median(delays) * 1e3:.2f} ms, the slowest within {max(delays) * 1e3:.1f} ms")
    print(f"a million devices of {RATE} event a second:")
    print(f"  1,000,000 / {devices} = {bridges:,} bridges, as many connections, {bridges * each / 2**30:.2f} GiB at the broker")
    print(f"  {bridges:,} / {options.batch} s = {messages:,.0f} messages a second, {messages * cost:.2f} of a processor")
    print(f"  {messages:,.0f} * {size} bytes = {messages * size / 1e6:,.1f} MB a second")
    print(f"  one message an event instead: 1,000,000 a second, {MILLION * cost:.0f} processors")
    lost = counts["acknowledged"] - counts["taken"]
    if lost:
        raise SystemExit(f"fleet.py: {lost} messages were acknowledged and not handed on")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bridges", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--devices", type=int, default=10)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--bytes", type=int, default=40)
    options = parser.parse_args()
    broker = Broker()
    try:
        if not until(broker.answers, PATIENCE):
            raise SystemExit("fleet.py: mosquitto did not begin to listen")
        tell(options, *asyncio.run(measure(broker, options)))
    finally:
        broker.end()


if __name__ == "__main__":
    sys.exit(main())
