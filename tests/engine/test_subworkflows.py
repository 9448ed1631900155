"""Workflows that run as a step of another one."""

from datetime import timedelta

import pytest

from foliot import Foliot, Workflow
from foliot.errors import InvalidWorkflow
from foliot.testing.inline import InlineEngine
from tests.engine.diary import Diary


@pytest.fixture
def diary() -> Diary:
    return Diary()


@pytest.fixture
def outer(app: Foliot, diary: Diary) -> Workflow:
    inner = Workflow("inner", params={"day": 1, "region": "eu"})
    inner.step("load", diary.step("load"), payload={"day": "{{ params.day }}"})
    app.workflow(inner)
    flow = Workflow("outer", params={"day": 7})
    flow.step("begin", diary.step("begin"))
    flow.step("sub", workflow="inner", params={"day": "{{ params.day }}"}).after("begin")
    flow.step("after", diary.step("after")).after("sub")
    return app.workflow(flow)


async def test_a_step_runs_a_workflow_with_its_parameters(
    outer: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    execution_id = await app.workflows.start(outer)
    await engine.run_until_idle()

    assert diary.ran == ["begin", "load", "after"]
    [inner] = await app.runs.page(job="inner")
    [load] = await app.runs.page(job="inner.load")
    assert ((await app.runs.get(execution_id)).status, inner.status) == ("success", "success")
    assert (inner.parent_id, inner.root_id, inner.child_key) == (execution_id, execution_id, "sub")
    assert (load.parent_id, load.root_id, load.input_payload) == (inner.id, execution_id, {"day": 7})


async def test_a_failed_inner_execution_fails_its_step(
    outer: Workflow, app: Foliot, engine: InlineEngine, diary: Diary
) -> None:
    diary.failing.add("load")
    execution_id = await app.workflows.start(outer)
    await engine.run_until_idle()

    assert (await app.runs.get(execution_id)).status == "failed"
    assert diary.ran == ["begin", "load"]


async def test_cancelling_an_execution_cancels_the_inner_one(app: Foliot, engine: InlineEngine) -> None:
    execution_id = await start_waiting(app, engine)

    await app.runs.cancel(execution_id)
    await engine.run_until_idle()

    assert [run.status for run in await app.runs.page(job="inner")] == ["cancelled"]
    assert (await app.runs.get(execution_id)).status == "cancelled"


async def test_an_inner_execution_ends_with_the_timeout_of_the_outer_one(app: Foliot, engine: InlineEngine) -> None:
    execution_id = await start_waiting(app, engine)

    await engine.advance(timedelta(seconds=61))

    assert [run.status for run in await app.runs.page(job="inner")] == ["cancelled"]
    assert (await app.runs.get(execution_id)).status == "timeout"


async def test_a_workflow_that_would_start_itself_is_refused(app: Foliot, engine: InlineEngine) -> None:
    await put(app, Workflow("a").step("s", approve=True).workflow)
    await put(app, Workflow("b").step("s", workflow="a").workflow)

    with pytest.raises(InvalidWorkflow) as refused:
        await put(app, Workflow("a").step("s", workflow="b").workflow)

    assert "it would start itself without end: a -> b -> a" in str(refused.value)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"workflow": "inner", "params": {"dey": 1}}, 'workflow "inner" has no parameter "dey"'),
        ({"workflow": "iner"}, 'workflow "iner" does not exist'),
        ({"job": "inner"}, '"inner" is a workflow, not a job'),
    ],
)
async def test_a_wrong_inner_workflow_is_refused(
    app: Foliot, engine: InlineEngine, step: dict[str, object], message: str
) -> None:
    await put(app, Workflow("inner", params={"day": 1}).step("s", approve=True).workflow)

    with pytest.raises(InvalidWorkflow) as refused:
        await put(app, Workflow("outer").step("sub", **step).workflow)  # type: ignore[arg-type]

    assert message in refused.value.problems[0].message


async def start_waiting(app: Foliot, engine: InlineEngine) -> str:
    """Start an execution whose inner execution waits for a person."""
    await put(app, Workflow("inner").step("ask", approve=True).workflow)
    await put(app, Workflow("outer", timeout=60).step("sub", workflow="inner").workflow)
    execution_id = await app.workflows.start("outer")
    await engine.run_until_idle()
    return execution_id


async def put(app: Foliot, workflow: Workflow) -> None:
    await (await app.open()).workflows.put({workflow.id: workflow.spec})
