"""A launcher of the application's own, in the place of ours."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from foliot import Foliot
from foliot.adapters.runners.launcher import LaunchRunner
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import HOUR, MINUTE, SECOND, later, to_datetime
from foliot.domain.run.run import Run, Status, Tick
from foliot.domain.schedule.firing import TickStart
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.schedule.tick import tick_key
from foliot.domain.schedule.tick_run import LAUNCH_JOB, LAUNCH_SPEC, make_launch_run, make_run
from foliot.domain.workflow.start import ExecutionStart
from foliot.engine.node import Node
from foliot.engine.settings import Role, Settings
from foliot.ports.storage import Storage
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
    made = Rig(storage, clock, make_run=make_launch_run, runners={"launch": LaunchRunner(launchpad)})
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
    due = TickStart(a_run_id(), a_tick_of(spec), spec, job, START)

    run, pinned = make_run(due), make_run(due._replace(spec=replace(spec, version=2)))

    assert run is not None
    assert pinned is not None
    assert [ExecutionStart.read(one.overrides, job.spec.spec) for one in (run, pinned)] == [
        ExecutionStart(version=4, user_id="ann"),
        ExecutionStart(version=2, user_id="ann"),
    ]


def a_tick_of(spec: ScheduleSpec) -> Tick:
    return tick_of(a_schedule(spec), later(START, MINUTE))
