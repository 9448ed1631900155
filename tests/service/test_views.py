"""Views of runs, ticks, jobs and workers: public names, aware times, nothing internal."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import MINUTE, SECOND, to_datetime
from foliot.domain.run.lease import Claim, Finish
from foliot.domain.run.run import Run
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.schedule.tick import TickOutcome, TickReason, tick_key
from foliot.ports.health import OverviewLimits
from foliot.service.queries.documents import as_json
from foliot.service.queries.job_view import view_job
from foliot.service.queries.overview import DepthView
from foliot.service.queries.run_view import RunView, view_attempt, view_run
from foliot.service.queries.schedule_view import view_tick
from foliot.service.services import Services
from foliot.testing.builders import (
    REPORT,
    a_run,
    cron,
    every,
    failed,
    lost,
    manual,
    retries_after,
    some_runs,
    succeeded,
    to_retry,
)
from foliot.testing.clock import START
from foliot.testing.conformance.storage.scene import Scene

SPECIFIED = {
    *("id", "job_id", "job_schedule_id", "status", "scheduled_for", "started_at", "finished_at", "attempt"),
    *("input_payload", "output_payload", "error_message", "created_at", "updated_at"),
}
AT_START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.proves("R1-18", "R4-72")
async def test_a_run_view_has_every_specified_field(scene: Scene) -> None:
    await scene.schedule(every(60))
    [run_id] = await scene.fire_after(MINUTE)
    scene.clock.advance(SECOND // 2)
    [claim] = await scene.claim()
    scene.clock.advance(2 * SECOND)
    await scene.finish(succeeded(claim, b'{"rows":3}'))

    view = view_run(await scene.run(run_id))

    assert set(RunView.__struct_fields__) >= SPECIFIED
    assert (view.job_id, view.job_schedule_id, view.status, view.trigger) == (
        *(REPORT, "nightly", "success", "schedule"),
    )
    assert (view.scheduled_for, view.created_at) == (AT_START + timedelta(minutes=1),) * 2
    assert view.started_at == AT_START + timedelta(minutes=1, milliseconds=500)
    assert view.finished_at == view.updated_at == AT_START + timedelta(minutes=1, seconds=2.5)
    assert (view.lag, view.duration, view.output_payload, view.exit_code) == (0.5, 2.0, {"rows": 3}, 0)


@pytest.mark.proves("R4-72")
async def test_the_lag_of_a_retry_counts_from_the_planned_time(scene: Scene) -> None:
    await scene.job(retry=retries_after(30 * SECOND))
    await scene.schedule(every(60))
    [run_id] = await scene.fire_after(MINUTE)
    [claim] = await scene.claim()
    await scene.finish(to_retry(claim))
    scene.clock.advance(30 * SECOND)
    await scene.release()
    await scene.claim()

    view = view_run(await scene.run(run_id))

    assert view.scheduled_for == AT_START + timedelta(minutes=1)
    assert (view.due_at, view.lag) == (AT_START + timedelta(seconds=90), 30.0)


async def test_the_lag_of_a_manual_run_counts_from_its_due_time(scene: Scene) -> None:
    [run_id] = await scene.create(a_run(payload=b"[1]"))
    queued = view_run(await scene.run(run_id))
    scene.clock.advance(3 * SECOND)
    await scene.claim()

    running = view_run(await scene.run(run_id))

    assert (queued.job_schedule_id, queued.scheduled_for, queued.lag, queued.duration) == (None, None, None, None)
    assert (queued.updated_at, queued.input_payload) == (to_datetime(START), [1])
    assert (running.lag, running.duration, running.status) == (3.0, None, "running")
    assert running.updated_at == running.started_at


@pytest.mark.proves("R1-51")
def test_a_run_view_has_no_internal_values() -> None:
    internal = {"token", "tick", "project", "uid", "schedule_uid", "tick_key", "limits", "rank"}

    assert internal.isdisjoint(RunView.__struct_fields__)
    assert {"token", "tick", "project"} <= set(Run._fields)


async def test_a_view_is_plain_json(scene: Scene) -> None:
    await scene.create(*some_runs(1, payload=b'{"a":1}'))
    [claim] = await scene.claim()
    await scene.finish(failed(claim))

    plain = json.loads(json.dumps(as_json(view_run(await scene.run(claim.run_id)))))

    assert plain["created_at"] == "2026-01-01T00:00:00Z"
    assert (plain["status"], plain["reason"], plain["error_message"]) == ("failed", "exit_code", "exit code 1")


async def test_attempt_views_are_listed(scene: Scene) -> None:
    claim = await scene.start()
    scene.clock.advance(SECOND)
    await scene.finish(to_retry(claim))

    [view] = [view_attempt(record) for record in await scene.storage.queries.attempts(claim.run_id)]

    assert (view.attempt, view.status, view.reason, view.duration) == (1, "failed", "exit_code", 1.0)
    assert (view.started_at, view.exit_code, view.error_message) == (AT_START, 1, "exit code 1")


async def test_tick_views_have_their_run(scene: Scene) -> None:
    schedule = await scene.schedule(every(60))
    [run_id] = await scene.fire_after(MINUTE)

    [seen] = await scene.latest_ticks(2)
    view = view_tick(schedule.id, seen)

    assert (view.outcome, view.reason, view.run_id) == (TickOutcome.RAN, TickReason.ON_TIME, run_id)
    assert view.scheduled_for == view.until == view.fire_at == AT_START + timedelta(minutes=1)
    assert (view.count, view.coalesced_into) == (1, None)


@pytest.mark.proves("R4-24")
async def test_a_tick_view_has_schedule_decision_time_and_update_time(scene: Scene) -> None:
    schedule = await scene.schedule(every(60))
    [run_id] = await scene.fire_after(MINUTE)
    scene.clock.advance(SECOND)
    [claim] = await scene.claim()
    scene.clock.advance(SECOND)
    await scene.finish(succeeded(claim))

    [seen] = await scene.latest_ticks(2)
    alone, view = view_tick(schedule.id, seen), view_tick(schedule.id, seen, await scene.run(run_id))

    decided = AT_START + timedelta(minutes=1)
    assert (view.schedule_id, view.idempotency_key) == (schedule.id, tick_key(schedule.id, seen.record.scheduled_for))
    assert (view.created_at, view.updated_at) == (decided, decided + timedelta(seconds=2))
    assert (alone.created_at, alone.updated_at) == (decided, decided)


async def test_a_job_view_has_its_definition(scene: Scene) -> None:
    job = await scene.job(spec={"command": "true"}, priority=5, tags=("x",), owner="ops", enabled=False)

    view = view_job(job)

    assert (view.id, view.kind, view.spec) == (REPORT, "shell", {"command": "true"})
    assert (view.options["priority"], view.options["retry"]["retries"]) == (5, 1_000)
    assert (view.tags, view.owner, view.enabled, view.source, view.latest_run) == (("x",), "ops", False, "api", None)
    assert json.dumps(as_json(view))


# -- the overview


async def test_jobs_are_listed_with_their_latest_run(services: Services, scene: Scene) -> None:
    await scene.job("idle")
    await scene.job()
    await scene.start()
    latest = await scene.start()

    jobs = await services.jobs.page()

    assert [(job.id, job.latest_run and job.latest_run.id) for job in jobs] == [
        ("idle", None),
        (REPORT, latest.run_id),
    ]
    assert [job.id for job in await services.jobs.page(after="idle", limit=1)] == [REPORT]


async def test_the_overview_has_running_and_queued_runs(services: Services, scene: Scene) -> None:
    first, second = await scene.start(), await scene.start()
    await scene.cancel(first.run_id)
    await scene.create(*some_runs(3))

    page = await services.queries.overview.page()
    short = await services.queries.overview.page(OverviewLimits(rows=1, failures=1, counted=1))

    assert [run.id for run in page.running] == [second.run_id, first.run_id]
    assert [run.id for run in short.running] == [second.run_id]
    assert page.depth == DepthView(running=2, queued=3, scheduled=0)
    assert short.depth == DepthView(running=1, queued=1, scheduled=0)
    [worker] = page.workers
    assert (worker.name, worker.is_alive, worker.running, worker.slots) == ("standby", True, 2, 10)


async def test_the_overview_has_upcoming_schedules_in_order(services: Services, scene: Scene) -> None:
    for name, seconds in (("slow", 3_600), ("fast", 60), ("off", 30)):
        await scene.schedule(every(seconds, job_id=JobId(name)), schedule_id=name)
    await scene.pause(paused=True, schedule_id=ScheduleId("off"))

    upcoming = (await services.queries.overview.page()).upcoming

    assert [view.schedule_id for view in upcoming] == ["fast", "slow"]
    assert upcoming[0].preview[:2] == [AT_START + timedelta(minutes=1), AT_START + timedelta(minutes=2)]
    assert upcoming[0].next_run_at == upcoming[0].preview[0]
    [off] = [view for view in await services.queries.schedules.listed() if view.paused]
    assert (off.schedule_id, off.preview) == ("off", [])
    assert [view.schedule_id for view in await services.queries.schedules.listed(job_id="slow")] == ["slow"]


@pytest.mark.proves("R1-12")
@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (cron("0 0 13 * FRI"), "at 00:00 on day 13 of the month or on Friday, UTC"),
        (cron("0 0 13 * FRI", dom_dow="and"), "at 00:00 on day 13 of the month if that is Friday, UTC"),
        (cron("H 3 * * *"), "at 03:27 every day, UTC"),
        (cron("H 3 * * *", seed="report:default"), "at 03:22 every day, UTC"),
        (cron("30 2 * * *", timezone="Europe/Berlin", dst="skip"), "at 02:30 every day, Europe/Berlin"),
        (every(60), None),
        (manual(), None),
    ],
)
async def test_a_schedule_view_describes_its_cron_expression(
    services: Services, scene: Scene, spec: ScheduleSpec, words: str | None
) -> None:
    await scene.schedule(spec)

    [listed] = await services.queries.schedules.listed()
    shown = await services.schedules.get("nightly")

    assert listed.description == shown.description == as_json(shown)["description"] == words


async def test_description_and_next_times_of_a_renamed_schedule_agree(services: Services, scene: Scene) -> None:
    await scene.schedule(cron("H 3 * * *", seed="report:default"))

    [view] = await services.queries.schedules.listed()

    assert f"{view.preview[0]:at %H:%M}" in str(view.description)


@pytest.mark.parametrize("finish", [lost, to_retry])
async def test_the_view_of_a_running_run_has_no_error_of_its_last_attempt(
    scene: Scene, finish: Callable[[Claim], Finish]
) -> None:
    first = await scene.start()
    await scene.finish(finish(first))
    waiting = view_run(await scene.run(first.run_id))
    scene.clock.advance(MINUTE)
    await scene.release()
    await scene.claim()

    view = view_run(await scene.run(first.run_id))

    assert waiting.reason is not None
    assert (view.status, view.reason, view.error_message, view.exit_code) == ("running", None, None, None)


@pytest.mark.proves("R4-49")
async def test_the_status_of_a_tick_follows_its_run(services: Services, scene: Scene) -> None:
    await scene.job(retry=retries_after(30 * SECOND))
    schedule = await scene.schedule(every(60))

    async def status() -> str | None:
        [tick] = await services.schedules.ticks(schedule.id)
        return tick.status

    await scene.fire_after(MINUTE)
    seen = [await status()]
    [claim] = await scene.claim()
    seen.append(await status())
    await scene.finish(to_retry(claim))
    seen.append(await status())
    scene.clock.advance(30 * SECOND)
    await scene.release()
    [again] = await scene.claim()
    await scene.finish(failed(again))
    seen.append(await status())

    assert seen == ["queued", "running", "scheduled", "failed"]


async def test_the_view_of_a_step_run_has_its_parent(scene: Scene) -> None:
    [whole] = await scene.create(a_run())
    [part] = await scene.create(a_run(parent_id=whole, root_id=whole, child_key="load"))

    views = [as_json(view_run(await scene.run(run_id))) for run_id in (whole, part)]

    assert [(view["parent_id"], view["root_id"], view["child_key"]) for view in views] == [
        (None, None, None),
        (whole, whole, "load"),
    ]
