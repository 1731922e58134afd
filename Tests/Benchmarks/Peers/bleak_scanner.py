"""What one would write with bleak to hear some of the broadcasters around: always awake, and it does nothing else.

    bleak_scanner.py BOARD ADDRESS...
"""
import asyncio
import sys
import time

from bleak import BleakScanner

from board import Board


async def main(board, *addresses):
    wanted = set(addresses)

    def hear(device, advertisement):
        if device.address in wanted:
            board.note(time.monotonic_ns())

    async with BleakScanner(hear):
        await asyncio.Event().wait()

asyncio.run(main(Board(sys.argv[1]), *sys.argv[2:]))
