"""Workflows deployed as documents, with their schedules, all or nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import IdSource, JobId
from foliot.domain.instant import MINUTE, to_datetime
from foliot.domain.job.job import JobSpec
from foliot.errors import InvalidDocument, InvalidJob, InvalidSchedule, NotFound, OwnedElsewhere
from foliot.service.commands.workflows import DeployedWorkflow
from foliot.service.services import Services
from foliot.testing.clock import START, VirtualClock
from foliot.testing.simulation.faults import Crash, Faults
from foliot.wiring.services import build_services

ETL = JobId("etl")
AT_START = to_datetime(START)
STEP = {"name": "extract", "command": "true"}

Opener = Callable[[Faults], Awaitable[Foliot]]


def document(*crons: str, **keys: Any) -> dict[str, Any]:
    """Build a document with a trigger for each of these expressions, named after its hour."""
    triggers = [{"type": "schedule_based", "name": f"at{cron.split()[1]}", "cron_expr": cron} for cron in crons]
    return {"id": "etl", "triggers": triggers, "steps": [STEP], **keys}


@pytest.fixture
async def app(services: Services) -> Foliot:
    app = Foliot()
    await app.open(services)
    return app


@pytest.fixture
async def open_another(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Opener]:
    """Opens an application of another process on the same storage, with faults."""
    opened: list[Foliot] = []

    async def open_app(faults: Faults) -> Foliot:
        path = tmp_path / "service.db"
        storage = await SqliteStorage.open(path, clock=clock, inline=True, faults=faults, synchronous="NORMAL")
        app = Foliot()
        await app.open(build_services(storage, clock, IdSource(count(1_000_000).__next__)))
        opened.append(app)
        return app

    yield open_app
    for app in opened:
        await app.close()


async def stored(services: Services) -> tuple[int | None, dict[str, str]]:
    """Return the newest version of the workflow and its schedules."""
    found = await services.storage.definitions.get_workflows([("etl", None)])
    schedules = await services.storage.definitions.page_schedules(job_id=ETL)
    version = found["etl", None].version if found else None
    return version, {schedule.id: schedule.revision.spec.expr for schedule in schedules}


@pytest.mark.proves("R4-32", "R4-33")
async def test_a_schedule_based_trigger_becomes_a_schedule(app: Foliot) -> None:
    deployed = await app.workflows.deploy(document("0 3 * * *", user_id="ann"))

    assert deployed == DeployedWorkflow(workflow_id="etl", version=1, schedules=["etl:at3"], warnings=[])
    schedule = await app.schedules.get("etl:at3")
    assert (schedule.workflow_id, schedule.job_id, schedule.user_id) == ("etl", None, "ann")
    assert schedule.next_run_at is not None
    assert [moment.hour for moment in schedule.preview] == [3] * 5


@pytest.mark.proves("R4-32")
async def test_deploying_again_changes_and_removes_schedules(app: Foliot, services: Services) -> None:
    await app.workflows.deploy(document("0 3 * * *", "0 4 * * *"))
    before = await services.schedules.record("etl:at3")

    again = await app.workflows.deploy(document("30 3 * * *"))

    assert await stored(services) == (1, {"etl:at3": "30 3 * * *"})
    assert (again.version, (await services.schedules.record("etl:at3")).uid) == (1, before.uid)


async def test_deploying_an_equal_document_changes_nothing(app: Foliot, services: Services) -> None:
    await app.workflows.deploy(document("0 3 * * *"))
    events = await services.storage.queries.events(after=0, limit=100)

    await app.workflows.deploy(document("0 3 * * *"))

    assert await services.storage.queries.events(after=0, limit=100) == events


async def test_deploying_keeps_paused_and_manually_added_schedules(app: Foliot, services: Services) -> None:
    await app.workflows.deploy(document("0 3 * * *"))
    await app.schedules.pause("etl:at3")
    await app.schedules.upsert("mine", workflow_id="etl", cron="@hourly")

    await app.workflows.deploy(document("0 3 * * MON"))

    assert (await app.schedules.get("etl:at3")).paused
    assert (await stored(services))[1] == {"etl:at3": "0 3 * * MON", "mine": "@hourly"}


@pytest.mark.proves("R4-32", "R2-35")
@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("deploy.before_commit", (1, {"etl:at3": "0 3 * * *"})),
        ("deploy.after_commit", (2, {"etl:at4": "0 4 * * *"})),
    ],
)
async def test_a_crash_leaves_a_workflow_with_its_schedules_or_neither(
    app: Foliot, services: Services, open_another: Opener, point: str, expected: object
) -> None:
    await app.workflows.deploy(document("0 3 * * *"))
    faults = Faults()
    doomed = await open_another(faults)
    more = [STEP, {"name": "load", "after": "extract", "command": "true"}]
    faults.arm(Crash(), point=point)

    with pytest.raises(Crash):
        await doomed.workflows.deploy(document("0 4 * * *", steps=more))

    assert await stored(services) == expected
    versions = [job.spec.spec["version"] for job in (await services.storage.definitions.get_jobs([ETL])).values()]
    assert versions == [(await stored(services))[0]]
    again = await app.workflows.deploy(document("0 4 * * *", steps=more))
    assert await stored(services) == (again.version, {"etl:at4": "0 4 * * *"}) == (2, {"etl:at4": "0 4 * * *"})


@pytest.mark.proves("R2-35")
@pytest.mark.parametrize(
    "keys",
    [
        {"steps": [{**STEP, "depends_on": ["nowhere"]}]},
        {"steps": [{"name": "a", "job": "nowhere"}]},
        {"triggers": [{"type": "schedule_based", "cron_expr": "0 25 * * *"}]},
        {"triggers": [{"type": "schedule_based", "cron_expr": "@daily", "payload": {"x": 1}}]},
    ],
)
async def test_an_invalid_document_stores_nothing(app: Foliot, services: Services, keys: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        await app.workflows.deploy({**document("0 3 * * *"), **keys})

    assert await stored(services) == (None, {})
    assert await services.storage.definitions.get_jobs([ETL, JobId("etl.extract")]) == {}


async def test_a_document_with_a_missing_job_suggests_a_similar_one(app: Foliot, services: Services) -> None:
    await app.workflows.deploy({**document(), "id": "report"})

    with pytest.raises(InvalidDocument) as caught:
        await app.workflows.deploy(document(steps=[{**STEP, "depends_on": "reprot"}]))

    [problem] = caught.value.problems
    assert (problem.key, problem.hint) == ("$.steps[0]", 'Did you mean "report"?')


@pytest.fixture
async def owner(services: Services) -> Foliot:
    """An application that defines the workflow itself."""
    app = Foliot()
    flow = Workflow("etl")
    flow.step("extract", shell="true")
    app.workflow(flow)
    await app.open(services)
    return app


async def test_a_document_does_not_replace_a_workflow_of_an_application(owner: Foliot, services: Services) -> None:
    with pytest.raises(OwnedElsewhere, match='workflow "etl" is defined in the application'):
        await owner.workflows.deploy(document("0 3 * * *"))

    assert await stored(services) == (1, {})


async def test_a_document_does_not_take_the_schedule_of_another_job(app: Foliot, services: Services) -> None:
    await app.workflows.deploy({**document(), "id": "other"})
    await app.schedules.upsert("etl:at3", workflow_id="other", cron="@daily")

    with pytest.raises(InvalidSchedule, match='schedule "etl:at3" belongs to "other"'):
        await app.workflows.deploy(document("0 3 * * *"))

    assert await stored(services) == (None, {})


async def test_a_schedule_deployed_with_a_workflow_is_changed_only_with_it(app: Foliot) -> None:
    await app.workflows.deploy(document("0 3 * * *"))

    with pytest.raises(OwnedElsewhere, match="by the workflow that it is part of"):
        await app.schedules.delete("etl:at3")
    with pytest.raises(OwnedElsewhere, match="by the workflow that it is part of"):
        await app.schedules.upsert("etl:at3", workflow_id="etl", cron="@daily")


async def test_a_document_with_a_time_in_the_past_is_refused(app: Foliot, clock: VirtualClock) -> None:
    once = document(triggers=[{"type": "schedule_based", "name": "once", "at": "2026-01-01T00:00:30Z"}])
    first = await app.workflows.deploy(once)
    clock.advance(MINUTE)

    again = await app.workflows.deploy(once)
    other = await app.workflows.deploy({**once, "id": "late"})

    assert (first.warnings, first.schedules, again.schedules, other.schedules) == ([], ["etl:once"], ["etl:once"], [])
    assert "will not fire any more" in again.warnings[0]
    assert "will not fire any more" in other.warnings[0]


async def test_a_deployed_workflow_can_be_exported_as_a_document(app: Foliot, services: Services) -> None:
    steps = [{**STEP, "env": {"TOKEN": "secret"}}, {"name": "ask", "after": "extract", "approve": True}]
    first = await app.workflows.deploy(document("0 3 * * *", steps=steps, user_id="ann"))
    await app.schedules.upsert("mine", workflow_id="etl", cron="@hourly")

    again = await app.workflows.deploy(await app.workflows.document("etl"))

    assert again == first
    with pytest.raises(NotFound, match="version 7"):
        await app.workflows.document("etl", version=7)


# -- the opposite


@pytest.mark.proves("R4-27", "R4-66")
async def test_a_deleted_workflow_and_its_schedules_cannot_be_started(app: Foliot, services: Services) -> None:
    await app.workflows.deploy(document("0 3 * * *"))
    await app.schedules.upsert("mine", workflow_id="etl", cron="@hourly")

    await app.workflows.delete("etl")

    assert await stored(services) == (None, {})
    assert await services.workflows.records() == []
    assert [job.id for job in await services.storage.definitions.page_jobs()] == ["foliot.launch"]
    assert not await app.launcher.start("etl", None, None, AT_START, "key")
    for call in (app.workflows.start("etl"), app.workflows.document("etl"), app.workflows.delete("etl")):
        with pytest.raises(NotFound, match="workflow 'etl' does not exist"):
            await call
    with pytest.raises(NotFound):
        await app.workflows.start("etl", version=1)


async def test_a_redeployed_workflow_continues_its_version_numbers(app: Foliot, services: Services) -> None:
    await app.workflows.deploy(document("0 3 * * *"))
    await app.workflows.delete("etl")

    again = await app.workflows.deploy(document("0 3 * * *"))

    assert (again.version, again.schedules) == (2, ["etl:at3"])
    assert await stored(services) == (2, {"etl:at3": "0 3 * * *"})


async def test_a_workflow_used_by_another_is_not_deleted(app: Foliot, services: Services) -> None:
    own_gate = {"name": "load", "command": "true", "depends_on": "etl.extract"}
    await app.workflows.deploy(document(steps=[STEP, own_gate]))
    await app.workflows.deploy(document(id="other", steps=[{**STEP, "depends_on": "etl.extract"}]))

    with pytest.raises(InvalidJob, match=r'job "etl\.extract" is needed by other\.extract'):
        await app.workflows.delete("etl")
    await app.workflows.delete("other")
    await app.workflows.delete("etl")

    assert await services.workflows.records() == []


async def test_a_workflow_of_an_application_is_not_deleted(owner: Foliot) -> None:
    with pytest.raises(OwnedElsewhere, match='workflow "etl" is defined in the application'):
        await owner.workflows.delete("etl")


async def test_a_workflow_is_not_deleted_by_the_job_command(app: Foliot) -> None:
    await app.workflows.deploy(document())

    with pytest.raises(InvalidJob, match='"etl" is a workflow') as caught:
        await app.jobs.delete("etl")

    assert "app.workflows.delete" in caught.value.hint


async def test_deleting_a_workflow_removes_edges_to_its_steps(app: Foliot, services: Services) -> None:
    await app.workflows.deploy(document())
    await services.jobs.put({JobId("x"): JobSpec(kind="shell", spec={"command": "true"})})
    await app.jobs.add_dependency("x", "etl.extract")

    await app.workflows.delete("etl")

    assert await app.jobs.dependencies("x") == []
