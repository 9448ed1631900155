"""Applying a whole set of definitions: all or nothing, and idempotent."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.deploy.deployment import Action, Declared
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import IdSource, JobId, ScheduleId
from foliot.domain.instant import HOUR
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import ScheduleSpec, ScheduleType
from foliot.domain.schedule.tick import TickOutcome, TickReason
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.errors import FoliotError, InvalidSchedule, InvalidWorkflow, NotFound, OwnedElsewhere
from foliot.ports.pages import RunFilter
from foliot.service.commands.run_request import RunRequest
from foliot.service.services import Services
from foliot.testing.clock import VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.simulation.faults import Crash, Faults
from foliot.wiring.services import build_services
from tests.domain.deployments import changes_nothing

A, B, C, D = (JobId(name) for name in "abcd")
A_DAILY, B_DAILY = ScheduleId("a:default"), ScheduleId("b:default")


def job(command: str = "true", **fields: Any) -> JobSpec:
    return JobSpec(kind="shell", spec={"command": command}, source="file", **fields)


def daily(job_id: JobId | None, expr: str = "0 9 * * *", **fields: Any) -> ScheduleSpec:
    return ScheduleSpec(type=ScheduleType.CRON, expr=expr, job_id=job_id, source="file", **fields)


def declare(*job_ids: JobId, **fields: Any) -> Declared:
    """Declare these jobs, each with a daily schedule."""
    known: dict[str, Any] = {
        "jobs": {job_id: job() for job_id in job_ids},
        "schedules": {ScheduleId(f"{job_id}:default"): daily(job_id) for job_id in job_ids},
    }
    return Declared(**{**known, **fields})


async def names(services: Services) -> tuple[dict[str, bool], list[str]]:
    """Return all jobs, enabled or not, and all schedules."""
    jobs = await services.storage.definitions.page_jobs()
    schedules = await services.storage.definitions.page_schedules()
    return {job.id: job.spec.enabled for job in jobs}, [schedule.id for schedule in schedules]


async def test_apply_stores_declared_definitions(services: Services) -> None:
    changes = await services.deployer.apply(declare(A, B))

    assert await names(services) == ({"a": True, "b": True}, ["a:default", "b:default"])
    assert [(change.id, change.action) for change in changes.jobs] == [(A, Action.CREATED), (B, Action.CREATED)]


async def test_plan_changes_nothing(services: Services) -> None:
    changes = await services.deployer.plan(declare(A))

    assert not changes_nothing(changes)
    assert await names(services) == ({}, [])


async def test_apply_is_idempotent(services: Services, scene: Scene) -> None:
    await services.deployer.apply(declare(A, B))
    before = await services.storage.queries.events(after=0, limit=100)

    changes = await services.deployer.apply(declare(A, B))

    assert changes_nothing(changes)
    assert await services.storage.queries.events(after=0, limit=100) == before


async def test_a_removed_job_is_disabled_and_keeps_its_history(services: Services, scene: Scene) -> None:
    await services.deployer.apply(declare(A, B))
    scene.clock.advance(9 * HOUR)
    await scene.fire()
    schedule = await services.schedules.record(A_DAILY)

    await services.deployer.apply(declare(B))

    assert await names(services) == ({"a": False, "b": True}, ["b:default"])
    assert len(await services.runs.records(RunFilter(job_id=A))) == 1
    assert [tick.outcome for tick in await scene.ticks(schedule.uid)] == [TickOutcome.RAN]
    assert changes_nothing(await services.deployer.apply(declare(B)))


async def test_apply_does_not_affect_running_runs(services: Services, scene: Scene) -> None:
    await services.deployer.apply(declare(A))
    run_id = await services.runs.enqueue(A, RunRequest())
    [claim] = await scene.claim()

    await services.deployer.apply(declare())

    assert (await services.runs.record(run_id)).status == "running"
    assert claim.run_id == run_id


async def test_a_job_that_is_declared_again_is_enabled(services: Services) -> None:
    await services.deployer.apply(declare(A))
    await services.deployer.apply(declare())

    await services.deployer.apply(declare(A))

    assert await names(services) == ({"a": True}, ["a:default"])


async def test_a_disabled_job_keeps_its_schedules(services: Services, scene: Scene) -> None:
    await services.deployer.apply(declare(A, jobs={A: job(enabled=False)}))
    schedule = await services.schedules.record(A_DAILY)

    scene.clock.advance(9 * HOUR)
    assert await scene.fire() == []

    [tick] = await scene.ticks(schedule.uid)
    assert (tick.outcome, tick.reason) == (TickOutcome.SKIPPED, TickReason.DISABLED)


@pytest.mark.proves("R4-02")
async def test_apply_keeps_schedules_paused(services: Services) -> None:
    await services.deployer.apply(declare(A))
    await services.jobs.pause(A)

    await services.deployer.apply(declare(A, schedules={A_DAILY: daily(A, "@hourly")}))
    await services.deployer.apply(declare(B, renames={A: B}))

    assert (await services.schedules.record(B_DAILY)).paused_at is not None


async def test_a_schedule_that_was_removed_while_paused_returns_paused(services: Services) -> None:
    await services.deployer.apply(declare(A))
    await services.jobs.pause(A)
    await services.deployer.apply(declare())

    await services.deployer.apply(declare(A))

    [schedule] = await services.storage.definitions.page_schedules()
    assert schedule.paused_at is not None


async def test_a_returning_schedule_has_the_pause_state_of_its_last_removal(services: Services) -> None:
    await services.deployer.apply(declare(A))
    await services.jobs.pause(A)
    await services.deployer.apply(declare())
    await services.deployer.apply(declare(A))
    await services.jobs.pause(A, False)
    await services.deployer.apply(declare())

    await services.deployer.apply(declare(A))

    [schedule] = await services.storage.definitions.page_schedules()
    assert schedule.paused_at is None


async def test_a_renamed_job_keeps_its_history_and_its_ledger(services: Services, scene: Scene) -> None:
    await services.deployer.apply(declare(A))
    before = await services.schedules.record(A_DAILY)
    scene.clock.advance(9 * HOUR)
    [run_id] = await scene.fire()

    changes = await services.deployer.apply(declare(B, renames={A: B}))

    assert changes.renames == {A: B}
    assert await names(services) == ({"b": True}, ["b:default"])
    assert (await services.schedules.record(B_DAILY)).uid == before.uid
    assert [run.id for run in await services.runs.records(RunFilter(job_id=B))] == [run_id]
    assert changes_nothing(await services.deployer.apply(declare(B, renames={A: B})))


async def test_apply_does_not_change_definitions_of_other_owners(services: Services) -> None:
    await services.jobs.put({C: JobSpec(kind="shell", spec={"command": "true"}, source="app")})
    await services.schedules.upsert("mine", job_id=C, cron="@daily")

    await services.deployer.apply(declare(A))
    await services.schedules.upsert("by-hand", job_id=A, cron="@daily")
    await services.deployer.apply(declare(A))

    assert await names(services) == ({"a": True, "c": True}, ["a:default", "by-hand", "mine"])


async def test_a_definition_of_another_owner_refuses_the_whole_set(services: Services) -> None:
    for job_id in (A, C):
        await services.jobs.put({job_id: JobSpec(kind="shell", spec={"command": "x"}, source="app")})

    await services.deployer.apply(declare(D))

    with pytest.raises(OwnedElsewhere) as refused:
        await services.deployer.apply(declare(A, B, C, renames={D: B}))

    assert 'job "a"' in refused.value.message
    assert 'job "c"' in refused.value.message
    assert await names(services) == ({"a": True, "c": True, "d": True}, ["d:default"])


WRONG: list[tuple[str, Declared, type[FoliotError]]] = [
    ("a schedule that never fires", declare(A, B, schedules={A_DAILY: daily(A, "0 0 0 1 1 * 2001")}), InvalidSchedule),
    ("a job that is not there", declare(A, schedules={B_DAILY: daily(B)}), NotFound),
    ("a job without a command", declare(A, jobs={A: job(), B: JobSpec(kind="shell", source="file")}), FoliotError),
    ("a name that is none", declare(A, jobs={A: job(), JobId("b b"): job()}), FoliotError),
    ("a payload that is no JSON", declare(A, B, jobs={A: job(), B: job(payload_template=b"x")}), FoliotError),
]


@pytest.mark.parametrize(("case", "declared", "error"), WRONG, ids=[case for case, *_ in WRONG])
async def test_one_invalid_definition_refuses_the_whole_set(
    services: Services, case: str, declared: Declared, error: type[FoliotError]
) -> None:
    with pytest.raises(error):
        await services.deployer.apply(declared)

    assert await names(services) == ({}, [])


# -- crashes and company

STEPS = [("rename_jobs", 1), ("put_jobs", 1), ("put_schedules", 1), ("delete_schedules", 1), ("put_jobs", 2)]
Opener = Callable[..., Awaitable[Services]]


@pytest.fixture
async def open_another(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Opener]:
    """Opens the services of another process on the same storage."""
    opened: list[Services] = []

    async def open_services(faults: Callable[[str], None] = lambda _: None, *, inline: bool = True) -> Services:
        storage = await SqliteStorage.open(
            tmp_path / "service.db", clock=clock, inline=inline, faults=faults, synchronous="NORMAL"
        )
        ids = IdSource(count((len(opened) + 1) * 1_000_000).__next__)
        opened.append(build_services(storage, clock, ids))
        return opened[-1]

    yield open_services
    for services in opened:
        await services.close()


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize(("step", "nth"), STEPS)
async def test_the_next_apply_completes_one_that_crashed(
    services: Services, open_another: Opener, step: str, nth: int, side: str
) -> None:
    await services.deployer.apply(declare(A, C))
    declared = declare(B, renames={A: B}, jobs={B: job("false")}, schedules={B_DAILY: daily(B, "@hourly")})
    faults = Faults()
    doomed = await open_another(faults)
    faults.arm(Crash(), point=f"{step}.{side}_commit", after=nth)

    with pytest.raises(Crash):
        await doomed.deployer.apply(declared)
    await services.deployer.apply(declared)

    assert await names(services) == ({"b": True, "c": False}, ["b:default"])
    assert (await services.schedules.record(B_DAILY)).revision.spec.expr == "@hourly"
    assert changes_nothing(await services.deployer.plan(declared))


async def test_concurrent_applies_of_the_same_set_have_the_same_result(
    services: Services, open_another: Opener
) -> None:
    await services.deployer.apply(declare(A, C))
    before = await services.schedules.record(A_DAILY)
    others = [await open_another(inline=False) for _ in range(4)]
    declared = declare(B, renames={A: B})

    await asyncio.gather(*(other.deployer.apply(declared) for other in others))

    assert await names(services) == ({"b": True, "c": False}, ["b:default"])
    assert (await services.schedules.record(B_DAILY)).uid == before.uid
    assert changes_nothing(await services.deployer.plan(declared))


async def test_a_gate_on_a_missing_job_refuses_the_whole_set(services: Services) -> None:
    gated = job(gate=Gate(depends_on=(B,)))

    with pytest.raises(NotFound, match="job 'b'"):
        await services.deployer.apply(Declared(jobs={A: gated, C: job()}))

    assert await services.storage.definitions.page_jobs() == []


# -- workflows

W, V = JobId("w"), JobId("v")
EXTRACT = Step(name="extract", definition=job())
LOAD = Step(name="load", definition=job(), after=(Edge(parent="extract"),))


def declare_flow(name: str, *steps: Step, **fields: Any) -> Declared:
    """Declare this workflow with a daily schedule."""
    schedule = daily(None, workflow_id=name)
    known: dict[str, Any] = {
        "workflows": {name: WorkflowSpec(steps=steps or (EXTRACT, LOAD), source="file")},
        "schedules": {ScheduleId(f"{name}:default"): schedule},
    }
    return Declared(**{**known, **fields})


async def test_a_renamed_workflow_keeps_its_history(services: Services) -> None:
    await services.deployer.apply(declare_flow("w"))
    execution = await services.workflows.start("w")
    await services.workflows.pause_step("w", "load")
    before = await services.schedules.record("w:default")

    changes = await services.deployer.apply(declare_flow("v", renames={W: V}))

    assert [(change.id, change.action, change.was) for change in changes.workflows] == [("v", Action.RENAMED, "w")]
    assert await names(services) == ({"v": True, "v.extract": True, "v.load": True}, ["v:default"])
    assert (await services.runs.record(execution)).job_id == "v"
    assert (await services.workflows.record("v")).version == 1
    assert not await services.workflows.exists("w")
    assert await services.storage.definitions.paused_steps("v") == {"load"}
    after = await services.schedules.record("v:default")
    assert (after.uid, after.revision.spec.workflow_id, after.revision.spec.seed) == (before.uid, "v", "w:default")
    assert changes_nothing(await services.deployer.plan(declare_flow("v", renames={W: V})))


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("step", ["rename_jobs", "deploy", "put_schedules"])
async def test_the_next_apply_completes_a_workflow_after_a_crash(
    services: Services, open_another: Opener, step: str, side: str
) -> None:
    await services.deployer.apply(declare_flow("w", EXTRACT))
    moved = {ScheduleId("v:default"): daily(None, "@hourly", workflow_id="v")}
    declared = declare_flow("v", renames={W: V}, schedules=moved)
    faults = Faults()
    doomed = await open_another(faults)
    faults.arm(Crash(), point=f"{step}.{side}_commit")

    with pytest.raises(Crash):
        await doomed.deployer.apply(declared)
    await services.deployer.apply(declared)

    assert await names(services) == ({"v": True, "v.extract": True, "v.load": True}, ["v:default"])
    assert (await services.jobs.record("v")).spec.spec == {"version": 2}
    assert (await services.schedules.record("v:default")).revision.spec.expr == "@hourly"


@pytest.mark.proves("R2-35")
async def test_a_step_with_a_gate_on_a_missing_job_refuses_the_whole_set(services: Services) -> None:
    gated = Step(name="a", definition=job(gate=Gate(depends_on=(B,))))

    with pytest.raises(InvalidWorkflow, match='job "b" does not exist'):
        await services.deployer.apply(declare_flow("w", gated, jobs={A: job()}))
    assert await names(services) == ({}, [])

    await services.deployer.apply(declare_flow("w", gated, jobs={B: job()}))
    assert await names(services) == ({"b": True, "w": True, "w.a": True}, ["w:default"])


async def test_a_gate_of_a_step_may_use_a_workflow_renamed_in_the_same_set(services: Services) -> None:
    await services.deployer.apply(declare_flow("w"))
    gated = Step(name="a", definition=job(gate=Gate(depends_on=(V, JobId("v.load")))))
    both = declare_flow("v", renames={W: V})
    flows = {**both.workflows, "x": WorkflowSpec(steps=(gated,), source="file")}

    await services.deployer.apply(declare_flow("v", renames={W: V}, workflows=flows))

    assert "x.a" in (await names(services))[0]


@pytest.mark.parametrize("looked_at", ["w", "w.load"])
async def test_a_gate_of_a_job_may_use_a_workflow_of_the_same_set(services: Services, looked_at: str) -> None:
    gated = job(gate=Gate(depends_on=(JobId(looked_at),)))

    await services.deployer.apply(declare_flow("w", jobs={A: gated}))

    assert {"a", "w", "w.load"} <= (await names(services))[0].keys()
