"""The virtual clock moves only when it is advanced, and wakes its waiters in order."""

import asyncio
from datetime import UTC, datetime

import pytest

from foliot.domain.instant import HOUR, MINUTE, SECOND, Millis, to_iso
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.clock import ClockContract


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


class TestVirtualClock(ClockContract):
    pass


def test_the_virtual_clock_starts_with_the_year(clock: VirtualClock) -> None:
    assert to_iso(clock.now()) == "2026-01-01T00:00:00Z"


def test_advancing_moves_now_and_elapsed(clock: VirtualClock) -> None:
    elapsed = clock.elapsed()

    assert clock.advance(MINUTE) == clock.now() == START + MINUTE
    assert clock.elapsed() == elapsed + MINUTE


@pytest.mark.parametrize("span", [-HOUR, HOUR])
def test_a_step_moves_only_the_wall_clock(clock: VirtualClock, span: int) -> None:
    elapsed, boot_id = clock.elapsed(), clock.boot_id

    assert clock.step(span) == clock.now() == START + span
    assert (clock.elapsed(), clock.boot_id) == (elapsed, boot_id)


def test_a_reboot_resets_elapsed_and_changes_the_boot_id(clock: VirtualClock) -> None:
    now, boot_id = clock.now(), clock.boot_id

    clock.reboot()

    assert clock.elapsed() == 0
    assert clock.boot_id != boot_id
    assert clock.now() == now
    clock.advance(SECOND)
    assert clock.elapsed() == SECOND


def test_advancing_by_a_negative_span_is_refused(clock: VirtualClock) -> None:
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)


def test_the_virtual_clock_can_be_advanced_to_an_instant(clock: VirtualClock) -> None:
    clock.advance_to(clock.now())
    assert clock.advance_to(START) == START


async def test_a_wait_ends_when_time_reaches_its_end_and_not_before(clock: VirtualClock) -> None:
    wait = await waiting(clock, MINUTE)

    clock.advance(MINUTE - 1)
    await settle()
    assert not wait.done()

    clock.advance(1)
    await wait
    assert clock.waiting == 0


async def test_waiters_wake_in_the_order_of_their_times(clock: VirtualClock) -> None:
    woken: list[int] = []

    async def sleep(span: int) -> None:
        await clock.wait(asyncio.Event(), Millis(span))
        woken.append(span)

    waits = [asyncio.ensure_future(sleep(span)) for span in (30, 10, 20, 10)]
    await settle()
    clock.advance(HOUR)
    await asyncio.gather(*waits)

    assert woken == [10, 10, 20, 30]


async def test_a_step_and_a_reboot_wake_no_waiter(clock: VirtualClock) -> None:
    wait = await waiting(clock, MINUTE)

    clock.step(HOUR)
    clock.reboot()
    await settle()
    assert not wait.done()

    clock.advance(MINUTE)
    await wait


async def test_the_virtual_clock_has_the_number_of_waiters_and_the_next_alarm(clock: VirtualClock) -> None:
    assert (clock.waiting, clock.next_alarm) == (0, None)
    waits = [await waiting(clock, span) for span in (MINUTE, SECOND)]

    clock.advance(400)

    assert (clock.waiting, clock.next_alarm) == (2, SECOND - 400)
    clock.advance(HOUR)
    await asyncio.gather(*waits)


async def test_an_event_ends_the_wait_and_its_alarm(clock: VirtualClock) -> None:
    wake = asyncio.Event()
    wait = asyncio.ensure_future(clock.wait(wake, MINUTE))
    await settle()

    wake.set()
    await wait

    assert clock.waiting == 0
    clock.advance(HOUR)


async def test_a_cancelled_wait_leaves_no_alarm(clock: VirtualClock) -> None:
    wait = await waiting(clock, MINUTE)

    wait.cancel()
    await asyncio.gather(wait, return_exceptions=True)

    assert clock.waiting == 0


async def waiting(clock: VirtualClock, span: Millis) -> "asyncio.Task[None]":
    task = asyncio.ensure_future(clock.wait(asyncio.Event(), span))
    await settle()
    return task


async def settle() -> None:
    """Run all ready tasks."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_virtual_clock_may_begin_at_a_datetime() -> None:
    clock = VirtualClock(datetime(2026, 1, 1, 12, tzinfo=UTC))

    assert clock.now() == START + 12 * HOUR
    assert clock.advance(HOUR) == START + 13 * HOUR


def test_a_datetime_without_a_timezone_is_refused() -> None:
    with pytest.raises(ValueError, match="no timezone"):
        VirtualClock(datetime(2026, 1, 1))


def test_the_engine_and_the_clock_can_be_imported_from_the_package() -> None:
    from foliot import testing
    from foliot.testing import InlineEngine

    assert testing.VirtualClock is VirtualClock
    assert InlineEngine.__name__ == "InlineEngine"
    with pytest.raises(AttributeError, match="no attribute 'Clock'"):
        testing.Clock  # noqa: B018 - to be looked up
