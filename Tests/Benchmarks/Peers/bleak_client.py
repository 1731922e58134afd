"""What one would write with bleak to hear a strap's beats: always awake, and it does nothing else.

    bleak_client.py BOARD ADDRESS PATH

PATH is bluetoothd's object: who is connected advertises no more, so that no scan of bleak's would find it.
"""
import asyncio
import sys
import time

from bleak import BleakClient
from bleak.backends.device import BLEDevice

from board import Board


async def main(board, address, path):
    client = BleakClient(BLEDevice(address, None, {"path": path}))
    await client.connect()
    await client.start_notify(
        "00002a37-0000-1000-8000-00805f9b34fb", lambda _, value: board.note(time.monotonic_ns()))
    await asyncio.Event().wait()

asyncio.run(main(Board(sys.argv[1]), sys.argv[2], sys.argv[3]))
