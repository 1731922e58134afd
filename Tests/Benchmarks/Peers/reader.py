"""A program that is always awake and does nothing but read: pyserial-asyncio on the device.

    reader.py BOARD      the device is descriptor 0
"""
import asyncio
import os
import sys
import time

import serial
import serial_asyncio

from board import Board


class Port(serial.Serial):
    """A serial port on a descriptor that is open already. It is the socket that all others are woken through too, and a
    socket has no line settings."""

    def __init__(self, descriptor):
        super().__init__()
        self.fd = descriptor
        self.is_open = True
        self.pipe_abort_read_r, self.pipe_abort_read_w = os.pipe()
        self.pipe_abort_write_r, self.pipe_abort_write_w = os.pipe()

    def _reconfigure_port(self, force_update=False):
        pass


class Reader(asyncio.Protocol):
    def __init__(self, board, ended):
        self.board = board
        self.ended = ended

    def data_received(self, data):
        self.board.note(time.monotonic_ns())

    def connection_lost(self, error):
        self.ended.set_result(None)


async def main(board):
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    os.set_blocking(0, False)
    serial_asyncio.SerialTransport(loop, Reader(board, ended), Port(0))
    await ended

asyncio.run(main(Board(sys.argv[1])))
