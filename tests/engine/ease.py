"""Letting what is under way come to rest, without a clock."""

import asyncio


async def ease(turns: int = 20) -> None:
    """Give every task that can go on its turn, a few times over."""
    for _ in range(turns):
        await asyncio.sleep(0)
