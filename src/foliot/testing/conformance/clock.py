"""The promises of `foliot.ports.clock` as tests.

Subclass `ClockContract` and provide a `clock` fixture.
"""

import asyncio

from foliot.domain.instant import Millis
from foliot.ports.clock import Clock


class ClockContract:
    """Every clock must pass these tests unchanged."""

    async def test_now_and_elapsed_are_whole_milliseconds(self, clock: Clock) -> None:
        assert isinstance(clock.now(), int)
        assert isinstance(clock.elapsed(), int)

    async def test_elapsed_never_decreases(self, clock: Clock) -> None:
        readings = [clock.elapsed() for _ in range(100)]

        assert readings == sorted(readings)
        assert readings[0] > 0

    async def test_the_boot_id_does_not_change(self, clock: Clock) -> None:
        assert clock.boot_id
        assert clock.boot_id == clock.boot_id

    async def test_waiting_for_a_set_event_returns_immediately(self, clock: Clock) -> None:
        wake = asyncio.Event()
        wake.set()

        await clock.wait(wake, None)
        await clock.wait(wake, Millis(86_400_000))

    async def test_setting_the_event_ends_the_wait(self, clock: Clock) -> None:
        wake = asyncio.Event()
        waits = [asyncio.ensure_future(clock.wait(wake, span)) for span in (None, Millis(86_400_000))]
        await asyncio.sleep(0)
        assert not any(wait.done() for wait in waits)

        wake.set()

        await asyncio.gather(*waits)

    async def test_a_wait_of_zero_returns_immediately(self, clock: Clock) -> None:
        await clock.wait(asyncio.Event(), Millis(0))
