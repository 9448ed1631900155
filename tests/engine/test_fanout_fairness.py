"""A fanout with more ready items than the worker has slots does not starve other jobs."""

import pytest

from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND
from foliot.domain.run.run import Status
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from tests.engine.fanouts import SCAN, FanoutRig

SLOTS = 5
CONCURRENCY = 50
OPEN = CONCURRENCY + 100
"""How many children may exist and wait. All others are created later, and rank behind."""


async def a_busy_rig(storage: Storage, clock: VirtualClock, **fields: object) -> FanoutRig:
    """Start a fanout that fills all slots, and let some of its items end."""
    rig = FanoutRig(storage, clock, lambda attempt: None, slots=SLOTS)
    await rig.start(list(range(2_000)), concurrency=CONCURRENCY, **fields)
    for _ in range(20):
        await pass_time(rig)
    await rig.turn()
    assert len(rig.runner.under_way) == SLOTS
    return rig


async def pass_time(rig: FanoutRig) -> None:
    """Let a second pass, in which one attempt ends."""
    await rig.turn()
    rig.clock.advance(SECOND)
    if rig.runner.under_way:
        rig.runner.end(rig.runner.under_way[0])


async def items_before(rig: FanoutRig, run_id: RunId) -> int:
    """Return how many items start before the run, and fail if too many do."""
    before = len(rig.runner.attempts)
    while run_id not in [attempt.run_id for attempt in rig.runner.attempts]:
        assert len(rig.runner.attempts) <= before + OPEN, "the run starves"
        await pass_time(rig)
    return [attempt.run_id for attempt in rig.runner.attempts[before:]].index(run_id)


@pytest.mark.proves("R0-73", "F9")
async def test_a_due_run_starts_before_items_that_become_children_later(storage: Storage, clock: VirtualClock) -> None:
    rig = await a_busy_rig(storage, clock)
    run_id = await rig.enqueue("report")
    children = {run.id for run in await rig.runs() if run.job_id == "scan.item" and not run.status.is_terminal}

    before = len(rig.runner.attempts)
    count = await items_before(rig, run_id)

    assert count <= OPEN
    assert {attempt.run_id for attempt in rig.runner.attempts[before : before + count]} <= children


@pytest.mark.proves("R0-73", "F9")
async def test_runs_that_are_due_all_the_time_each_start_within_the_bound(
    storage: Storage, clock: VirtualClock
) -> None:
    rig = await a_busy_rig(storage, clock)
    due = []
    for _ in range(10):
        due.append(await rig.enqueue("report"))
        for _ in range(5):
            await pass_time(rig)

    for run_id in due:
        await items_before(rig, run_id)

    assert await rig.status(due[0]) in (Status.RUNNING, Status.SUCCESS)


@pytest.mark.proves("R0-73")
async def test_a_fanout_of_lower_priority_lets_a_due_run_start_next(storage: Storage, clock: VirtualClock) -> None:
    rig = await a_busy_rig(storage, clock, child_options={"priority": -60})
    run_id = await rig.enqueue("report")

    assert await items_before(rig, run_id) == 0


@pytest.mark.proves("R0-73")
async def test_two_fanouts_share_the_slots(storage: Storage, clock: VirtualClock) -> None:
    rig = await a_busy_rig(storage, clock)
    small = await rig.start(["x", "y", "z"], job_id="small")
    before = len(rig.runner.attempts)

    while not (await rig.status(small)).is_terminal:
        assert len(rig.runner.attempts) <= before + OPEN + 3 + SLOTS, "the small fanout starves"
        await pass_time(rig)

    assert await rig.status(small) is Status.SUCCESS
    assert {run.status for run in await rig.runs() if run.job_id == SCAN} == {Status.RUNNING}
