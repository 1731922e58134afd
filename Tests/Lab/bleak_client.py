"""What one would write with bleak: prints `beat CLOCK_MONOTONIC-seconds NUMBER` for each beat, until it is killed.

    bleak_client.py ADDRESS PATH

PATH is bluetoothd's object: who is connected advertises no more, so that no scan of bleak's would find it.
"""
import asyncio
import sys
import time

from bleak import BleakClient
from bleak.backends.device import BLEDevice


async def main(address, path):
    client = BleakClient(BLEDevice(address, None, {"path": path}))
    await client.connect()
    await client.start_notify(
        "00002a37-0000-1000-8000-00805f9b34fb",
        lambda _, value: print("beat", time.monotonic(), value[2] | value[3] << 8, flush=True))
    await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
