"""Fanouts whose server and workers are killed again and again: every item ends once, and the reducer succeeds once."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

import pytest

from foliot.domain.fanout.item import item_key
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.testing.invariants import check_invariants
from tests.scenarios.crash.chance import a_chance
from tests.scenarios.crash.effects import intervals
from tests.scenarios.crash.jobs import fanout
from tests.scenarios.crash.judge import EARLY
from tests.scenarios.crash.process import FoliotProcess
from tests.scenarios.crash.stage import LEISURE, Stage

ITEMS: Final = 1_000
KILLS: Final = 20
WIDTH: Final = 20
SECONDS: Final = 0.15
"""How long an item takes. All of them take longer than the processes live before the last kill."""


class Cast:
    """A server and a worker of one stage. Each is killed and started again."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._processes: list[FoliotProcess] = [stage.scheduler(), stage.worker()]

    async def kill(self, chance: Random) -> None:
        """Kill the server or the worker at some moment, and start another one."""
        await self._stage.started(*self._processes)
        await self._stage.moment(chance, 0.3)
        place = chance.randrange(2)
        self._processes[place].kill()
        self._processes[place] = self._stage.worker() if place else self._stage.scheduler()

    async def kill_all(self) -> None:
        """Kill the server and the worker, and start others, which lose no lease on a slow machine."""
        for process in self._processes:
            process.kill()
        self._processes = [self._stage.scheduler(*LEISURE), self._stage.worker(*LEISURE)]
        await self._stage.started(*self._processes)


@pytest.mark.seeded
@pytest.mark.timeout(180)
@pytest.mark.proves("R0-72", "F1", "F3", "F4", "F5", "F6", "S3", "S6")
async def test_every_item_ends_once_while_server_and_worker_are_killed(stage: Stage) -> None:
    chance = a_chance()
    await stage.declare()
    await stage.put_fanout("big", [{"seconds": SECONDS}] * ITEMS, concurrency=WIDTH, gated=True)
    cast = Cast(stage)
    [run_id] = await stage.enqueue("big")
    for _ in range(KILLS):
        await cast.kill(chance)
    assert await status(stage, run_id) is Status.RUNNING

    # The reducer waits for the gate, and is killed too.
    await stage.until(lambda: has_reduced(stage, run_id, 1), "the reducer has begun")
    await cast.kill_all()
    await stage.until(lambda: has_reduced(stage, run_id, 2), "the reducer has begun again")
    stage.gate.touch()
    [run] = await stage.over([run_id])

    assert (run.status, run.attempt) == (Status.SUCCESS, 1 + run.lost)
    assert summary(run) == {"items": ITEMS, "succeeded": ITEMS, "failed": 0, "timed_out": 0, "cancelled": 0}
    children = await children_of(stage, run_id)
    assert Counter(child.child_key for child in children) == Counter(map(item_key, range(ITEMS)))
    assert Counter(child.status for child in children) == {Status.SUCCESS: ITEMS}
    assert any(child.lost for child in children)
    [reducer] = await reducers_of(stage, run_id)
    assert [one.end is not None for one in intervals(stage.effects(reducer.id))].count(True) == 1
    await judge(stage)


@pytest.mark.proves("R0-55", "R0-57", "F7")
async def test_a_fanout_cancelled_at_thirty_percent_starts_nothing_more_after_a_crash(stage: Stage) -> None:
    await stage.declare()
    await stage.put_fanout("big", [{"seconds": 0.01}] * ITEMS, concurrency=WIDTH)
    cast = Cast(stage)
    [run_id] = await stage.enqueue("big")
    await stage.until(lambda: len(stage.effects()) >= 2 * ITEMS * 3 // 10, "30 % of the items have ended")

    await stage.services.runs.cancel(run_id)
    await cast.kill_all()
    [run] = await stage.over([run_id])
    begun = len(stage.effects())
    await stage.quiet()

    counts = summary(run)
    assert run.status is Status.CANCELLED
    assert counts["succeeded"] >= ITEMS * 3 // 10 - WIDTH
    assert counts["succeeded"] + counts["cancelled"] == ITEMS
    children = await children_of(stage, run_id)
    assert Counter(child.status for child in children)[Status.SUCCESS] == counts["succeeded"]
    assert len(children) < ITEMS
    assert len(stage.effects()) == begun
    assert await reducers_of(stage, run_id) == []
    await judge(stage)


@pytest.mark.seeded
@pytest.mark.proves("F1", "F3", "D5", "D6")
async def test_a_fanout_in_a_workflow_in_a_fanout_ends_once_while_processes_are_killed(stage: Stage) -> None:
    chance = a_chance()
    await stage.declare()
    await put_nested(stage, sites=5, leaves=20)
    cast = Cast(stage)
    [run_id] = await stage.enqueue("sites")
    for _ in range(4):
        await cast.kill(chance)

    [run] = await stage.over([run_id])

    assert run.status is Status.SUCCESS
    runs = await stage.runs()
    assert {run.root_id for run in runs} == {run_id, None}
    sites = [run for run in runs if run.job_id == "site"]
    assert sorted(site.child_key or "" for site in sites) == [item_key(index) for index in range(5)]
    expected = Counter(
        {"sites": 1, "sites.reducer": 1, "site": 5, "site.scan": 5, "site.scan.reducer": 5, "quick": 105}
    )
    assert Counter(run.job_id for run in runs) == expected
    assert Counter(run.status for run in runs) == {Status.SUCCESS: expected.total()}
    for site in sites:
        [scan] = [run for run in runs if run.parent_id == site.id and run.child_key == "scan"]
        assert summary(scan)["succeeded"] == 20
    await judge(stage)


async def put_nested(stage: Stage, *, sites: int, leaves: int) -> None:
    """Define a fanout over a workflow, one step of which is a fanout."""
    inner = fanout(stage.effect_file, stage.gate, [{"seconds": 0.05}] * leaves, concurrency=4)
    steps = (
        Step(name="scan", definition=inner),
        Step(name="report", job=JobId("quick"), payload={}, after=(Edge(parent="scan"),)),
    )
    await stage.services.workflows.put({"site": WorkflowSpec(steps=steps, params={"name": ""})})
    items = [{"name": f"site {number}"} for number in range(sites)]
    await stage.put_fanout("sites", items, concurrency=3, job="site")


async def status(stage: Stage, run_id: str) -> Status:
    [run] = await stage.runs_of([run_id])
    return run.status


def summary(run: Run) -> dict[str, int]:
    assert isinstance(run.output, dict)
    return {name: run.output[name] for name in ("items", "succeeded", "failed", "timed_out", "cancelled")}


async def children_of(stage: Stage, run_id: str) -> list[Run]:
    return [run for run in await stage.runs() if run.parent_id == run_id and run.child_key != "reducer"]


async def reducers_of(stage: Stage, run_id: str) -> list[Run]:
    return [run for run in await stage.runs() if run.parent_id == run_id and run.child_key == "reducer"]


async def has_reduced(stage: Stage, run_id: str, times: int) -> bool:
    """Return whether so many attempts of the reducer have begun."""
    found = await reducers_of(stage, run_id)
    return any(len(stage.effects(run.id)) >= times for run in found)


async def judge(stage: Stage) -> None:
    """Check everything that must hold: attempts of one reducer never overlap, and one of them succeeds. An attempt
    whose worker was killed may have done its work."""
    assert await check_invariants(stage.storage, now=Instant(stage.services.clock.now() + EARLY)) == []
    for reducer in [run for run in await stage.runs() if run.child_key == "reducer"]:
        attempts = await stage.storage.queries.attempts(reducer.id)
        assert [attempt.status for attempt in attempts].count(Status.SUCCESS) == 1
        lost = {attempt.number for attempt in attempts if attempt.reason == "lease_lost"}
        assert [one for one in overlapped(stage, reducer.id) if one not in lost] == []
    assert await stage.ended(stage.start("foliot", "verify", "--since", "1h")) == 0


def overlapped(stage: Stage, run_id: RunId) -> Sequence[int]:
    """Return the attempts that had not ended when a later one began. One that was killed has no end."""
    found = intervals(stage.effects(run_id))
    return [
        earlier.attempt
        for earlier in found
        for later in found
        if earlier.end is not None and earlier.begin < later.begin < earlier.end
    ]
