"""Renaming a workflow, on a virtual clock."""

from collections.abc import AsyncIterator

import pytest

from foliot import Foliot
from foliot.domain.deploy.deployment import Declared
from foliot.domain.ids import JobId
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.spec import Approval, Edge, Step, WorkflowSpec
from foliot.errors import JobInUse
from foliot.testing.inline import InlineEngine

TRUE = JobSpec(kind="shell", spec={"command": "true"}, source="file")
FLOW = WorkflowSpec(
    steps=(
        Step(name="first", definition=TRUE),
        Step(name="ask", approval=Approval(), after=(Edge(parent="first"),)),
        Step(name="last", definition=TRUE, after=(Edge(parent="ask"),)),
    ),
    source="file",
)
RENAMED = Declared(workflows={"new": FLOW}, renames={JobId("old"): JobId("new")})


@pytest.fixture
async def engine(app: Foliot) -> AsyncIterator[InlineEngine]:
    async with InlineEngine(app) as engine:
        await (await app.open()).deployer.apply(Declared(workflows={"old": FLOW}))
        yield engine


async def rename(app: Foliot) -> None:
    await (await app.open()).deployer.apply(RENAMED)


async def test_a_workflow_is_not_renamed_while_an_execution_of_it_is_open(app: Foliot, engine: InlineEngine) -> None:
    execution_id = await app.workflows.start("old")
    await engine.join()

    with pytest.raises(JobInUse, match=execution_id):
        await rename(app)
    await app.workflows.approve(execution_id, "ask")
    await engine.join()
    await rename(app)

    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert (execution.workflow_id, execution.status) == ("new", "success")
    assert [len(await app.runs.page(job=f"new.{name}")) for name in ("first", "ask", "last")] == [1, 1, 1]
    assert await app.runs.page(job="old.first") == []


async def test_a_waiting_execution_opens_under_the_new_workflow_id(app: Foliot, engine: InlineEngine) -> None:
    execution_id = await app.workflows.start("old")

    await rename(app)
    await engine.join()

    execution = await app.workflows.status(execution_id)
    assert execution is not None
    assert (execution.workflow_id, execution.results) == ("new", {"first": "success", "ask": None, "last": None})


@pytest.mark.proves("D7")
async def test_the_id_of_a_deleted_workflow_is_not_free_while_an_execution_is_open(
    app: Foliot, engine: InlineEngine
) -> None:
    other = {"name": "other", "command": "true", "after": ["ask"]}
    await app.workflows.deploy({"id": "new", "steps": [{"name": "ask", "approve": True}, other]})
    outlived = await app.workflows.start("new")
    await engine.join()
    await app.workflows.delete("new")

    with pytest.raises(JobInUse, match=outlived):
        await rename(app)
    await app.workflows.approve(outlived, "ask")
    await engine.join()
    await rename(app)
    taken = await app.workflows.start("new")
    await engine.join()

    before, after = await app.workflows.status(outlived), await app.workflows.status(taken)
    assert before is not None
    assert after is not None
    assert (before.status, before.results) == ("success", {"ask": "success", "other": "success"})
    assert (after.workflow_id, after.results) == ("new", {"first": "success", "ask": None, "last": None})
