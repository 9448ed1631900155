"""The path of a tick and its run: every stage, which one binds, and what can change it."""

from datetime import datetime

import pytest

from foliot.domain.instant import MINUTE, SECOND, Instant, to_datetime
from foliot.domain.schedule.project_pause import PauseOrder
from foliot.domain.schedule.schedule import Catchup
from foliot.domain.schedule.tick import TickOutcome
from foliot.errors import InvalidInput, NotFound
from foliot.service.path import (
    AttemptStage,
    ChangeKind,
    ExitStage,
    ExplainedPath,
    LimitStage,
    NotPlanned,
    PausedStage,
    PolicyStage,
    TickStage,
)
from foliot.service.services import Services
from foliot.testing.builders import LEASE, NIGHTLY, a_run, every, failed, manual, succeeded, to_retry
from foliot.testing.conformance.storage.scene import Scene


def names(path: ExplainedPath) -> list[str]:
    return [str(type(stage).__struct_config__.tag) for stage in path.stages]


async def tick_path(services: Services, at: Instant, name: str = NIGHTLY) -> ExplainedPath:
    return await services.queries.explained.tick(name, to_datetime(at))


def at(instant: Instant) -> datetime:
    return to_datetime(instant)


async def test_a_run_of_a_tick_is_explained_from_tick_to_exit(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))
    await scene.worker()
    [run_id] = await scene.fire_after(MINUTE)
    [claim] = await scene.claim(only=[run_id])
    await scene.finish(succeeded(claim))

    path = await services.queries.explained.run(run_id)

    assert names(path) == ["tick", "policy", "due", "worker", "attempt", "exit"]
    assert isinstance(path.binding, ExitStage)
    assert path.change.kind is ChangeKind.NEVER


async def test_a_retried_run_binds_at_its_attempt_until_it_is_due(services: Services, scene: Scene) -> None:
    claim = await scene.start(a_run(retry_delay=MINUTE))
    await scene.finish(to_retry(claim))

    path = await services.queries.explained.run(claim.run_id)

    assert names(path) == ["trigger", "due", "worker", "attempt"]
    assert isinstance(path.binding, AttemptStage)
    assert (path.binding.number, path.change.kind) == (1, ChangeKind.AT_TIME)
    assert path.binding.retry_at == path.change.at
    assert path.change.at is not None
    assert path.change.at > at(scene.now)


async def test_every_attempt_of_a_failed_run_is_a_stage(services: Services, scene: Scene) -> None:
    first = await scene.start()
    await scene.finish(to_retry(first))
    [second] = await scene.claim(only=[first.run_id])
    await scene.finish(failed(second))

    path = await services.queries.explained.run(first.run_id)

    assert names(path) == ["trigger", "due", "worker", "attempt", "attempt", "exit"]
    assert path.status == "failed"


async def test_a_run_that_waits_for_a_limit_names_the_runs_that_hold_it(services: Services, scene: Scene) -> None:
    holder = await scene.start(a_run(max_concurrent=1))
    [waiting] = await scene.create(a_run(max_concurrent=1))

    path = await services.queries.explained.run(waiting)

    assert isinstance(path.binding, LimitStage)
    assert (path.change.kind, path.change.waits_for) == (ChangeKind.RUN_ENDS, (holder.run_id,))


async def test_a_run_without_a_worker_binds_there(services: Services, scene: Scene) -> None:
    [run_id] = await scene.create(a_run())

    path = await services.queries.explained.run(run_id)

    assert (names(path)[-1], path.change.kind) == ("worker", ChangeKind.WORKER_STARTS)


async def test_a_skipped_tick_is_final_and_names_the_run_it_overlapped(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))
    [first] = await scene.fire_after(MINUTE)
    await scene.fire_after(MINUTE)

    path = await tick_path(services, scene.now)

    assert names(path) == ["tick", "policy"]
    assert isinstance(path.binding, PolicyStage)
    assert (path.binding.outcome, path.binding.in_flight) == (TickOutcome.SKIPPED, (first,))
    assert path.change.kind is ChangeKind.NEVER


async def test_a_missed_tick_says_how_late_it_was_decided(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))
    start = scene.now
    await scene.fire_after(10 * MINUTE)

    path = await tick_path(services, Instant(start + 2 * MINUTE))

    assert isinstance(path.binding, PolicyStage)
    assert (path.binding.outcome, path.binding.catchup) == (TickOutcome.MISSED, "none")
    assert path.binding.late > 60


async def test_a_coalesced_tick_names_the_run_that_ran_for_it(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60, catchup=Catchup.ONCE))
    start = scene.now
    [run_id] = await scene.fire_after(3 * MINUTE)

    path = await tick_path(services, Instant(start + MINUTE))

    assert isinstance(path.binding, PolicyStage)
    assert (path.binding.into, path.binding.into_run) == (at(scene.now), run_id)


async def test_a_tick_of_a_paused_schedule_was_paused(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))
    await scene.pause(paused=True)
    paused_at = scene.now
    scene.clock.advance(3 * MINUTE)
    waiting = await tick_path(services, Instant(paused_at + MINUTE))
    await scene.pause(paused=False)
    resumed_at = scene.now
    await scene.fire_after(MINUTE)

    path = await tick_path(services, Instant(paused_at + MINUTE))

    assert (names(waiting), waiting.change.kind) == (["tick", "paused"], ChangeKind.RESUMED)
    assert isinstance(path.binding, PolicyStage)
    assert (path.binding.paused_since, path.binding.paused_until) == (at(paused_at), at(resumed_at))
    assert path.change.kind is ChangeKind.NEVER


async def test_a_tick_in_a_pause_of_all_schedules_names_the_pause(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))
    paused_at = scene.now
    order = PauseOrder(scene.after(10 * MINUTE), "ada", "new disks")
    await scene.storage.definitions.pause_project(order, at=scene.now)
    scene.clock.advance(3 * MINUTE)
    waiting = await tick_path(services, Instant(paused_at + MINUTE))
    afterwards = await tick_path(services, Instant(paused_at + 12 * MINUTE))
    await scene.fire_after(8 * MINUTE)

    path = await tick_path(services, Instant(paused_at + MINUTE))

    assert isinstance(waiting.binding, PausedStage)
    assert waiting.binding.all_paused is not None
    assert (waiting.change.kind, waiting.change.at) == (ChangeKind.RESUMED, at(Instant(paused_at + 10 * MINUTE)))
    assert (names(afterwards), afterwards.change.kind) == (["tick"], ChangeKind.AT_TIME)
    assert isinstance(path.binding, PolicyStage)
    assert path.binding.all_paused == waiting.binding.all_paused
    assert (path.binding.all_paused.by, path.binding.all_paused.note) == ("ada", "new disks")


async def test_a_coming_tick_binds_until_its_time(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))

    path = await tick_path(services, scene.after(MINUTE))

    assert (names(path), path.change.kind, path.change.at) == (["tick"], ChangeKind.AT_TIME, at(scene.after(MINUTE)))


async def test_an_overdue_tick_waits_for_a_scheduler(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))
    scene.clock.advance(2 * MINUTE)

    assert (await tick_path(services, Instant(scene.now - MINUTE))).change.kind is ChangeKind.SCHEDULER_STARTS

    await scene.storage.upkeep.lead("north", LEASE)
    assert (await tick_path(services, Instant(scene.now - MINUTE))).change.kind is ChangeKind.DECIDED


@pytest.mark.parametrize(
    ("offset", "reason"),
    [
        (90 * SECOND, NotPlanned.NO_FIRE_TIME),
        (10 * MINUTE + SECOND, NotPlanned.NO_FIRE_TIME),
        (-MINUTE, NotPlanned.BEFORE_SCHEDULE),
    ],
)
async def test_a_time_that_is_not_planned_has_the_nearest_planned_ones(
    services: Services, scene: Scene, offset: int, reason: NotPlanned
) -> None:
    await scene.schedule(every(60))
    start = scene.now
    await scene.fire_after(MINUTE)
    await scene.fire_after(MINUTE)

    path = await tick_path(services, Instant(start + offset))

    assert isinstance(path.binding, TickStage)
    assert path.binding.not_planned is reason
    assert path.binding.nearest
    assert path.change.kind is ChangeKind.NEVER


async def test_a_job_names_its_only_schedule(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60))

    path = await tick_path(services, scene.after(MINUTE), name="report")

    assert isinstance(path.binding, TickStage)
    assert path.binding.schedule_id == NIGHTLY
    await scene.schedule(manual(), schedule_id="second")
    with pytest.raises(InvalidInput, match="several schedules"):
        await tick_path(services, scene.after(MINUTE), name="report")
    with pytest.raises(NotFound):
        await tick_path(services, scene.after(MINUTE), name="missing")


async def test_the_newest_tick_of_a_schedule_is_its_last(services: Services, scene: Scene) -> None:
    await scene.schedule(every(60), schedule_id="often")
    await scene.fire_after(MINUTE)
    await scene.fire_after(MINUTE)

    path = await services.queries.explained.run("often@last")

    assert isinstance(path.stages[0], TickStage)
    assert path.stages[0].scheduled_for == at(scene.now)
