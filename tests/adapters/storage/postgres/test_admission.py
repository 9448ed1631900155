"""Admission locks a key before it counts free slots, so that no slot is counted twice."""

import asyncio
from typing import Any

import asyncpg
import msgspec
import pytest

from foliot.domain.gate.decision import Decided, Decision
from foliot.domain.gate.spec import Action
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE, SECOND
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.testing.builders import a_run, every, some_runs, succeeded
from foliot.testing.conformance.storage.scene import Scene
from tests.adapters.storage.postgres.faults import Faults
from tests.adapters.storage.postgres.waiting import blocked


class PowerCut(BaseException):
    """Simulates the end of the process."""


@pytest.mark.proves("L10")
async def test_admission_waits_for_a_transaction_that_locked_the_key(
    scene: Scene, faults: Faults, connection: "asyncpg.Connection[Any]"
) -> None:
    await a_free_slot_with_a_waiter(scene, faults)
    await connection.execute("BEGIN; SELECT FROM foliot.limits FOR NO KEY UPDATE")

    admission = asyncio.create_task(scene.storage.admission.admit(100, at=scene.now))
    await blocked(connection, admission)

    assert not admission.done()
    await connection.execute("ROLLBACK")
    assert await admission == 1


@pytest.mark.proves("S6")
async def test_concurrent_cancels_and_admissions_neither_deadlock_nor_lose_a_run(scene: Scene) -> None:
    names = [JobId(name) for name in ("a", "b", "c")]
    runs = [a_run(job_id=name, max_concurrent=2, concurrency_key="disk") for name in names for _ in range(20)]
    await scene.create(*runs)
    doomed = [run.id for run in runs[::2]]

    async def work() -> None:
        while claims := await scene.claim(2):
            await scene.finish(*(succeeded(claim) for claim in claims))

    await asyncio.gather(
        work(), work(), *(scene.cancel(run_id) for run_id in doomed), scene.storage.admission.admit(100)
    )
    await work()

    over = {Status.SUCCESS, Status.CANCELLED}
    assert set(await scene.statuses(*(run.id for run in runs))) <= over


@pytest.mark.proves("S6")
@pytest.mark.parametrize("is_gated", [True, False], ids=["passed", "released"])
async def test_an_overlap_key_given_while_a_run_becomes_due_is_not_lost(
    scene: Scene, connection: "asyncpg.Connection[Any]", *, is_gated: bool
) -> None:
    run_id = await a_waiting_tick(scene, is_gated=is_gated)
    scene.clock.advance(MINUTE)
    # Do what admission does: it gives the key and finds that the run is not due yet.
    await connection.execute("BEGIN; SELECT FROM foliot.limits FOR NO KEY UPDATE")
    await connection.execute("UPDATE foliot.holds SET is_admitted = true")

    admission = scene.storage.admission
    passed = [Decided(run_id, Decision(action=Action.RUN))]
    doing = admission.decide_gates(passed, [], at=scene.now) if is_gated else admission.release_due(9, at=scene.now)
    task = asyncio.ensure_future(doing)
    await blocked(connection, task)
    await connection.execute("COMMIT")
    await task

    assert await scene.ready() == [run_id]


async def a_waiting_tick(scene: Scene, *, is_gated: bool) -> RunId:
    """Return the run of a tick that waits for the overlap key and is not due yet."""
    await scene.schedule(every(60, overlap=Overlap.QUEUE))
    [first] = await scene.fire_after(MINUTE)
    await scene.claim(only=[first])
    scene.clock.advance(MINUTE)
    [firing] = await scene.decide()
    [run] = firing.runs
    run = msgspec.structs.replace(run, due_at=scene.after(SECOND), is_gated=is_gated)
    await scene.settle(msgspec.structs.replace(firing, runs=[run]))
    return run.id


async def a_free_slot_with_a_waiter(scene: Scene, faults: Faults) -> None:
    """Leave the state of a crash between a finish and its admission."""

    def cut() -> None:
        raise PowerCut

    await scene.create(*some_runs(2, max_concurrent=1))
    [claim] = await scene.claim()
    faults.plant("finish.after_commit", cut)
    with pytest.raises(PowerCut):
        await scene.finish(succeeded(claim))
