"""The driver of all duties: it sleeps, wakes, backs off and stops."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from foliot.domain.instant import SECOND, Millis
from foliot.engine.loop import IMMEDIATELY, Loop
from foliot.errors import SchemaTooNew, StorageGone, StorageUnavailable
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease


class Chore:
    """A duty with results set by the test, which counts its rounds."""

    name = "chore"

    def __init__(self, *rests: Millis | Exception | None) -> None:
        self.wake = asyncio.Event()
        self.rounds = 0
        self._rests = list(rests)

    async def round(self) -> Millis | None:
        self.rounds += 1
        rest = self._rests.pop(0) if self._rests else None
        if isinstance(rest, Exception):
            raise rest
        return rest


@contextmanager
def running(chore: Chore, clock: VirtualClock) -> Iterator[Loop]:
    loop = Loop(chore, clock)
    task = asyncio.create_task(loop.run())
    yield loop
    task.cancel()


async def test_a_duty_sleeps_for_the_returned_delay(clock: VirtualClock) -> None:
    chore = Chore(SECOND)
    with running(chore, clock):
        await ease()
        clock.advance(SECOND - 1)
        await ease()
        assert chore.rounds == 1

        clock.advance(1)
        await ease()

        assert chore.rounds == 2


async def test_a_duty_with_more_to_do_does_not_sleep(clock: VirtualClock) -> None:
    chore = Chore(IMMEDIATELY, IMMEDIATELY)
    with running(chore, clock):
        await ease()

        assert chore.rounds == 3


async def test_waking_a_duty_ends_its_sleep(clock: VirtualClock) -> None:
    chore = Chore(None, None)
    with running(chore, clock):
        await ease()

        chore.wake.set()
        await ease()

        assert chore.rounds == 2


async def test_a_wake_during_a_round_prevents_the_sleep(clock: VirtualClock) -> None:
    chore = Chore(None, None)
    chore.wake.set()
    with running(chore, clock):
        await ease()

        assert chore.rounds == 2
        assert not chore.wake.is_set()


async def test_a_wake_during_a_round_is_cleared_by_the_next_round(clock: VirtualClock) -> None:
    chore = Chore(IMMEDIATELY, None)
    chore.wake.set()
    with running(chore, clock):
        await ease()

        assert chore.rounds == 2


async def test_failing_rounds_are_repeated_with_a_growing_backoff(clock: VirtualClock) -> None:
    chore = Chore(*[OSError("away")] * 20)
    pauses = []
    with running(chore, clock):
        for _ in range(10):
            await ease()
            pauses.append(clock.next_alarm)
            clock.advance(clock.next_alarm or 0)

    assert pauses[:4] == [100, 200, 400, 800]
    assert pauses[-1] == 10 * SECOND


@pytest.mark.parametrize(
    ("error", "is_told"),
    [
        (StorageGone("deleted"), True),
        (SchemaTooNew(found=9, supported=4), True),
        (StorageUnavailable("away"), False),
        (OSError("away"), False),
    ],
)
async def test_a_fatal_error_is_reported(clock: VirtualClock, error: Exception, is_told: bool) -> None:
    told: list[Exception] = []
    loop = Loop(Chore(error), clock, told.append)
    task = asyncio.create_task(loop.run())
    await ease()
    task.cancel()

    assert told == [error] * is_told


async def test_a_successful_round_resets_the_backoff(clock: VirtualClock) -> None:
    chore = Chore(OSError("away"), OSError("away"), IMMEDIATELY, OSError("away"))
    with running(chore, clock):
        await ease()
        clock.advance(100)
        await ease()
        clock.advance(200)
        await ease()

        assert chore.rounds == 4
        assert clock.next_alarm == 100


async def test_stopping_a_loop_lets_its_round_end(clock: VirtualClock) -> None:
    gate = asyncio.Event()
    ended: list[str] = []

    class Slow(Chore):
        async def round(self) -> Millis | None:
            await gate.wait()
            ended.append("round")
            return None

    loop = Loop(Slow(), clock)
    task = asyncio.create_task(loop.run())
    await ease()

    loop.stop()
    await ease()
    assert not task.done()
    gate.set()
    await task

    assert ended == ["round"]


async def test_stopping_a_loop_ends_its_sleep(clock: VirtualClock) -> None:
    chore = Chore(Millis(3_600_000))
    with running(chore, clock) as loop:
        await ease()

        loop.stop()
        await ease()

        assert clock.waiting == 0
        assert chore.rounds == 1
