"""Runs all ready tasks, without a clock."""

import asyncio


async def ease(turns: int = 20) -> None:
    """Run all ready tasks for a few turns of the event loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
