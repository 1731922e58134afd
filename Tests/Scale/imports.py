#!/usr/bin/env python3
"""How fast long captures are imported, and in how much memory: btsnoop and pcapng, beside tshark on the same files.

    imports.py TOOL [--megabytes 1024] [--no-tshark]

The packets are those of a strap with short values, a sensor with long ones, and bystanders that advertise. Exit 1 where an import
takes more memory than one of a megabyte does (with 4 MB to spare), or is slower than the 200 MB/s that are the goal.
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile
import time

EPOCH = 0x00DCDDB30F2F8000
START = 1_795_000_000_000_000


def packets():
    """A second of the air, as (received, packet)."""
    strap = bytes.fromhex("01f4f3f2f1c0")
    connected = bytes.fromhex("043e13010040000001") + strap + bytes.fromhex("180000002a0000")
    yield True, connected
    rounds = 0
    while True:
        for value in range(40):
            unit = struct.pack("<BHBBH", 0x1B, 3, 0x10, 60 + value % 40, 800 + rounds % 100)
            yield True, acl(unit + bytes(13))
        for place in range(12):
            yield True, acl(struct.pack("<BH", 0x1B, 6) + bytes((place + byte) & 255 for byte in range(240)))
        for neighbour in range(16):
            data = bytes((2, 1, 6, 9, 9)) + b"Neighbou"
            report = bytes((2, 1, 0, 1)) + bytes((neighbour, 1, 2, 3, 4, 0xC5, len(data))) + data + b"\xc0"
            yield True, bytes((4, 0x3E, len(report))) + report
        rounds += 1


def acl(unit):
    frame = struct.pack("<HH", len(unit), 4) + unit
    return bytes((2, 0x40, 0x20)) + struct.pack("<H", len(frame)) + frame


def btsnoop(packet, received, micros):
    return struct.pack(">IIIIq", len(packet), len(packet), int(received), 0, micros + EPOCH) + packet


def pcapng(packet, received, micros):
    body = struct.pack(">I", int(received)) + packet
    padded = body + bytes(-len(body) % 4)
    length = 32 + len(padded)
    head = struct.pack("<IIIIIII", 6, length, 0, micros >> 32, micros & 0xFFFFFFFF, len(body), len(body))
    return head + padded + struct.pack("<I", length)


FORMS = {
    "btsnoop": (b"btsnoop\0" + struct.pack(">II", 1, 1002), btsnoop),
    "pcapng": (
        struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)
        + struct.pack("<IIHHII", 1, 20, 201, 0, 0, 20),
        pcapng,
    ),
}


def write(path, form, size):
    """Records of 20,000 packets again and again, with times that go on."""
    head, record = FORMS[form]
    source = packets()
    made = [next(source) for _ in range(20_000)]
    micros, written = START, len(head)
    with open(path, "wb") as file:
        file.write(head)
        while written < size:
            block = bytearray()
            for received, packet in made[1 if micros > START else 0 :]:
                block += record(packet, received, micros)
                micros += 1_000
            file.write(block)
            written += len(block)
    return written


def run(words):
    """Seconds, and the most memory in MB that it had."""
    begun = time.monotonic()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    talk = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(words)}: {talk.decode(errors='replace')}")
    return time.monotonic() - begun, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--no-tshark", action="store_true")
    options = parser.parse_args()
    fine = True
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        for form in FORMS:
            small, large = f"{folder}/small", f"{folder}/large"
            write(small, form, 1 << 20)
            size = write(large, form, options.megabytes << 20)
            output = f"{folder}/out.trace"
            _, little = run([options.tool, "import", small, "-o", output])
            seconds, memory = run([options.tool, "import", large, "-o", output])
            rate = size / seconds / 1e6
            fine = fine and memory <= little + 4 and rate >= 200
            print(f"{form}: {size / 1e6:.0f} MB in {seconds:.2f} s, {rate:.0f} MB/s; ", end="")
            print(f"memory {memory:.1f} MB, of 1 MB of it {little:.1f} MB; trace {os.path.getsize(output) / 1e6:.0f} MB")
            os.remove(output)
            if not options.no_tshark:
                words = ["tshark", "-r", large, "-Y", "btatt.opcode==0x1b", "-T", "fields", "-e", "btatt.value"]
                print(f"{form}: tshark {run(words)[0]:.1f} s", flush=True)
            os.remove(large)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
