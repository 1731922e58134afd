"""The rhythm of a device that lives in an event loop. It is apart from waiting.py, whose users are spared asyncio's import."""
import asyncio
import time


async def pace(due):
    """Returns at the instant `due` of CLOCK_MONOTONIC; where it has passed, the loop's other tasks have their turn first."""
    await asyncio.sleep(max(0, due - time.monotonic()))
