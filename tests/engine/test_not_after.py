"""A run that was given a latest moment to start does not start after it."""

import msgspec
import pytest

from foliot.domain.instant import SECOND
from foliot.domain.run.run import Status
from foliot.testing.clock import START
from tests.engine.rig import Rig


def not_after(moment: object) -> bytes:
    return msgspec.json.encode({"not_after": moment})


async def test_a_run_before_its_latest_moment_is_executed(rig: Rig) -> None:
    run_id = await rig.enqueue(overrides=not_after(START + SECOND))
    rig.clock.advance(SECOND - 1)

    await rig.work_off(1)

    assert (await rig.run(run_id)).status is Status.SUCCESS
    assert len(rig.stage.attempts) == 1


@pytest.mark.parametrize("late", [0, 1, 3_600 * SECOND])
@pytest.mark.proves("R3-14")
async def test_a_run_from_its_latest_moment_on_is_cancelled_and_not_executed(rig: Rig, late: int) -> None:
    run_id = await rig.enqueue(overrides=not_after(START + SECOND))
    rig.clock.advance(SECOND + late)

    await rig.work_off(1)

    assert (await rig.run(run_id)).status is Status.CANCELLED
    assert rig.stage.attempts == []


async def test_a_latest_moment_that_cannot_be_read_fails_the_run(rig: Rig) -> None:
    run_id = await rig.enqueue(overrides=not_after("tomorrow"))

    await rig.work_off(1)

    run = await rig.run(run_id)
    assert run.status is Status.FAILED
    assert rig.stage.attempts == []
