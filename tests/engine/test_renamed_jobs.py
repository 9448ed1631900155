"""Renaming a job that workflows and gates use."""

from collections.abc import Mapping
from datetime import timedelta

import pytest

from foliot import Foliot
from foliot.domain.deploy.deployment import Changes, Declared
from foliot.domain.gate.spec import Gate
from foliot.domain.ids import JobId, ScheduleId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.errors import JobInUse
from foliot.service.queries.execution_view import ExecutionView
from foliot.testing.builders import every
from foliot.testing.inline import InlineEngine

OLD, NEW, A, B, T = map(JobId, ("old", "new", "a", "b", "t"))
TRUE = JobSpec(kind="shell", spec={"command": "true"}, source="file")
DOCUMENT = {
    "id": "wf",
    "steps": [{"name": "ask", "approve": True}, {"name": "work", "job": "old", "after": "ask"}],
}


def saying(word: str) -> JobSpec:
    return JobSpec(kind="shell", spec={"command": f"printf {word}", "output": "text"}, source="file")


async def load(app: Foliot, jobs: Mapping[JobId, JobSpec], **fields: object) -> Changes:
    """Load a file with these jobs."""
    return await (await app.open()).deployer.apply(Declared(jobs=jobs, **fields))  # type: ignore[arg-type]


async def rename(app: Foliot) -> Changes:
    return await load(app, {NEW: TRUE}, renames={OLD: NEW})


async def passage(app: Foliot, engine: InlineEngine, execution_id: str | None = None) -> ExecutionView:
    """Approve an execution and run it to its end."""
    execution_id = execution_id or await app.workflows.start("wf")
    await engine.join()
    await app.workflows.approve(execution_id, "ask")
    await engine.join()
    execution = await app.workflows.status(execution_id)
    assert execution is not None
    return execution


@pytest.fixture
async def deployed(app: Foliot, engine: InlineEngine) -> None:
    await load(app, {OLD: TRUE})
    await app.workflows.deploy(DOCUMENT)


@pytest.mark.usefixtures("deployed")
async def test_a_workflow_uses_a_job_under_its_new_id(app: Foliot, engine: InlineEngine) -> None:
    assert (await passage(app, engine)).results["work"] == "success"

    await rename(app)

    assert (await passage(app, engine)).results["work"] == "success"
    assert len(await app.runs.page(job="new")) == 2
    assert await app.runs.page(job="old") == []


@pytest.mark.usefixtures("deployed")
async def test_a_job_is_not_renamed_while_an_execution_that_names_it_is_open(app: Foliot, engine: InlineEngine) -> None:
    execution_id = await app.workflows.start("wf")
    await engine.join()

    with pytest.raises(JobInUse, match=execution_id):
        await rename(app)
    assert (await passage(app, engine, execution_id)).results["work"] == "success"
    await rename(app)

    assert len(await app.runs.page(job="new")) == 1


@pytest.mark.usefixtures("deployed")
async def test_a_refused_rename_leaves_all_definitions_as_they_were(app: Foliot, engine: InlineEngine) -> None:
    await app.workflows.start("wf")
    await engine.join()

    with pytest.raises(JobInUse):
        await load(app, {NEW: saying("changed"), A: TRUE}, renames={OLD: NEW})

    found = await (await app.open()).storage.definitions.get_jobs([OLD, NEW, A])
    assert {job_id: job.spec for job_id, job in found.items()} == {OLD: TRUE}


@pytest.mark.usefixtures("deployed")
async def test_an_execution_that_waits_to_be_opened_runs_the_renamed_job(app: Foliot, engine: InlineEngine) -> None:
    execution_id = await app.workflows.start("wf")

    await rename(app)

    assert (await passage(app, engine, execution_id)).results["work"] == "success"
    assert len(await app.runs.page(job="new")) == 1


async def test_a_rename_adds_no_version_to_a_workflow_of_the_same_file(app: Foliot, engine: InlineEngine) -> None:
    def flow(job_id: JobId) -> dict[str, WorkflowSpec]:
        definition = JobSpec(kind="shell", spec={"command": "true"}, gate=Gate(depends_on=(job_id,)), source="file")
        steps = (Step(name="work", job=job_id), Step(name="after", definition=definition, after=(Edge(parent="work"),)))
        return {"wf": WorkflowSpec(steps=steps, source="file")}

    await load(app, {OLD: TRUE}, workflows=flow(OLD))

    changes = await load(app, {NEW: TRUE}, workflows=flow(NEW), renames={OLD: NEW})

    assert [change.action for change in changes.workflows] == ["unchanged"]
    execution_id = await app.workflows.start("wf")
    await engine.join()
    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert (execution.version, execution.results) == (1, {"work": "success", "after": "success"})


async def test_a_gate_reads_runs_from_before_a_rename(app: Foliot, engine: InlineEngine) -> None:
    gated = JobSpec(kind="shell", spec={"command": "true"}, gate=Gate(depends_on=(OLD,)), source="api")
    await load(app, {OLD: TRUE})
    await (await app.open()).jobs.put({JobId("gated"): gated})
    await app.enqueue("old")
    await engine.join()

    await rename(app)
    run_id = await app.enqueue("gated")
    await engine.join()

    assert (await app.runs.get(run_id)).status == "success"


async def test_each_step_keeps_its_job_when_two_jobs_swap_ids(app: Foliot, engine: InlineEngine) -> None:
    """In three renames, since two jobs cannot swap ids in one call."""
    await load(app, {A: saying("a"), B: saying("b")})
    steps = [{"name": "one", "job": "a", "after": "ask"}, {"name": "two", "job": "b", "after": "ask"}]
    await app.workflows.deploy({"id": "wf", "steps": [{"name": "ask", "approve": True}, *steps]})
    await passage(app, engine)

    await load(app, {T: saying("a"), B: saying("b")}, renames={A: T})
    await load(app, {T: saying("a"), A: saying("b")}, renames={B: A})
    await load(app, {B: saying("a"), A: saying("b")}, renames={T: B})

    execution = await passage(app, engine)
    results = {step.name: (await app.runs.get(step.run_id or "")).output_payload for step in execution.steps[1:]}
    assert results == {"one": "a", "two": "b"}
    assert {run.output_payload for run in await app.runs.page(job="b")} == {"a"}


async def test_a_renamed_job_keeps_its_dependent_jobs(app: Foliot, engine: InlineEngine) -> None:
    child = JobId("child")
    hourly = every(3_600, job_id=OLD, source="file")
    await load(app, {OLD: TRUE, child: TRUE}, schedules={ScheduleId("hourly"): hourly})
    await app.jobs.add_dependency("child", "old")
    await engine.advance(timedelta(hours=1))
    await engine.join()

    later = every(3_600, job_id=NEW, source="file")
    await load(app, {NEW: TRUE, child: TRUE}, schedules={ScheduleId("hourly"): later}, renames={OLD: NEW})
    await engine.advance(timedelta(hours=1))
    await engine.join()

    assert [len(await app.runs.page(job=name)) for name in ("old", "new", "child")] == [0, 2, 2]
    assert [edge.parent for edge in await (await app.open()).dependencies.of("child")] == ["new"]
    await app.jobs.add_dependency("child", "new", "failure")
    assert (await (await app.open()).storage.definitions.get_jobs([NEW]))[NEW].leads == "after:new"


async def test_a_job_renamed_after_the_start_of_an_execution_is_not_part_of_it(
    app: Foliot, engine: InlineEngine
) -> None:
    storage = (await app.open()).storage
    await load(app, {OLD: TRUE})
    await app.workflows.deploy(DOCUMENT)
    await storage.definitions.delete_jobs([OLD])
    execution_id = await app.workflows.start("wf")
    await engine.join()

    await load(app, {OLD: TRUE})

    assert (await passage(app, engine, execution_id)).results["work"] == "skipped"
