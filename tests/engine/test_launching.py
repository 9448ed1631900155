"""A launcher of the application's own, in the place of ours."""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Literal, cast

import pytest
from msgspec.structs import replace

from foliot import Foliot
from foliot.adapters.runners.launcher import LaunchRunner
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND, later, to_datetime
from foliot.domain.run.run import Run, Status, Tick
from foliot.domain.schedule.firing import Launch
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.schedule.tick import tick_key
from foliot.domain.schedule.tick_run import LAUNCH_JOB, LAUNCH_SPEC, launch_elsewhere, launch_job
from foliot.domain.workflow.start import ExecutionStart
from foliot.engine.node import Node
from foliot.engine.settings import Role, Settings
from foliot.errors import FoliotError, InvalidRun
from foliot.ports.storage import Storage
from foliot.service.queries.schedule_view import TickView
from foliot.testing.builders import NIGHTLY, a_job, a_run_id, a_schedule, every, tick_of
from foliot.testing.clock import START, VirtualClock
from foliot.testing.inline import InlineEngine
from tests.engine.ease import ease
from tests.engine.rig import Rig


class Launchpad:
    """A launcher that refuses or fails a given number of times."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int | None, str | None, datetime, str]] = []
        self.refusals = 0
        self.errors = 0

    async def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: datetime, idempotency_key: str
    ) -> bool:
        self.calls.append((workflow_id, version, user_id, scheduled_for, idempotency_key))
        if self.errors:
            self.errors -= 1
            raise ConnectionError("nobody answers")
        if self.refusals:
            self.refusals -= 1
            return False
        return True


@pytest.fixture
def launchpad() -> Launchpad:
    return Launchpad()


@pytest.fixture
async def rig(storage: Storage, clock: VirtualClock, launchpad: Launchpad) -> Rig:
    made = Rig(storage, clock, launcher=launch_elsewhere, runners={"launch": LaunchRunner(launchpad)})
    await storage.definitions.put_jobs([(LAUNCH_JOB, LAUNCH_SPEC)])
    spec = every(60, job_id=None, workflow_id="etl", version=3, user_id="ann", end_at=later(START, MINUTE))
    await made.schedule(spec)
    return made


async def outcome(rig: Rig) -> Run:
    """Return the only tick after its launch has ended."""
    await rig.fire(MINUTE)
    for _ in range(100):
        await rig.dispatcher.round()
        await rig.work()
        rig.clock.advance(SECOND)
    [run] = await rig.runs()
    return run


@pytest.mark.proves("R4-01", "R4-10", "R4-12", "R4-29")
async def test_the_launcher_gets_all_values_of_the_tick(rig: Rig, launchpad: Launchpad) -> None:
    run = await outcome(rig)

    moment = later(START, MINUTE)
    assert launchpad.calls == [("etl", 3, "ann", to_datetime(moment), tick_key(NIGHTLY, moment))]
    assert run.status is Status.SUCCESS


@pytest.mark.proves("R4-68")
@pytest.mark.parametrize(
    "roles", [[[Role.SCHEDULER, Role.WORKER]], [[Role.SCHEDULER], [Role.WORKER]]], ids=["one process", "two"]
)
async def test_scheduler_and_launcher_may_run_in_one_process_or_in_two(
    rig: Rig, launchpad: Launchpad, roles: list[list[Role]]
) -> None:
    nodes = [Node(rig.parts, Settings(label=str(number), roles=names)) for number, names in enumerate(roles)]
    for node in nodes:
        await node.start()
    for _ in range(65):
        rig.clock.advance(SECOND)
        await ease(60)
    for node in nodes:
        await node.stop()

    moment = later(START, MINUTE)
    assert launchpad.calls == [("etl", 3, "ann", to_datetime(moment), tick_key(NIGHTLY, moment))]


@pytest.mark.proves("R4-47")
async def test_a_failed_launch_is_retried_with_the_same_key(rig: Rig, launchpad: Launchpad) -> None:
    launchpad.errors = 2

    run = await outcome(rig)

    assert run.status is Status.SUCCESS
    assert len(launchpad.calls) == 3
    assert len(set(launchpad.calls)) == 1


@pytest.mark.proves("R4-47")
async def test_a_launch_that_always_fails_fails_the_tick(rig: Rig, launchpad: Launchpad) -> None:
    launchpad.errors = 100

    run = await outcome(rig)

    assert run.status is Status.FAILED
    assert len(launchpad.calls) == 4


@pytest.mark.proves("R4-47", "R4-66")
async def test_a_launcher_that_returns_false_fails_the_tick(rig: Rig, launchpad: Launchpad) -> None:
    launchpad.refusals = 100

    run = await outcome(rig)

    assert (run.status, run.reason) == (Status.FAILED, "launch_failed")


@pytest.mark.proves("R4-44", "R4-47", "R4-49")
async def test_a_tick_has_the_error_of_its_failed_launch(launchpad: Launchpad) -> None:
    launchpad.errors = 100
    app = Foliot(launcher=launchpad)
    async with InlineEngine(app) as engine:
        await app.schedules.upsert("s", workflow_id="etl", cron="@hourly")
        await engine.advance(timedelta(hours=1, minutes=1))

        [tick] = await app.schedules.ticks("s")
        run = await app.runs.get(tick.run_id or "")

    assert (tick.outcome, tick.status, run.reason) == ("ran", "failed", "launch_failed")
    assert "ConnectionError: nobody answers" in (run.error_message or "")


class Counter:
    """A launcher with a plain function."""

    def __init__(self) -> None:
        self.versions: list[int | None] = []

    def start(
        self, workflow_id: str, version: int | None, user_id: str | None, scheduled_for: datetime, idempotency_key: str
    ) -> bool:
        self.versions.append(version)
        return True


@pytest.mark.proves("R4-01", "R4-12", "R4-29")
async def test_a_launcher_may_be_a_plain_function_and_gets_the_version() -> None:
    counter = Counter()
    app = Foliot(launcher=counter)
    async with InlineEngine(app) as engine:
        for number in (0, 7):
            await app.schedules.upsert(f"v{number}", workflow_id="etl", version=number, cron="@hourly")
        await engine.advance(timedelta(hours=1))

        assert [run.status for run in await app.runs.page()] == ["success"] * 2
    assert set(counter.versions) == {0, 7}


async def test_the_launcher_of_an_application_is_called_with_keywords() -> None:
    plain, awaited = Counter(), Launchpad()

    answers = [
        await Foliot(launcher=one).launcher.start("etl", 7, "ann", to_datetime(START), "key")
        for one in (plain, awaited)
    ]

    assert answers == [True, True]
    assert (plain.versions, awaited.calls) == ([7], [("etl", 7, "ann", to_datetime(START), "key")])


@pytest.mark.proves("R4-29", "R4-32")
async def test_a_deployed_trigger_starts_the_newest_version_for_its_user(launchpad: Launchpad) -> None:
    app = Foliot(launcher=launchpad)
    trigger = {"type": "schedule_based", "name": "hourly", "cron_expr": "@hourly", "user_id": "ann"}
    flow = {"id": "etl", "triggers": [trigger], "steps": [{"name": "a", "command": "true"}]}
    async with InlineEngine(app) as engine:
        await app.workflows.deploy(flow)
        await engine.advance(timedelta(hours=1))
        await app.workflows.deploy({**flow, "steps": [{"name": "b", "command": "true"}]})
        await engine.advance(timedelta(hours=1))

    moments = [later(START, hours * HOUR) for hours in (1, 2)]
    assert launchpad.calls == [
        ("etl", version, "ann", to_datetime(moment), tick_key(ScheduleId("etl:hourly"), moment))
        for version, moment in enumerate(moments, start=1)
    ]


@pytest.mark.proves("R4-32")
async def test_without_a_launcher_the_tick_becomes_an_execution_of_that_version() -> None:
    app = Foliot()
    trigger = {"type": "schedule_based", "cron_expr": "@hourly", "user_id": "ann", "payload": None}
    async with InlineEngine(app) as engine:
        await app.workflows.deploy({"id": "etl", "triggers": [trigger], "steps": [{"name": "a", "approve": True}]})
        await engine.advance(timedelta(hours=1))

        [execution] = await app.workflows.active("etl")

    assert (execution.version, execution.results) == (1, {"a": None})


async def test_without_a_launcher_the_execution_has_the_payload_and_time_of_its_tick() -> None:
    app = Foliot()
    trigger = {"type": "schedule_based", "cron_expr": "@hourly", "user_id": "ann", "payload": {"day": "monday"}}
    flow = {"id": "etl", "params": {"day": "today"}, "triggers": [trigger], "steps": [{"name": "a", "approve": True}]}
    async with InlineEngine(app) as engine:
        await app.workflows.deploy(flow)
        await engine.advance(timedelta(hours=1))

        [execution] = await app.workflows.active("etl")

    assert execution.params == {"day": "monday"}
    assert execution.scheduled_for == to_datetime(later(START, HOUR))


def test_a_tick_of_a_workflow_has_its_user() -> None:
    job = a_job("etl", kind="graph", spec={"version": 4})
    spec = every(60, job_id=None, workflow_id="etl", user_id="ann")
    due = Launch(a_run_id(), a_tick_of(spec), spec, job, START)

    run, pinned = launch_job(due), launch_job(due._replace(spec=replace(spec, version=2)))

    assert run is not None
    assert pinned is not None
    assert [ExecutionStart.read(one.overrides, job.spec.spec) for one in (run, pinned)] == [
        ExecutionStart(version=4, user_id="ann"),
        ExecutionStart(version=2, user_id="ann"),
    ]


def a_tick_of(spec: ScheduleSpec) -> Tick:
    return tick_of(a_schedule(spec), later(START, MINUTE))


# -- reports of the executor


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
