"""The clock check logs a step or a skew once and saves it."""

import logging

import pytest

from foliot.domain.clock import ClockFault, ClockFaultKind, ClockReading, skew_of, step_between
from foliot.domain.instant import HOUR, MINUTE, SECOND, Instant, Millis
from foliot.engine import clock_check
from foliot.engine.clock_check import ClockCheck
from foliot.engine.node import Node
from foliot.engine.settings import Settings
from foliot.ports.health import HealthLimits
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from tests.engine.ease import ease
from tests.engine.rig import LEASE, Rig

NOW = Instant(0)


class FakeUpkeep:
    """Returns the readings that a test sets, and keeps what is saved."""

    def __init__(self) -> None:
        self.reading = ClockReading(Instant(HOUR), Instant(HOUR), Millis(0))
        self.saved: list[ClockFault] = []
        self.is_down = False

    async def read_clocks(self) -> ClockReading:
        return self.reading

    async def save_clock_fault(self, fault: ClockFault) -> None:
        if self.is_down:
            raise ConnectionError
        self.saved.append(fault)

    def pass_time(self, span: int, *, step: int = 0, skew: int = 0) -> None:
        storage, _, elapsed = self.reading
        storage = Instant(storage + span + step)
        self.reading = ClockReading(storage, Instant(storage + skew), Millis(elapsed + span))


@pytest.fixture
def upkeep() -> FakeUpkeep:
    return FakeUpkeep()


@pytest.fixture
def check(upkeep: FakeUpkeep, caplog: pytest.LogCaptureFixture) -> ClockCheck:
    caplog.set_level(logging.INFO, clock_check.__name__)
    return ClockCheck(upkeep, "north")  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [-2 * HOUR, 10 * SECOND])
async def test_a_step_is_logged_once_and_saved(
    check: ClockCheck, upkeep: FakeUpkeep, caplog: pytest.LogCaptureFixture, size: int
) -> None:
    await check.round()
    upkeep.pass_time(10 * SECOND, step=size)
    for _ in range(3):
        await check.round()
        upkeep.pass_time(10 * SECOND)

    assert [(record.getMessage(), vars(record)["by_ms"]) for record in caplog.records] == [("clock_stepped", size)]
    at = Instant(HOUR + 10 * SECOND + size)
    assert upkeep.saved == [ClockFault("north", ClockFaultKind.STEP, Millis(size), at)]


async def test_a_clock_that_is_adjusted_slightly_is_not_reported(check: ClockCheck, upkeep: FakeUpkeep) -> None:
    for _ in range(5):
        await check.round()
        upkeep.pass_time(10 * SECOND, step=2 * SECOND, skew=3 * SECOND)

    assert upkeep.saved == []


async def test_a_step_that_could_not_be_saved_is_found_again(check: ClockCheck, upkeep: FakeUpkeep) -> None:
    await check.round()
    upkeep.pass_time(10 * SECOND, step=-HOUR)
    upkeep.is_down = True
    with pytest.raises(ConnectionError):
        await check.round()

    upkeep.is_down = False
    await check.round()

    assert [fault.size for fault in upkeep.saved] == [-HOUR]


async def test_a_skew_is_logged_once_and_saved_again_while_it_lasts(
    check: ClockCheck, upkeep: FakeUpkeep, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        upkeep.pass_time(4 * MINUTE, skew=-8 * SECOND)
        await check.round()
    upkeep.pass_time(MINUTE)
    await check.round()

    assert [record.getMessage() for record in caplog.records] == ["clock_skewed", "clock_skew_ended"]
    assert [(fault.kind, fault.size) for fault in upkeep.saved] == [(ClockFaultKind.SKEW, -8 * SECOND)] * 2


async def test_a_node_saves_that_its_clock_was_set_back(rig: Rig, storage: Storage, clock: VirtualClock) -> None:
    node = Node(rig.parts, Settings(label="north", lease=LEASE))
    await node.start()
    await ease(60)
    clock.step(-HOUR)
    clock.advance(10 * SECOND)
    await ease(60)
    await node.stop()

    [fault] = (await storage.queries.health(HealthLimits(10, 1, NOW, NOW))).clock_faults
    assert (fault.node, fault.kind, fault.size) == ("north", "step", -HOUR)
    assert fault.former_time == clock.now() + HOUR


def test_a_step_backwards_is_current_until_the_clock_shows_its_former_time() -> None:
    back = ClockFault("north", ClockFaultKind.STEP, Millis(-2 * HOUR), Instant(10 * HOUR))

    assert back.is_current(Instant(11 * HOUR))
    assert not back.is_current(Instant(12 * HOUR))


def test_a_step_forwards_is_current_for_an_hour() -> None:
    forward = ClockFault("north", ClockFaultKind.STEP, Millis(2 * HOUR), Instant(10 * HOUR))

    assert forward.is_current(Instant(10 * HOUR + MINUTE))
    assert not forward.is_current(Instant(11 * HOUR))


def test_a_skew_is_current_while_it_is_measured() -> None:
    skew = ClockFault("north", ClockFaultKind.SKEW, Millis(9 * SECOND), Instant(10 * HOUR))

    assert skew.is_current(Instant(10 * HOUR + 14 * MINUTE))
    assert not skew.is_current(Instant(10 * HOUR + 15 * MINUTE))


def test_a_suspended_machine_has_no_step() -> None:
    before = ClockReading(Instant(0), Instant(0), Millis(0))

    assert step_between(before, ClockReading(Instant(HOUR), Instant(HOUR), Millis(HOUR))) is None
    assert skew_of(before) is None
