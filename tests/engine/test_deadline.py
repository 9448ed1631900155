"""A deadline by a clock that tests can advance."""

import asyncio

import pytest

from foliot.domain.instant import SECOND
from foliot.engine.deadline import DeadlinePassed, deadline
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease

LIMIT = SECOND


async def wait_at_most(clock: VirtualClock, event: asyncio.Event) -> str:
    async with deadline(clock, LIMIT):
        await event.wait()
    return "done"


async def test_work_within_the_deadline_is_not_cancelled(clock: VirtualClock) -> None:
    event = asyncio.Event()
    task = asyncio.create_task(wait_at_most(clock, event))
    await ease()

    clock.advance(LIMIT - 1)
    event.set()

    assert await task == "done"
    await ease()
    assert clock.waiting == 0


async def test_work_that_takes_too_long_is_cancelled(clock: VirtualClock) -> None:
    task = asyncio.create_task(wait_at_most(clock, asyncio.Event()))
    await ease()

    clock.advance(LIMIT)

    with pytest.raises(DeadlinePassed):
        await task


async def test_a_timeout_of_the_work_itself_is_not_the_deadline(clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError):
        async with deadline(clock, LIMIT):
            raise TimeoutError


async def test_an_external_cancellation_is_not_a_deadline(clock: VirtualClock) -> None:
    task = asyncio.create_task(wait_at_most(clock, asyncio.Event()))
    await ease()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
