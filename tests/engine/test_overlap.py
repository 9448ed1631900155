"""Overlap policies: what a tick does while an earlier run of its schedule is open."""

import pytest

from foliot.domain.instant import MINUTE, Millis, later
from foliot.domain.run.outcome import Failure, Reason
from foliot.domain.run.retry import Retry
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.testing.builders import every
from foliot.testing.clock import START
from tests.engine.rig import Rig


@pytest.fixture
def slow(rig: Rig) -> Rig:
    """Attempts last until the test ends them."""
    rig.stage.answer = None
    return rig


async def minutes(rig: Rig, how_many: int) -> None:
    for _ in range(how_many):
        await rig.fire(MINUTE)
        await rig.work()


@pytest.mark.proves("R4-37", "T10")
async def test_overlap_allow_fires_every_tick(slow: Rig) -> None:
    schedule = await slow.schedule(every(60, overlap=Overlap.ALLOW))

    await minutes(slow, 3)

    assert await slow.outcomes(schedule.uid) == [("ran", "on_time", 1)] * 3
    assert len(slow.stage.under_way) == 3


@pytest.mark.proves("R4-38", "R4-64", "T10")
async def test_overlap_skip_records_skipped_ticks(slow: Rig) -> None:
    schedule = await slow.schedule(every(60, overlap=Overlap.SKIP))

    await minutes(slow, 3)

    assert await slow.outcomes(schedule.uid) == [("ran", "on_time", 1), *[("skipped", "overlap", 1)] * 2]
    assert len(slow.stage.under_way) == 1


@pytest.mark.proves("R4-38")
async def test_overlap_skip_fires_again_after_the_run_has_ended(slow: Rig) -> None:
    schedule = await slow.schedule(every(60, overlap=Overlap.SKIP))
    await minutes(slow, 2)
    slow.stage.end(slow.stage.under_way[0])
    await slow.work()

    await minutes(slow, 1)

    assert [outcome for outcome, *_ in await slow.outcomes(schedule.uid)] == ["ran", "skipped", "ran"]


@pytest.mark.proves("R4-64")
async def test_a_run_that_waits_for_its_retry_counts_for_overlap(rig: Rig) -> None:
    await rig.job(retry=Retry(retries=1, base=Millis(10 * MINUTE)))
    schedule = await rig.schedule(every(60, overlap=Overlap.SKIP))
    rig.stage.answer = Failure("not yet", Reason.EXIT_CODE)

    await minutes(rig, 2)

    assert [outcome for outcome, *_ in await rig.outcomes(schedule.uid)] == ["ran", "skipped"]


@pytest.mark.proves("R4-39", "T10")
async def test_overlap_queue_runs_ticks_sequentially_in_planned_order(slow: Rig) -> None:
    schedule = await slow.schedule(every(60, overlap=Overlap.QUEUE))
    await minutes(slow, 4)
    order = []

    while slow.stage.under_way:
        [running] = slow.stage.under_way
        order.append(running)
        slow.stage.end(running)
        await slow.work()
        await slow.work()

    runs = await slow.runs()
    assert await slow.outcomes(schedule.uid) == [("ran", "on_time", 1)] * 4
    assert [run.id for run in runs] == order
    assert {run.status for run in runs} == {Status.SUCCESS}


@pytest.mark.proves("T10")
async def test_overlap_cancel_running_ends_the_old_run_before_the_new_one_starts(slow: Rig) -> None:
    await slow.schedule(every(60, overlap=Overlap.CANCEL_RUNNING))
    await minutes(slow, 1)
    [old] = slow.stage.under_way

    await slow.fire(MINUTE)
    await slow.consumer.round()
    assert slow.stage.under_way == [old]
    await slow.work()
    await slow.work()

    first, second = await slow.runs()
    assert (first.id, first.status) == (old, Status.CANCELLED)
    assert slow.stage.under_way == [second.id]


@pytest.mark.proves("T10")
async def test_with_cancel_running_only_the_newest_of_several_late_ticks_runs(slow: Rig) -> None:
    spec = every(60, overlap=Overlap.CANCEL_RUNNING, catchup=Catchup.ALL)
    schedule = await slow.schedule(spec)

    await slow.fire(10 * MINUTE)
    await slow.work()

    outcomes = await slow.outcomes(schedule.uid)
    assert outcomes == [("cancelled", "superseded", 1)] * 9 + [("ran", "on_time", 1)]
    assert await slow.planned_times() == [later(START, 10 * MINUTE)]


async def test_a_run_that_ends_between_deciding_and_saving_does_not_block_the_next(slow: Rig) -> None:
    """The run that waits for it must start: the storage checks again when it saves."""
    await slow.schedule(every(60, overlap=Overlap.QUEUE))
    await minutes(slow, 1)
    settle = slow.storage.ledger.commit_firings

    async def end_first(firings: object, **when: object) -> object:
        slow.stage.end(slow.stage.under_way[0])
        await slow.save()
        return await settle(firings, **when)  # type: ignore[arg-type]

    slow.storage.ledger.commit_firings = end_first  # type: ignore[method-assign, assignment]
    await slow.fire(MINUTE)
    await slow.work()

    assert [run.status for run in await slow.runs()] == [Status.SUCCESS, Status.RUNNING]
