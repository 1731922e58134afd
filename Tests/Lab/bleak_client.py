"""What one would write with bleak: prints `beat CLOCK_MONOTONIC-seconds NUMBER` for each beat, until it is killed."""
import asyncio
import sys
import time

from bleak import BleakClient, BleakScanner


async def main(address):
    device = await BleakScanner.find_device_by_address(address, timeout=5) or address
    client = BleakClient(device)
    await client.connect()
    await client.start_notify(
        "00002a37-0000-1000-8000-00805f9b34fb",
        lambda _, value: print("beat", time.monotonic(), value[2] | value[3] << 8, flush=True))
    await asyncio.Event().wait()

asyncio.run(main(sys.argv[1]))
