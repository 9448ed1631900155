"""Workers killed while they work: every run ends, and nothing that they started outlives them for long."""

import time

import pytest

from foliot.domain.run.run import Status
from tests.scenarios.crash.chance import a_chance
from tests.scenarios.crash.judge import faults
from tests.scenarios.crash.process import KILLED
from tests.scenarios.crash.stage import LEISURE, LONG_LEASE, Stage


@pytest.mark.seeded
@pytest.mark.proves("S3", "S6", "S10", "L1", "L4", "E1", "M3")
async def test_every_run_ends_while_the_worker_is_killed_repeatedly(stage: Stage) -> None:
    chance = a_chance()
    await stage.declare()
    stage.scheduler()
    asked = [
        *await stage.enqueue("quick", 120, payload={"seconds": 0.1}),
        *await stage.enqueue("threaded", 60, payload={"seconds": 0.1}),
        *await stage.enqueue("command", 60),
    ]
    for _ in range(5):
        worker = stage.worker()
        await stage.started(worker)
        await stage.moment(chance, 0.4)
        worker.kill()
    stage.worker()

    runs = await stage.over(asked)

    assert {run.status for run in runs} == {Status.SUCCESS}
    assert any(run.lost for run in runs)
    assert await faults(stage) == []
    await stage.until(lambda: not stage.orphans(), "no process is left")


@pytest.mark.proves("E1", "L1")
async def test_processes_of_a_killed_worker_end_before_the_retry(stage: Stage) -> None:
    await stage.declare()
    first = stage.serve()
    [run_id] = await stage.enqueue("gated-command")
    await stage.begun(run_id)
    first.kill()
    left = stage.orphans()

    stage.serve(*LEISURE)
    await stage.until(lambda: len(stage.effects(run_id)) > 1, "it is tried again")

    assert left
    assert not left & stage.orphans()
    stage.gate.touch()
    [run] = await stage.over([run_id])
    assert (run.status, run.attempt, run.lost) == (Status.SUCCESS, 2, 1)
    assert await faults(stage) == []


@pytest.mark.proves("E1", "L1")
async def test_after_a_restart_the_run_of_a_killed_server_does_not_wait_for_its_lease(stage: Stage) -> None:
    await stage.declare()
    first = stage.serve(*LONG_LEASE)
    [run_id] = await stage.enqueue("gated-command")
    await stage.begun(run_id)
    first.kill()
    left = stage.orphans()

    before = time.monotonic()
    stage.serve(*LONG_LEASE)
    await stage.until(lambda: len(stage.effects(run_id)) > 1, "it is tried again")

    assert time.monotonic() - before < 20
    assert left
    assert not left & stage.orphans()
    stage.gate.touch()
    [run] = await stage.over([run_id])
    assert (run.status, run.attempt, run.lost) == (Status.SUCCESS, 2, 1)


@pytest.mark.proves("E1")
async def test_a_worker_ends_leftover_processes_on_its_own_machine(stage: Stage) -> None:
    """The scheduler that takes the lease away lives elsewhere: it is played by this test."""
    await stage.declare()
    first = stage.worker()
    [run_id] = await stage.enqueue("gated-command")
    await stage.begun(run_id)
    first.kill()
    left = stage.orphans()
    await stage.reap()

    stage.worker()
    await stage.until(lambda: len(stage.effects(run_id)) > 1, "it is tried again")

    assert left
    assert not left & stage.orphans()


@pytest.mark.proves("S3", "Q5")
async def test_a_run_that_kills_its_worker_fails_when_its_lost_budget_is_spent(stage: Stage) -> None:
    await stage.declare()
    first = stage.serve()
    [run_id] = await stage.enqueue("murderous")
    assert await stage.ended(first) == KILLED
    assert await stage.ended(stage.serve()) == KILLED
    stage.serve()

    [run] = await stage.over([run_id])

    assert (run.status, run.reason, run.attempt) == (Status.FAILED, "lease_lost", 2)
    assert len(stage.effects(run_id)) == 2
