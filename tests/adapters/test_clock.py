"""The system clock fulfils the clock contract."""

import asyncio
import time
from pathlib import Path

import pytest

from foliot.adapters.clock import SystemClock
from foliot.domain.instant import Millis
from foliot.testing.conformance.clock import ClockContract


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()


class TestSystemClock(ClockContract):
    pass


def test_now_is_the_time_of_the_system(clock: SystemClock) -> None:
    before = time.time_ns() // 1_000_000
    now = clock.now()

    assert before <= now <= time.time_ns() // 1_000_000


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="only Linux counts suspended time")
@pytest.mark.proves("L3")
def test_elapsed_includes_suspended_time(clock: SystemClock) -> None:
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    elapsed = clock.elapsed()

    assert before <= elapsed <= time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


async def test_a_wait_ends_at_its_timeout(clock: SystemClock) -> None:
    wake = asyncio.Event()
    before = clock.elapsed()

    await clock.wait(wake, Millis(2))

    assert not wake.is_set()
    assert clock.elapsed() > before


@pytest.mark.proves("L3")
def test_boot_id_is_that_of_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "boot_id").write_text("7bfa1a4e-0000-4000-8000-000000000001\n")

    assert SystemClock(tmp_path / "boot_id").boot_id == "7bfa1a4e-0000-4000-8000-000000000001"


def test_without_a_kernel_boot_id_all_processes_have_the_same_one(tmp_path: Path) -> None:
    assert SystemClock(tmp_path / "none").boot_id == SystemClock(tmp_path / "nothing").boot_id != ""
