"""A job behaves the same inside and outside workflows, and its runs by hand leave schedules alone."""

from collections import Counter
from datetime import timedelta

import pytest

from foliot import Foliot, Workflow
from foliot.domain.events import EventKind
from foliot.testing.inline import InlineEngine
from tests.engine.diary import Diary


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def app(diary: Diary) -> Foliot:
    """A job that is scheduled every hour, and is also the first step of a workflow."""
    app = Foliot()
    app.job(id="load", retries=1, retry_delay=60)(diary.step("load"))
    app.job(id="notify")(diary.step("notify"))
    app.schedule("hourly", "load", cron="0 * * * *")
    flow = Workflow("flow")
    flow.step("first", job="load")
    flow.step("second", job="notify").after("first")
    app.workflow(flow)
    return app


@pytest.mark.proves("R2-37")
async def test_a_job_that_is_also_a_step_fails_alone_like_any_job(
    app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    diary.failing = {"load"}
    run_id = await app.enqueue("load")
    await engine.run_until_idle()
    waiting = await app.runs.get(run_id)
    await engine.advance(timedelta(minutes=1))

    failed = await app.runs.get(run_id)
    assert (waiting.status, waiting.attempt) == ("scheduled", 1)
    assert (failed.status, failed.reason, failed.attempt) == ("failed", "exception", 2)
    assert "ValueError: load fails" in (failed.error_message or "")
    assert diary.seen == [("load", None), ("load", None)]
    assert await app.runs.page(job="flow") == []


@pytest.mark.proves("R2-46")
async def test_a_job_runs_by_its_schedule_and_as_a_step_independently(
    app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    execution_id = await app.workflows.start("flow")
    await engine.advance(timedelta(hours=1))

    runs = await app.runs.page(job="load")
    made_by = {(run.trigger, run.job_schedule_id, run.parent_id, run.child_key) for run in runs}
    assert made_by == {("schedule", "hourly", None, None), ("workflow", None, execution_id, "first")}
    assert sorted(diary.seen, key=str) == [("load", execution_id), ("load", None), ("notify", execution_id)]
    assert [tick.run_id for tick in await app.schedules.ticks("hourly")] == [runs[0].id]


@pytest.mark.proves("R2-56")
async def test_each_step_that_runs_publishes_one_start_and_one_end(app: Foliot, engine: InlineEngine) -> None:
    execution_id = await app.workflows.start("flow")
    await engine.run_until_idle()

    events = await (await app.open()).storage.queries.events(after=0, limit=1_000)
    steps = {run.id for run in await app.runs.page(children=True) if run.parent_id == execution_id}
    published = [(event.kind, item[0]) for event in events for item in event.items if item[0] in steps]
    assert len(steps) == 2
    for kind in (EventKind.RUNS_STARTED, EventKind.RUNS_ENDED):
        assert Counter(run_id for found, run_id in published if found is kind) == dict.fromkeys(steps, 1)


@pytest.mark.proves("R1-16")
@pytest.mark.parametrize("change", ["pause", "delete"])
async def test_a_run_continues_when_its_schedule_is_paused_or_deleted(
    app: Foliot, engine: InlineEngine, diary: Diary, change: str
) -> None:
    await app.schedules.upsert("mine", job_id="notify", cron="30 * * * *")
    diary.hold("notify")
    await engine.advance(timedelta(minutes=30))
    [run] = await app.runs.page(job="notify")

    await getattr(app.schedules, change)("mine")
    await engine.advance(timedelta(minutes=10))
    before = (await app.runs.get(run.id)).status
    diary.let_go("notify")
    await engine.run_until_idle()

    assert (before, (await app.runs.get(run.id)).status) == ("running", "success")
    assert len(await app.runs.page(job="notify")) == 1


@pytest.mark.proves("S11")
async def test_a_run_by_hand_has_no_tick_and_does_not_move_the_schedule(app: Foliot, engine: InlineEngine) -> None:
    before = await app.schedules.get("hourly")

    run_id = await app.enqueue("load")
    await engine.run_until_idle()

    run = await app.runs.get(run_id)
    assert (run.status, run.job_schedule_id) == ("success", None)
    assert await app.schedules.ticks("hourly") == []
    assert await app.schedules.get("hourly") == before
    await engine.advance(timedelta(hours=1))
    assert [tick.scheduled_for for tick in await app.schedules.ticks("hourly")] == [before.next_run_at]
