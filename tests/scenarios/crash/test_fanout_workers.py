"""The concurrency of a fanout counts on all workers together."""

from itertools import accumulate
from typing import Final

import pytest

from foliot.domain.run.lane import TREES_QUEUE
from foliot.domain.run.lease import WorkerState
from foliot.domain.run.run import Status
from tests.scenarios.crash.stage import LEISURE, Stage

CAP: Final = 4
SLOTS: Final = ("--concurrency", "3")
"""One worker alone cannot reach the cap, and two could exceed it."""


@pytest.mark.proves("R0-28", "R0-59", "R0-60", "F2")
async def test_two_workers_never_run_more_items_than_the_cap(stage: Stage) -> None:
    await stage.declare()
    await stage.put_fanout("scan", list(range(40)), job="gated-command", concurrency=CAP)
    await stage.started(stage.scheduler(*LEISURE), *[stage.worker(*LEISURE, *SLOTS) for _ in range(2)])
    [run_id] = await stage.enqueue("scan")
    await stage.until(lambda: len(stage.effects()) >= CAP, "as many items as the cap have begun")

    stage.gate.touch()
    [run] = await stage.over([run_id])

    children = [run for run in await stage.runs() if run.job_id == "gated-command"]
    assert (run.status, len(children), len({child.worker_id for child in children})) == (Status.SUCCESS, 40, 2)
    [coordinator] = [state.worker.id for state in await stage.storage.admission.workers() if _opens_trees(state)]
    assert run.worker_id == coordinator, "only the scheduler opens fanouts"
    [reducer] = [run.id for run in await stage.runs() if run.child_key == "reducer"]
    steps = [1 if seen.what == "begin" else -1 for seen in stage.effects() if seen.run_id != reducer]
    assert max(accumulate(steps)) == CAP
    assert sum(steps) == 0


def _opens_trees(state: WorkerState) -> bool:
    return TREES_QUEUE in state.worker.queues
