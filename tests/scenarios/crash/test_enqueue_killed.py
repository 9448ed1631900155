"""Whoever was told the id of a run will find that run, whatever happens to the process that asked for it."""

from random import Random

import pytest

from foliot.domain.run.run import Status
from tests.scenarios.crash.chance import a_chance
from tests.scenarios.crash.judge import faults
from tests.scenarios.crash.process import FoliotProcess
from tests.scenarios.crash.stage import Stage


@pytest.mark.seeded
@pytest.mark.proves("M3", "R1-06")
async def test_an_acknowledged_run_is_never_lost(stage: Stage) -> None:
    chance = a_chance()
    await stage.declare()
    told: list[str] = []
    for _ in range(4):
        told += await _killed_while_asking(stage, chance)
    # More may be there: what was saved and never acknowledged.
    assert {run.status for run in await stage.runs_of(told)} == {Status.QUEUED}

    stage.serve("--concurrency", "500")

    assert {run.status for run in await stage.over(told)} == {Status.SUCCESS}
    await stage.quiet()
    assert await faults(stage) == []


async def _killed_while_asking(stage: Stage, chance: Random) -> list[str]:
    asking = stage.start("tests.scenarios.crash.enqueuer")
    await stage.until(lambda: bool(_told(asking)), "a run is acknowledged")
    await stage.moment(chance, 0.05)
    asking.kill()
    return _told(asking)


def _told(asking: FoliotProcess) -> list[str]:
    """Whole lines only: a process may be killed while it writes."""
    return [line for line in asking.log.read_text().split("\n")[:-1] if len(line) == 26]
