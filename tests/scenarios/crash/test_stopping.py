"""Processes that are asked to stop, and processes that stop against their will and come back."""

import signal
from datetime import UTC, datetime

import pytest

from foliot.domain.run.run import Status
from tests.scenarios.crash.judge import faults
from tests.scenarios.crash.stage import LEISURE, Stage


@pytest.mark.proves("S3")
async def test_a_stopping_process_waits_for_running_runs(stage: Stage) -> None:
    await stage.declare()
    process = stage.serve(*LEISURE)
    run_ids = [*await stage.enqueue("gated"), *await stage.enqueue("gated-command")]
    await stage.begun(*run_ids)

    before = datetime.now(UTC)
    process.send(signal.SIGTERM)
    await stage.until(lambda: bool(process.logged("node_stopping")), "it stops")
    [stopping] = process.logged("node_stopping")
    stage.gate.touch()

    assert stopping["running"] == 2
    assert datetime.fromisoformat(stopping["until"]) > before
    assert await stage.ended(process) == 0
    assert [(run.status, run.attempt) for run in await stage.runs_of(run_ids)] == [(Status.SUCCESS, 1)] * 2
    assert await faults(stage) == []


@pytest.mark.proves("S3", "S8", "L1", "E1")
async def test_runs_that_do_not_end_in_time_are_given_back_to_the_next_process(stage: Stage) -> None:
    await stage.declare()
    process = stage.serve(*LEISURE, "--drain", "0.2")
    run_ids = [*await stage.enqueue("gated"), *await stage.enqueue("gated-command")]
    await stage.begun(*run_ids)

    process.send(signal.SIGTERM)
    assert await stage.ended(process) == 0
    given_back = [(run.status, run.attempt, run.lost) for run in await stage.runs_of(run_ids)]
    left = stage.orphans()
    stage.gate.touch()
    stage.serve(*LEISURE)

    assert given_back == [(Status.QUEUED, 0, 0)] * 2
    assert left == set()
    assert [(run.status, run.attempt) for run in await stage.over(run_ids)] == [(Status.SUCCESS, 1)] * 2
    assert await faults(stage) == []


async def test_a_second_signal_ends_the_process_immediately(stage: Stage) -> None:
    await stage.declare()
    process = stage.serve(*LEISURE, "--drain", "600")
    [run_id] = await stage.enqueue("gated")
    await stage.begun(run_id)

    def insist() -> bool:
        process.send(signal.SIGTERM)
        return process.returncode is not None

    process.send(signal.SIGTERM)
    await stage.until(lambda: bool(process.logged("node_stopping")), "it stops")
    # One that follows at once may be the same: `timeout` sends it to the process and to its group.
    await stage.until(insist, "it ends")

    assert process.returncode == 130
    assert [run.status for run in await stage.runs_of([run_id])] == [Status.RUNNING]


async def test_two_simultaneous_signals_count_as_one(stage: Stage) -> None:
    await stage.declare()
    process = stage.serve(*LEISURE, "--drain", "600")
    [run_id] = await stage.enqueue("gated")
    await stage.begun(run_id)

    process.send(signal.SIGTERM)
    process.send(signal.SIGTERM)
    await stage.until(lambda: bool(process.logged("node_stopping")), "it stops")
    stage.gate.touch()

    assert await stage.ended(process) == 0
    assert [run.status for run in await stage.runs_of([run_id])] == [Status.SUCCESS]


@pytest.mark.proves("L1", "L2", "L4", "S10", "E1")
async def test_a_suspended_worker_with_an_expired_lease_changes_nothing(stage: Stage) -> None:
    await stage.declare()
    sleeper = stage.worker()
    run_ids = [*await stage.enqueue("gated"), *await stage.enqueue("gated-command")]
    await stage.begun(*run_ids)
    await stage.printed(run_ids[1])
    await stage.freeze(sleeper)
    other = stage.serve(*LEISURE)
    await stage.until(lambda: all(len(stage.effects(run_id)) == 2 for run_id in run_ids), "another one takes over")

    stage.gate_of(attempt=1).touch()
    sleeper.send(signal.SIGCONT)
    await stage.until(lambda: bool(sleeper.logged("worker_leases_lost")), "it notices")
    sleeper.send(signal.SIGTERM)
    assert await stage.ended(sleeper) == 0
    stage.gate.touch()
    done = await stage.over(run_ids)

    assert [(run.status, run.attempt, run.lost) for run in done] == [(Status.SUCCESS, 2, 1)] * 2
    assert {run.output[1] for run in done if run.output} == {other.pid}
    assert stage.orphans() == set()
    assert await faults(stage) == []
