"""Fanouts from their start to their end, on a virtual clock."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.domain.instant import MINUTE, SECOND, Millis
from foliot.domain.job.job import Options
from foliot.domain.run.outcome import Success
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap
from foliot.ports.storage import Storage
from foliot.testing.builders import every
from foliot.testing.clock import VirtualClock
from foliot.testing.invariants import check_invariants
from tests.engine.fanouts import (
    BAD,
    SCAN,
    FanoutRig,
    a_fanout,
    a_reducer,
    fail,
    hold,
    is_reducer,
    keys,
    retries,
    statuses,
    summary,
)

MakeRig = Callable[..., FanoutRig]


@pytest.fixture
def fanouts(storage: Storage, clock: VirtualClock) -> MakeRig:
    return lambda *arguments, **fields: FanoutRig(storage, clock, *arguments, **fields)


# -- children


@pytest.mark.proves("R0-34", "R0-35", "F1")
async def test_each_item_becomes_one_child_in_the_order_of_the_input(fanouts: MakeRig) -> None:
    rig = fanouts()
    run_id = await rig.start(["c", "a", "b", "a"])

    run = await rig.go_on(run_id)

    assert (run.status, run.reason) == (Status.SUCCESS, None)
    assert rig.runner.items == ["c", "a", "b", "a"]
    children = await rig.children(run_id)
    assert [child.child_key for child in children] == keys(4)
    assert {(child.parent_id, child.root_id, child.job_id) for child in children} == {(run_id, run_id, "scan.item")}
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


@pytest.mark.proves("R0-28", "R0-36")
async def test_a_free_place_is_refilled_while_a_long_item_runs(fanouts: MakeRig) -> None:
    rig = fanouts(lambda attempt: None)
    run_id = await rig.start(["long", *map(str, range(9))], concurrency=3)
    await rig.turn()
    await rig.turn()
    most = len(rig.runner.under_way)
    [long, *_] = [attempt.run_id for attempt in rig.runner.attempts]

    while len(rig.runner.attempts) < 10 or len(rig.runner.under_way) > 1:
        most = max(most, len(rig.runner.under_way))
        rig.runner.end(next(other for other in rig.runner.under_way if other != long))
        await rig.turn()

    assert most == 3
    assert rig.runner.under_way == [long]
    assert await rig.status(run_id) is Status.RUNNING
    rig.runner.end(long)
    assert (await rig.go_on(run_id)).status is Status.SUCCESS


async def test_the_next_item_starts_without_a_settler(fanouts: MakeRig) -> None:
    rig = fanouts(lambda attempt: None)
    await rig.start(["a", "b", "c"], concurrency=1)
    await rig.claim()

    for _ in range(3):
        await rig.claim()
        [running] = rig.runner.under_way
        rig.runner.end(running)
        await rig.save()

    assert rig.runner.items == ["a", "b", "c"]


@pytest.mark.proves("R0-52", "F6")
async def test_a_retry_is_another_attempt_of_the_same_child(fanouts: MakeRig) -> None:
    rig = fanouts(lambda attempt: BAD if attempt.payload == "b" and attempt.number == 1 else Success())
    run_id = await rig.start(["a", "b", "c"], child_options=retries(2))

    run = await rig.go_on(run_id)

    assert run.status is Status.SUCCESS
    assert [(child.status, child.attempt) for child in await rig.children(run_id)] == [
        (Status.SUCCESS, 1),
        (Status.SUCCESS, 2),
        (Status.SUCCESS, 1),
    ]


@pytest.mark.proves("R0-53", "F6")
async def test_an_exhausted_child_counts_as_failed_and_nothing_fans_out_again(fanouts: MakeRig) -> None:
    rig = fanouts(fail("b"))
    run_id = await rig.start(["a", "b"], child_options=retries(2))

    run = await rig.go_on(run_id)
    for _ in range(5):
        await rig.turn()

    assert (run.status, run.reason, run.attempt) == (Status.FAILED, "items_failed", 1)
    assert rig.runner.items == ["a", "b", "b", "b"]
    assert [(child.status, child.attempt) for child in await rig.children(run_id)] == [
        (Status.SUCCESS, 1),
        (Status.FAILED, 3),
    ]
    assert (summary(run)["succeeded"], summary(run)["failed"]) == (1, 1)


@pytest.mark.proves("R0-29")
async def test_the_timeout_of_an_item_ends_one_child_and_not_the_others(fanouts: MakeRig) -> None:
    rig = fanouts(hold("slow"))
    run_id = await rig.start(["a", "slow", "b"], per_item_timeout=30 * SECOND, partial_tolerance=0.5)
    await rig.turn()
    await rig.turn()

    rig.clock.advance(30 * SECOND)
    run = await rig.go_on(run_id)

    assert statuses(await rig.children(run_id)) == [Status.SUCCESS, Status.TIMEOUT, Status.SUCCESS]
    assert (run.status, summary(run)["timed_out"]) == (Status.PARTIAL, 1)


async def test_a_child_cancelled_by_a_person_counts_as_unsuccessful(fanouts: MakeRig) -> None:
    rig = fanouts(hold("b"))
    run_id = await rig.start(["a", "b"])
    await rig.turn()
    await rig.turn()

    await rig.storage.orders.cancel([(await rig.children(run_id))[1].id])
    run = await rig.go_on(run_id)

    assert (run.status, run.reason, summary(run)["cancelled"]) == (Status.FAILED, "items_failed", 1)


@pytest.mark.proves("R0-37", "R0-38", "F4")
@pytest.mark.parametrize(
    ("items", "failed", "tolerance", "status"),
    [
        (10, 0, 0.1, "success"),
        (10, 1, 0.1, "partial"),
        (10, 2, 0.1, "failed"),
        (10, 1, 0.0, "failed"),
        (3, 3, 1.0, "partial"),
        (0, 0, 0.0, "success"),
    ],
)
async def test_the_status_of_a_fanout_follows_from_the_share_of_failures(
    fanouts: MakeRig, items: int, failed: int, tolerance: float, status: str
) -> None:
    rig = fanouts(fail(*range(failed)))

    run = await rig.go_on(await rig.start(list(range(items)), partial_tolerance=tolerance))

    assert run.status == status
    counts = [summary(run)[name] for name in ("items", "succeeded", "failed", "timed_out", "cancelled")]
    assert counts == [items, items - failed, failed, 0, 0]


# -- the reducer


@pytest.mark.proves("R0-33", "F5")
async def test_the_reducer_runs_after_all_items_and_gets_their_counts(fanouts: MakeRig) -> None:
    rig = fanouts(fail("b"))
    run_id = await rig.start(["a", "b"], partial_tolerance=0.5, reducer=a_reducer())

    run = await rig.go_on(run_id)

    assert run.status is Status.PARTIAL
    [reducer] = rig.runner.reducers
    assert rig.runner.attempts[-1] is reducer
    assert reducer.environment == {
        "FOLIOT_EXECUTION_ID": run_id,
        "FOLIOT_STEP": "reducer",
        "FOLIOT_PARENT_RUN_ID": run_id,
        "CRONLORD_PARENT_RUN_ID": run_id,
        "FOLIOT_FANOUT_STATUS": "partial",
        "FOLIOT_FANOUT_ITEMS": "2",
        "FOLIOT_FANOUT_SUCCEEDED": "1",
        "FOLIOT_FANOUT_FAILED": "1",
        "FOLIOT_FANOUT_TIMED_OUT": "0",
        "FOLIOT_FANOUT_CANCELLED": "0",
        "FOLIOT_FANOUT_SKIPPED": "0",
    }


@pytest.mark.proves("R0-33", "R0-76", "F5")
@pytest.mark.parametrize(
    ("run_on", "items", "failed", "runs"),
    [
        *[("success", 2, 0, 1), ("success", 2, 1, 0), ("success", 2, 2, 0), ("success", 0, 0, 0)],
        *[("any_success", 2, 0, 1), ("any_success", 2, 1, 1), ("any_success", 2, 2, 0), ("any_success", 0, 0, 0)],
        *[("always", 2, 0, 1), ("always", 2, 1, 1), ("always", 2, 2, 1), ("always", 0, 0, 1)],
    ],
)
async def test_run_on_decides_whether_the_reducer_runs(
    fanouts: MakeRig, run_on: str, items: int, failed: int, runs: int
) -> None:
    rig = fanouts(fail(*range(failed)))

    run = await rig.go_on(await rig.start(list(range(items)), reducer=a_reducer(run_on=run_on)))

    assert len(rig.runner.reducers) == runs
    assert run.status is (Status.FAILED if failed else Status.SUCCESS)


@pytest.mark.proves("R0-75")
@pytest.mark.parametrize(("own", "attempts"), [({}, 1), (retries(2), 3)])
async def test_a_reducer_has_retries_of_its_own(fanouts: MakeRig, own: dict[str, Any], attempts: int) -> None:
    rig = fanouts(lambda attempt: BAD if is_reducer(attempt) else Success())

    run = await rig.go_on(await rig.start(["a"], child_options=retries(5), reducer=a_reducer(**own)))

    assert len(rig.runner.reducers) == attempts
    assert (run.status, run.reason) == (Status.FAILED, "reducer_failed")


@pytest.mark.proves("R0-39")
async def test_a_reducer_that_outlasts_the_fanouts_timeout_is_ended(fanouts: MakeRig) -> None:
    rig = fanouts(lambda attempt: None if is_reducer(attempt) else Success())
    run_id = await rig.start(["a"], options=Options(timeout=Millis(MINUTE)), reducer=a_reducer())
    while not rig.runner.reducers:
        await rig.turn()

    rig.clock.advance(MINUTE)
    run = await rig.go_on(run_id)

    [reducer] = [run for run in await rig.runs() if run.child_key == "reducer"]
    assert (run.status, reducer.status) == (Status.TIMEOUT, Status.TIMEOUT)


# -- the parent


@pytest.mark.parametrize("is_reducing", [False, True])
async def test_a_tick_is_skipped_until_the_reducer_has_ended(fanouts: MakeRig, is_reducing: bool) -> None:
    """A fanout is in flight until its reducer is done."""
    rig = fanouts(lambda attempt: None if is_reducer(attempt) is is_reducing else Success())
    await rig.fanout(["a", "b"], reducer=a_reducer())
    schedule = await rig.schedule(every(60, job_id=SCAN, overlap=Overlap.SKIP))
    await rig.fire(MINUTE)
    for _ in range(4):
        await rig.turn()
    assert bool(rig.runner.reducers) is is_reducing

    await rig.fire(MINUTE)
    for running in rig.runner.under_way:
        rig.runner.end(running)
    for _ in range(4):
        await rig.turn()
    await rig.fire(MINUTE)

    assert [outcome for outcome, *_ in await rig.outcomes(schedule.uid)] == ["ran", "skipped", "ran"]


@pytest.mark.proves("R0-55", "R0-57", "F7")
async def test_a_cancelled_fanout_starts_nothing_more_and_does_not_reduce(fanouts: MakeRig) -> None:
    rig = fanouts(hold(*range(2, 200)))
    run_id = await rig.start(list(range(200)), concurrency=5, reducer=a_reducer(run_on="always"))
    await rig.turn()
    await rig.turn()
    await rig.turn()
    started = len(rig.runner.attempts)

    await rig.storage.orders.cancel([run_id])
    run = await rig.go_on(run_id)

    assert (run.status, run.reason) == (Status.CANCELLED, "cancelled")
    assert len(rig.runner.attempts) == started == 7
    assert len(rig.runner.cancelled) == 5
    children = await rig.children(run_id)
    assert statuses(children) == [Status.SUCCESS] * 2 + [Status.CANCELLED] * (len(children) - 2)
    assert (summary(run)["succeeded"], summary(run)["cancelled"]) == (2, 198)
    assert [run for run in await rig.runs() if run.child_key == "reducer"] == []
    assert await check_invariants(rig.storage, now=rig.clock.now()) == []


async def test_cancelling_during_the_reducer_cancels_the_reducer(fanouts: MakeRig) -> None:
    rig = fanouts(lambda attempt: None if is_reducer(attempt) else Success())
    run_id = await rig.start(["a"], reducer=a_reducer())
    while not rig.runner.reducers:
        await rig.turn()

    await rig.storage.orders.cancel([run_id])
    run = await rig.go_on(run_id)

    assert (run.status, rig.runner.cancelled) == (Status.CANCELLED, [rig.runner.reducers[0].run_id])


async def test_the_timeout_of_a_fanout_ends_all_its_children(fanouts: MakeRig) -> None:
    rig = fanouts(lambda attempt: None)
    reducer = a_reducer(run_on="always")
    run_id = await rig.start(list(range(300)), options=Options(timeout=Millis(MINUTE)), reducer=reducer)
    await rig.turn()
    await rig.turn()

    rig.clock.advance(MINUTE)
    run = await rig.go_on(run_id)

    assert (run.status, run.reason, rig.runner.reducers) == (Status.TIMEOUT, "timeout", [])
    assert set(statuses(await rig.children(run_id))) == {Status.CANCELLED}
    assert summary(run)["cancelled"] == 300


# -- changes while it runs


async def test_a_fanout_keeps_the_definition_that_it_began_with(fanouts: MakeRig) -> None:
    rig = fanouts(lambda attempt: None)
    run_id = await rig.start(["a", "b"], concurrency=1, mark="old", reducer=a_reducer())
    await rig.turn()
    await rig.turn()

    await rig.fanout(["x", "y", "z"], mark="new")
    rig.runner.answer_to = lambda attempt: Success()
    rig.runner.end(rig.runner.under_way[0])
    run = await rig.go_on(run_id)

    assert (run.status, rig.runner.items) == (Status.SUCCESS, ["a", "b"])
    assert [attempt.spec.get("mark") for attempt in rig.runner.attempts] == ["old", "old", None]
    assert len(rig.runner.reducers) == 1


@pytest.mark.parametrize("change", ["paused", "disabled", "deleted"])
async def test_a_running_fanout_ends_although_its_job_is_taken_away(fanouts: MakeRig, change: str) -> None:
    rig = fanouts(lambda attempt: None)
    run_id = await rig.start(list(range(120)), concurrency=4)
    await rig.turn()
    await rig.turn()

    match change:
        case "paused":
            await rig.storage.definitions.pause_job(SCAN, paused=True)
        case "disabled":
            spec = replace(a_fanout(list(range(120))), enabled=False)
            await rig.storage.definitions.put_jobs([(SCAN, spec)])
        case "deleted":
            await rig.storage.definitions.delete_jobs([SCAN])
    rig.runner.answer_to = lambda attempt: Success()
    for running in rig.runner.under_way:
        rig.runner.end(running)
    run = await rig.go_on(run_id)

    assert (run.status, summary(run)["succeeded"]) == (Status.SUCCESS, 120)
