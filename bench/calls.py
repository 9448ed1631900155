"""Counts how many calls complete in a given time."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

CALLERS: Final = 100


async def calls_per_second(seconds: float, call: Callable[[], Awaitable[object]], callers: int = 1) -> float:
    """Return the rate of `callers` that each await one call before the next. The first call does not count."""
    await call()
    began, count = time.monotonic(), 0

    async def repeat() -> None:
        nonlocal count
        while time.monotonic() - began < seconds:
            await call()
            count += 1

    await asyncio.gather(*(repeat() for _ in range(callers)))
    return count / (time.monotonic() - began)


def plain_calls_per_second(seconds: float, call: Callable[[], object]) -> float:
    """Return the rate of one caller of a function that blocks."""
    call()
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        call()
        count += 1
    return count / (time.monotonic() - began)
