"""Reports of an application's executor about the runs that its launcher started."""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Literal, cast

import pytest

from foliot import Foliot
from foliot.domain.instant import to_datetime
from foliot.domain.schedule.tick_run import LAUNCH_JOB, LAUNCH_SPEC
from foliot.errors import FoliotError, InvalidRun
from foliot.service.queries.schedule_view import TickView
from foliot.testing.inline import InlineEngine


class Executor:
    """A launcher that returns ids of its own."""

    def __init__(self, answer: object = "") -> None:
        self.keys: list[str] = []
        self.answer = answer

    async def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: datetime, idempotency_key: str
    ) -> bool | str:
        self.keys.append(idempotency_key)
        return cast(str, self.answer) or f"wf-{len(self.keys)}"


Launched = tuple[Foliot, InlineEngine, Executor]


@pytest.fixture
async def launched() -> AsyncIterator[Launched]:
    executor = Executor()
    app = Foliot(launcher=executor)
    async with InlineEngine(app) as engine:
        yield app, engine, executor


async def hourly(engine: InlineEngine, hours: int = 1, *, overlap: Literal["skip", "queue"] = "skip") -> list[TickView]:
    """Schedule a workflow and let some hours pass. Returns the ticks, oldest first."""
    await engine.app.schedules.upsert("s", workflow_id="etl", cron="@hourly", overlap=overlap)
    await engine.advance(timedelta(hours=hours, minutes=1))
    return (await engine.app.schedules.ticks("s"))[::-1]


@pytest.mark.proves("R4-49")
async def test_a_tick_follows_the_reports_of_the_executor(launched: Launched) -> None:
    app, engine, executor = launched
    [tick] = await hourly(engine)
    assert (tick.status, len(executor.keys)) == ("running", 1)

    started = await app.launches.report(executor.keys[0], "STARTED", "wf-1")
    begun = await app.runs.get(started.run_id)
    ended = await app.launches.report(executor.keys[0], "SUCCESS", "wf-1")

    [tick] = await app.schedules.ticks("s")
    assert (started.status, ended.status, tick.status) == ("running", "success", "success")
    assert (begun.executor_run_id, begun.executor_started_at) == ("wf-1", to_datetime(engine.clock.now()))
    assert (await app.runs.get(ended.run_id)).executor_run_id == "wf-1"


@pytest.mark.proves("R4-49")
async def test_a_reported_failure_fails_the_tick_with_its_error(launched: Launched) -> None:
    app, engine, executor = launched
    await hourly(engine)

    report = await app.launches.report(executor.keys[0], "failed", error="disk full")

    run = await app.runs.get(report.run_id)
    assert (run.status, run.reason, run.error_message, run.attempt) == ("failed", "executor_failed", "disk full", 1)


@pytest.mark.proves("R4-38", "R4-49", "T10")
async def test_overlap_skip_skips_ticks_until_the_end_is_reported(launched: Launched) -> None:
    app, engine, executor = launched
    await hourly(engine, 2)
    await app.launches.report(executor.keys[0], "started")
    await engine.advance(timedelta(hours=1))

    await app.launches.report(executor.keys[0], "failed")
    await engine.advance(timedelta(hours=1))

    ticks = (await app.schedules.ticks("s"))[::-1]
    assert [(tick.outcome, tick.status) for tick in ticks] == [
        ("ran", "failed"),
        ("skipped", None),
        ("skipped", None),
        ("ran", "running"),
    ]


@pytest.mark.proves("R4-39", "R4-49", "T10")
async def test_overlap_queue_launches_the_next_tick_after_the_end_is_reported(launched: Launched) -> None:
    app, engine, executor = launched
    ticks = await hourly(engine, 3, overlap="queue")
    assert len(executor.keys) == 1

    for number in range(3):
        await app.launches.report(executor.keys[number], "success", f"wf-{number + 1}")
        await engine.run_until_idle()

    assert executor.keys == [tick.idempotency_key for tick in ticks]


async def test_a_launch_without_a_report_times_out() -> None:
    app = Foliot(launcher=(executor := Executor()), launch_timeout="30m")
    async with InlineEngine(app) as engine:
        await hourly(engine)
        await engine.advance(timedelta(minutes=30))

        [tick] = await app.schedules.ticks("s")
        late = await app.launches.report(executor.keys[0], "success")

    assert tick.status == "timeout"
    assert (late.status, late.is_changed) == ("timeout", False)


async def test_another_application_on_the_storage_does_not_change_the_timeout() -> None:
    app = Foliot(launcher=Executor(), launch_timeout="30m")
    async with InlineEngine(app) as engine:
        await (await app.open()).jobs.put({LAUNCH_JOB: LAUNCH_SPEC})
        await hourly(engine)
        await engine.advance(timedelta(minutes=30))

        [tick] = await app.schedules.ticks("s")
    assert tick.status == "timeout"


@pytest.mark.parametrize("timeout", [0, "-1s", "500d"])
def test_an_invalid_timeout_of_launches_is_refused(timeout: float | str) -> None:
    with pytest.raises(FoliotError, match="timeout"):
        Foliot(launch_timeout=timeout)


async def test_a_launch_without_a_report_times_out_after_a_day(launched: Launched) -> None:
    app, engine, _ = launched
    await hourly(engine, 24)
    assert {tick.status for tick in await app.schedules.ticks("s")} == {"running", None}

    await engine.advance(timedelta(hours=1))

    assert {tick.status for tick in await app.schedules.ticks("s")} == {"timeout", "running", None}


async def test_a_workflow_gives_its_launches_its_timeout(launched: Launched) -> None:
    app, engine, _ = launched
    await app.workflows.deploy({"id": "etl", "timeout": "10m", "steps": [{"name": "a", "command": "true"}]})
    await hourly(engine)

    await engine.advance(timedelta(minutes=10))

    [tick] = await app.schedules.ticks("s")
    assert tick.status == "timeout"


async def test_cancelling_a_launched_run_ends_it_and_refuses_later_reports(launched: Launched) -> None:
    app, engine, executor = launched
    [tick] = await hourly(engine)

    await app.runs.cancel(tick.run_id or "")
    await engine.advance(timedelta(seconds=2))

    late = await app.launches.report(executor.keys[0], "success")
    assert (late.status, late.is_changed) == ("cancelled", False)


async def test_a_repeated_report_is_a_no_op(launched: Launched) -> None:
    app, engine, executor = launched
    await hourly(engine)

    reports = [
        await app.launches.report(executor.keys[0], status)
        for status in ("started", "started", "success", "success", "failed", "started")
    ]

    assert [report.is_changed for report in reports] == [True, False, True, False, False, False]
    assert [report.status for report in reports] == ["running"] * 2 + ["success"] * 4


async def test_an_invalid_report_is_refused(launched: Launched) -> None:
    app, engine, executor = launched
    await hourly(engine)
    [key] = executor.keys

    for arguments, refusal in [
        (("other", "success"), "launched tick 'other' does not exist"),
        ((key, "paused"), "status 'paused' cannot be reported"),
        ((key, "queued"), "status 'queued' cannot be reported"),
        ((key, "success", "wf-9"), "was launched as 'wf-1', not 'wf-9'"),
        ((key, "success", ""), "run_id must be printable text of 1 to 200 characters, not ''"),
        ((7, "success"), "idempotency_key must be text, not int"),
    ]:
        with pytest.raises(FoliotError, match=re.escape(refusal)):
            await app.launches.report(*cast(tuple[str, str], arguments))

    [tick] = await app.schedules.ticks("s")
    assert tick.status == "running"


async def test_a_tick_that_waits_cannot_be_reported(launched: Launched) -> None:
    app, engine, _ = launched
    ticks = await hourly(engine, 2, overlap="queue")

    with pytest.raises(InvalidRun, match="has not been launched yet"):
        await app.launches.report(ticks[1].idempotency_key or "", "success")


async def test_an_answer_that_is_no_id_fails_the_launch_without_a_retry(launched: Launched) -> None:
    app, engine, executor = launched
    executor.answer = 4711
    [tick] = await hourly(engine)

    run = await app.runs.get(tick.run_id or "")
    assert (run.status, run.attempt, run.reason) == ("failed", 1, "launch_failed")
    assert "the launcher returned an invalid id" in (run.error_message or "")


async def test_a_repeated_launch_run_ends_when_the_launcher_returns(launched: Launched) -> None:
    app, engine, executor = launched
    [tick] = await hourly(engine)
    await app.launches.report(executor.keys[0], "failed")

    again = await app.runs.retry(tick.run_id or "")
    await engine.run_until_idle()

    assert (await app.runs.get(again)).status == "success"
