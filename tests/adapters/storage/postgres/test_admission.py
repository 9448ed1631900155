"""Who counts free places holds the key's row, so that two never count the same one."""

import asyncio
from typing import Any

import asyncpg
import pytest

from foliot.domain.ids import JobId
from foliot.domain.run import Status
from foliot.testing.builders import a_run, some_runs, succeeded
from foliot.testing.conformance.storage.scene import Scene
from tests.adapters.storage.postgres.faults import Faults


class PowerCut(BaseException):
    """The process ends here."""


@pytest.mark.proves("L10")
async def test_admission_waits_for_whoever_holds_the_key(
    scene: Scene, faults: Faults, connection: "asyncpg.Connection[Any]"
) -> None:
    await a_free_place_with_a_waiter(scene, faults)
    await connection.execute("BEGIN; SELECT FROM foliot.limits FOR NO KEY UPDATE")

    admission = asyncio.create_task(scene.storage.runs.admit(100, at=scene.now))
    await blocked(connection, admission)

    assert not admission.done()
    await connection.execute("ROLLBACK")
    assert await admission == 1


@pytest.mark.proves("L10", "S5")
async def test_cancels_and_admissions_that_cross_neither_block_nor_lose_a_run(scene: Scene) -> None:
    names = [JobId(name) for name in ("a", "b", "c")]
    runs = [a_run(job_id=name, max_concurrent=2, concurrency_key="disk") for name in names for _ in range(20)]
    await scene.create(*runs)
    doomed = [run.id for run in runs[::2]]

    async def work() -> None:
        while claims := await scene.claim(2):
            await scene.finish(*(succeeded(claim) for claim in claims))

    await asyncio.gather(work(), work(), *(scene.cancel(run_id) for run_id in doomed), scene.storage.runs.admit(100))
    await work()

    over = {Status.SUCCESS, Status.CANCELLED}
    assert set(await scene.statuses(*(run.id for run in runs))) <= over


async def a_free_place_with_a_waiter(scene: Scene, faults: Faults) -> None:
    """As a crash between a finish and its admission leaves it."""

    def cut() -> None:
        raise PowerCut

    await scene.create(*some_runs(2, max_concurrent=1))
    [claim] = await scene.claim()
    faults.plant("finish.after_commit", cut)
    with pytest.raises(PowerCut):
        await scene.finish(succeeded(claim))


async def blocked(connection: "asyncpg.Connection[Any]", task: "asyncio.Task[int]") -> None:
    """Return when somebody waits for a lock, or when the task is done without."""
    async with asyncio.timeout(30):
        while not task.done():
            if await connection.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                return
            await asyncio.sleep(0)
