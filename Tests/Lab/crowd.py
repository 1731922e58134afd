"""A crowd of advertisers on btvirt's virtual air: many addresses, a few controllers that take turns with them.

    crowd.py [--count 200] [--tags]

Everybody has a number. One in ten is a strap that cannot be connected; one in ten is the same tag under another private
address, as telephones have them; one in ten sends what is no advertising data; the others are strangers with a
manufacturer's data only. Plain HCI, no Bumble: a turn is disable, set address, set data, enable, and btvirt carries an
advertisement when it is enabled. With --tags all are tags of one kind, each of which counts, and with --beacon there is
one beacon alone. Prints `ready`, and then once a second how many there were.
"""
import argparse
import itertools
import socket
import struct
import time

from waiting import pace

RATE = 200                                   # advertisements a second, at most
RESET, ADDRESS, PARAMETERS, DATA, ENABLE = 0x0C03, 0x2005, 0x2006, 0x2008, 0x200A
NOT_CONNECTABLE, RANDOM_ADDRESS, ALL_CHANNELS = 3, 1, 7
SHOP = bytes.fromhex("f7826da64fa24e988024bc5b71e0893e")
TAG = b"\x03\x03\x0d\x18" b"\x0b\x09Wanderer 7" b"\x05\xff\xff\xff\x07\x00"

# What must not be believed: each is put where advertising data belongs, 31 bytes at most.
MALFORMED = [
    b"\x1f\x09short",                            # a name that is longer than all there is
    b"\x02\x01\x06\x00\x00\x03\x03",             # the end, and then something; a list without a member
    b"\x04\x03\x0d\x18\x0f",                     # half a service
    b"\x0a\x09\xff\xfe\x80\xc3(\x1b[2J",         # a name in no encoding, which clears the screen
    b"\xff" * 31,
    b"",
    b"\x01\x09\x01\xff\x02\xff\x00",             # a name without a letter, manufacturers that are none
    b"\x11\x07" + b"\x00" * 15,                  # 15 bytes of a UUID that has 16
    b"\x09\x09a\nb\tc\rd\x00",                   # line ends and tabs
    b"\x05\x16\x0d\x18\x01\x02\x02\x0a",         # service data, then a power that is missing
]


class Radio:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.command(RESET)
        self.command(PARAMETERS, struct.pack("<HHBBB6sBB", 160, 160, NOT_CONNECTABLE, RANDOM_ADDRESS, 0, bytes(6),
                                             ALL_CHANNELS, 0))

    def command(self, opcode, body=b""):
        """Sends it, and waits for its Command Complete."""
        self.socket.sendall(struct.pack("<BHB", 1, opcode, len(body)) + body)
        while True:
            _, event, size = self.read(3)
            packet = self.read(size)
            if event == 0x0E and struct.unpack_from("<H", packet, 1)[0] == opcode:
                return packet[3]

    def read(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError("btvirt closed the socket")
            data += part
        return data

    def advertise(self, address, data):
        self.command(ENABLE, b"\0")
        self.command(ADDRESS, address)
        self.command(DATA, bytes([len(data)]) + data.ljust(31, b"\0"))
        self.command(ENABLE, b"\1")


def person(number):
    """Address, as it goes over the air, and advertising data."""
    kind, turn = number % 10, number // 10
    if kind == 1:                                # a resolvable private address, whose two highest bits are 01
        return struct.pack("<IBB", number * 2654435761 % 2**32, 0xBB, 0x5A), TAG
    address = struct.pack("<IBB", number, 0xAA, 0xC0)
    if kind == 2:
        return address, MALFORMED[turn % len(MALFORMED)]
    name = b"Strap %d" % number if kind == 0 else b"Stranger %d" % number
    service = b"\x03\x03\x0d\x18" if kind == 0 else b""
    return address, service + bytes([len(name) + 1, 9]) + name + b"\x05\xff\xff\xff" + struct.pack("<H", number)


def tag(number, turn):
    """One that says its number and a count, which is another one each time."""
    said = struct.pack("<HH", number, turn & 0xFFFF)
    return struct.pack("<IBB", number, 0xAA, 0xC0), b"\x02\x01\x06\x08\xff\xfe\xff\x01" + said


def beacon(number):
    """An iBeacon of a shop, whose minor number is its own."""
    return (struct.pack("<IBB", number, 0xBE, 0xC0),
            b"\x1a\xff\x4c\x00\x02\x15" + SHOP + struct.pack(">HHb", 1, number, -59))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--tags", action="store_true")
    parser.add_argument("--beacon", action="store_true", help="one beacon alone, ten times a second")
    options = parser.parse_args(arguments)
    radios = [Radio("/tmp/bt-server-le") for _ in range(4)]
    rate = 10 if options.beacon else RATE
    if options.beacon:
        turns = ([beacon(7)] for _ in itertools.count())
    elif options.tags:
        turns = ([tag(number, turn) for number in range(options.count)] for turn in itertools.count())
    else:
        turns = itertools.repeat([person(number) for number in range(options.count)])
    print("ready", flush=True)
    begun = said = time.monotonic()
    for done, (radio, one) in enumerate(zip(itertools.cycle(radios), itertools.chain.from_iterable(turns)), 1):
        radio.advertise(*one)
        now = time.monotonic()
        if now - said >= 1:
            said = now
            print(f"{now:.3f} advertisements={done} rate={done / (now - begun):.0f}", flush=True)
        pace(begun + done / rate)


if __name__ == "__main__":
    main()
