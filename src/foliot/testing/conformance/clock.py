"""What it means to be a clock: the promises of `foliot.ports.clock` as tests.

Subclass, and give a `clock` fixture.
"""

import asyncio

from foliot.domain.instant import Millis
from foliot.ports.clock import Clock


class ClockContract:
    """Every clock passes these, unchanged."""

    async def test_both_hands_count_whole_milliseconds(self, clock: Clock) -> None:
        assert isinstance(clock.now(), int)
        assert isinstance(clock.elapsed(), int)

    async def test_elapsed_never_goes_back(self, clock: Clock) -> None:
        readings = [clock.elapsed() for _ in range(100)]

        assert readings == sorted(readings)
        assert readings[0] > 0

    async def test_the_boot_has_a_name_that_stays(self, clock: Clock) -> None:
        assert clock.boot_id
        assert clock.boot_id == clock.boot_id

    async def test_a_set_event_ends_the_wait_at_once(self, clock: Clock) -> None:
        wake = asyncio.Event()
        wake.set()

        await clock.wait(wake, None)
        await clock.wait(wake, Millis(86_400_000))

    async def test_an_event_that_is_set_later_ends_the_wait(self, clock: Clock) -> None:
        wake = asyncio.Event()
        waits = [asyncio.ensure_future(clock.wait(wake, span)) for span in (None, Millis(86_400_000))]
        await asyncio.sleep(0)
        assert not any(wait.done() for wait in waits)

        wake.set()

        await asyncio.gather(*waits)

    async def test_no_time_is_no_wait(self, clock: Clock) -> None:
        await clock.wait(asyncio.Event(), Millis(0))
