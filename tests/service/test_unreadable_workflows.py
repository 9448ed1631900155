"""Unreadable workflows and executions: the others are shown and applied."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from foliot.domain.deploy.deployment import Declared
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.instant import Instant
from foliot.domain.job.job import JobSpec
from foliot.domain.run.run import Status
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.errors import InvalidRun, RowUnreadable
from foliot.ports.storage import Storage
from foliot.service.paging import workflow_id_of
from foliot.service.queries.verify import verify_rows
from foliot.service.services import Services
from foliot.testing.builders import a_run, every
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.tree_builders import opened

Spoil = Callable[[str], None]
SHELL = JobSpec(kind="shell", spec={"command": "true"}, source="file")


@pytest.fixture
def spoil(storage: Storage, tmp_path: Path) -> Spoil:
    """Writes directly into the database."""

    def write(sql: str) -> None:
        connection = apsw.Connection(str(tmp_path / "service.db"))
        connection.execute(sql)
        assert connection.changes()
        connection.close()

    return write


def a_graph(**fields: Any) -> WorkflowSpec:
    step = Step(name="only", definition=JobSpec(kind="shell", spec={"command": "true"}))
    return WorkflowSpec(**{"steps": (step,), "source": "file", **fields})


def declared(*names: str, **fields: Any) -> Declared:
    schedules = {ScheduleId(f"{name}:s"): every(60, job_id=None, workflow_id=name, source="file") for name in names}
    return Declared(jobs={JobId("job"): SHELL}, workflows=dict.fromkeys(names, a_graph(**fields)), schedules=schedules)


async def versions(services: Services) -> dict[str, int | None]:
    page = await services.workflows.records()
    return {workflow_id_of(one): None if isinstance(one, RowUnreadable) else one.version for one in page}


# -- workflows


@pytest.mark.parametrize("bad", ["a", "b", "c", "ab", "bc", "abc"])
async def test_unreadable_workflows_are_listed(services: Services, spoil: Spoil, bad: str) -> None:
    await services.deployer.apply(declared(*"abc"))
    spoil(f"UPDATE workflows SET spec = '{{oops' WHERE '{bad}' LIKE '%' || id || '%'")

    assert await versions(services) == {name: None if name in bad else 1 for name in "abc"}


@pytest.mark.parametrize("damage", ["'{oops'", "CAST(x'ff' AS TEXT)"])
async def test_declaring_an_unreadable_workflow_repairs_it(services: Services, spoil: Spoil, damage: str) -> None:
    await services.deployer.apply(declared(*"ab"))
    spoil(f"UPDATE workflows SET spec = {damage} WHERE id = 'a'")

    changes = await services.deployer.apply(declared(*"abc"))

    assert set(changes.workflows_to_put) == {"a", "c"}
    assert await versions(services) == {"a": 2, "b": 1, "c": 1}


async def test_an_unreadable_workflow_does_not_stop_other_declarations(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared(*"ab"))
    spoil("UPDATE workflows SET spec = '{oops' WHERE id = 'a'")

    await services.deployer.apply(declared("b", description="other"))

    assert await versions(services) == {"a": None, "b": 2}


async def test_a_document_replaces_an_unreadable_workflow(services: Services, spoil: Spoil) -> None:
    document = {"id": "a", "steps": [{"name": "only", "command": "true"}], "schedules": [{"name": "s", "every": 60}]}
    await services.workflows.deploy(document)
    spoil("UPDATE workflows SET spec = '{oops'")
    spoil("UPDATE schedules SET spec = '{oops'")
    spoil("UPDATE revisions SET spec = '{oops'")

    deployed = await services.workflows.deploy(document)

    assert (deployed.version, deployed.schedules) == (2, ["a:s"])


async def test_an_unreadable_workflow_does_not_stop_the_deletion_of_a_job(
    services: Services, spoil: Spoil, caplog: pytest.LogCaptureFixture
) -> None:
    await services.deployer.apply(declared("a"))
    spoil("UPDATE workflows SET spec = '{oops'")

    with caplog.at_level(logging.WARNING):
        await services.jobs.delete("job", force=True)

    assert JobId("job") not in {job.id for job in await services.storage.definitions.page_jobs()}
    assert [record.message for record in caplog.records] == ["workflow_unreadable"]


async def test_a_job_is_deleted_although_the_workflow_of_its_unit_cannot_be_read(
    services: Services, spoil: Spoil
) -> None:
    await services.jobs.put({JobId(name): SHELL for name in "abc"})
    await services.dependencies.add("a", "b")
    await services.dependencies.add("c", "b")
    spoil("UPDATE workflows SET spec = '{oops'")

    await services.jobs.delete("a", force=True)

    assert await services.dependencies.of("c") == [Edge(parent="b")]
    assert [step.name for step in (await services.workflows.record("after:b")).spec.steps] == ["b", "c"]


async def test_an_unreadable_workflow_is_deleted_only_by_force_with_its_jobs(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared("a"))
    spoil("UPDATE workflows SET spec = '{oops'")

    with pytest.raises(RowUnreadable):
        await services.workflows.delete("a")
    await services.workflows.delete("a", force=True)

    assert await versions(services) == {}
    assert [job.id for job in await services.storage.definitions.page_jobs()] == ["job"]
    assert await services.storage.definitions.page_schedules() == []


async def test_a_workflow_with_an_unreadable_former_version_can_be_deleted(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared("a"))
    await services.deployer.apply(declared("a", description="other"))
    spoil("UPDATE workflows SET spec = '{oops' WHERE version = 1")

    await services.workflows.delete("a", force=True)

    assert await versions(services) == {}


# -- executions


@pytest.mark.parametrize("damage", ["body = x'7b'", "body = CAST('7' AS BLOB)", "body = x'ff'"])
async def test_an_unreadable_execution_is_shown_with_its_error(
    services: Services, scene: Scene, spoil: Spoil, damage: str
) -> None:
    bad, sound = await opened(scene), await opened(scene)
    spoil(f"UPDATE tree_bodies SET {damage} WHERE run_id = '{bad.run_id}'")

    first, second = await services.workflows.active()

    assert (first.id, first.status, first.version) == (bad.run_id, Status.RUNNING, 1)
    assert first.error is not None
    assert first.error.startswith(f"the row of execution '{bad.run_id}' cannot be read")
    assert [step.name for step in first.steps] == ["extract", "load"]
    assert (second.id, second.error) == (sound.run_id, None)


async def test_an_edge_that_an_unreadable_execution_may_use_is_not_removed(
    services: Services, scene: Scene, spoil: Spoil
) -> None:
    await services.jobs.put({JobId(name): SHELL for name in "ab"})
    await services.dependencies.add("a", "b")
    [led] = await versions(services)
    execution = await opened(scene, a_run(job_id=JobId(led)))
    spoil("UPDATE tree_bodies SET body = CAST('7' AS BLOB)")

    with pytest.raises(InvalidRun, match="has not ended") as caught:
        await services.dependencies.remove("a", "b")

    assert execution.run_id in caught.value.hint


# -- schedules


@pytest.mark.parametrize("is_paused", [False, True])
async def test_declaring_a_schedule_without_a_readable_copy_replaces_it(
    services: Services, scene: Scene, spoil: Spoil, is_paused: bool
) -> None:
    await services.deployer.apply(declared("a"))
    if is_paused:
        await services.schedules.pause("a:s", True)
    spoil("UPDATE schedules SET spec = '{oops'")
    spoil("UPDATE revisions SET spec = '{oops'")
    [before] = await services.queries.schedules.listed()

    await services.deployer.apply(declared("a"))

    [after] = await services.queries.schedules.listed()
    assert (before.unreadable, after.unreadable) == (True, False)
    assert (after.workflow_id, after.paused) == ("a", is_paused)


@pytest.mark.parametrize("paused", [None, False, True])
async def test_an_upsert_replaces_a_schedule_without_a_readable_copy(
    services: Services, spoil: Spoil, paused: bool | None
) -> None:
    given: dict[str, Any] = {"job_id": "job", "cron_expr": "* * * * *"}
    await services.jobs.put({JobId("job"): SHELL})
    await services.schedules.upsert("s", **given)
    spoil("UPDATE schedules SET spec = '{oops'")
    spoil("UPDATE revisions SET spec = '{oops'")

    await services.schedules.upsert("s", paused=paused, **given)

    [view] = await services.queries.schedules.listed()
    assert (view.unreadable, view.paused) == (False, bool(paused))


async def test_a_schedule_without_a_readable_copy_is_deleted_by_its_id(services: Services, spoil: Spoil) -> None:
    await services.deployer.apply(declared("a"))
    spoil("UPDATE schedules SET spec = '{oops'")
    spoil("UPDATE revisions SET spec = '{oops'")

    await services.schedules.delete("a:s")

    assert await services.queries.schedules.listed() == []


# -- verify


@pytest.mark.parametrize(
    ("damage", "row"),
    [
        ("jobs SET spec = '{oops' WHERE id = 'job'", "job 'job'"),
        ("workflows SET spec = '{oops'", "version 1 of workflow 'etl'"),
        ("tree_bodies SET body = CAST('7' AS BLOB)", "execution '"),
        ("steps SET blockers = '{oops' WHERE step = 'load'", "step 'load'"),
    ],
)
async def test_verify_reports_each_unreadable_row_once(
    services: Services, scene: Scene, spoil: Spoil, damage: str, row: str
) -> None:
    await services.deployer.apply(declared("etl"))
    for _ in range(2):
        await opened(scene)
    spoil(f"UPDATE {damage}")

    found = [report.findings[0].row async for report in verify_rows(services.storage, Instant(0))]

    assert len(found) == (2 if "execution" in row else 1)
    assert all(message is not None and message.startswith(f"the row of {row}") for message in found)


async def test_verify_reports_an_unreadable_version_of_an_open_execution(
    services: Services, scene: Scene, spoil: Spoil
) -> None:
    await services.deployer.apply(declared("etl"))
    await services.deployer.apply(declared("etl", description="other"))
    spoil("UPDATE workflows SET spec = '{oops' WHERE version = 1")
    assert [report async for report in verify_rows(services.storage, Instant(0))] == []

    await opened(scene)

    [report] = [report async for report in verify_rows(services.storage, Instant(0))]
    assert report.schedule_id is None
    assert not report.is_sound
