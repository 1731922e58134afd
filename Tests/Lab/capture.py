"""Writes all that goes over the virtual air, and what passes between bluetoothd and the kernel, to a btsnoop file.

    capture.py FILE

The kernel's monitor channel as btmon shows it and Wireshark reads it; btmon itself dies of some of the packets here.
"""
import ctypes
import socket
import struct
import sys
import time

MONITOR = 2
SO_TIMESTAMP, SO_RCVBUFFORCE = 29, 33
EPOCH = 0x00E03AB44A676000 - 946684800 * 1000000            # btsnoop counts microseconds from the year 0


def channel(number):
    """A raw HCI socket on one of the kernel's channels, which Python's own cannot name; with the kernel's own times."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.socket(31, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 1)
    address = struct.pack("<HHH", 31, 0xFFFF, number)
    if descriptor < 0 or libc.bind(descriptor, address, len(address)):
        raise OSError(ctypes.get_errno(), "cannot open the HCI channel")
    opened = socket.socket(31, socket.SOCK_RAW, 1, descriptor)
    opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMP, 1)
    opened.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    return opened


def main():
    air = channel(MONITOR)
    with open(sys.argv[1], "wb", buffering=0) as file:
        file.write(b"btsnoop\0" + struct.pack(">II", 1, 2001))
        while True:
            packet, notes, _, _ = air.recvmsg(4096, 64)
            seconds, micros = struct.unpack("qq", notes[0][2]) if notes else (int(time.time()), 0)
            at = seconds * 1000000 + micros + EPOCH
            opcode, index, _ = struct.unpack_from("<HHH", packet)
            body = packet[6:]
            file.write(struct.pack(">IIIIQ", len(body), len(body), index << 16 | opcode, 0, at) + body)


def records(path):
    """(wall seconds, opcode, index, bytes) of each record."""
    with open(path, "rb") as file:
        file.read(16)
        while len(head := file.read(24)) == 24:
            _, size, flags, _, at = struct.unpack(">IIIIQ", head)
            yield (at - EPOCH) / 1e6, flags & 0xFFFF, flags >> 16, file.read(size)


if __name__ == "__main__":
    main()
