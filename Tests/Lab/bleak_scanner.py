"""What one would write with bleak to hear broadcasters: prints `heard` once, counts, and goes on until it is killed."""
import asyncio

from bleak import BleakScanner

count = 0


def hear(device, advertisement):
    global count
    if advertisement.manufacturer_data.get(0xFFFE) is None:
        return
    count += 1
    if count == 1:
        print("heard", flush=True)


async def main():
    async with BleakScanner(hear):
        await asyncio.Event().wait()

asyncio.run(main())
