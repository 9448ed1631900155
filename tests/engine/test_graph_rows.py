"""What section 8.4 of the requirements expects of graphs, row by row, with jobs that are wired and workflows that are
written. The order of the tests is that of the rows."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from foliot import Foliot, Workflow
from foliot.domain.ids import JobId
from foliot.domain.instant import Millis
from foliot.domain.job.job import JobSpec
from foliot.domain.workflow.check import MAX_STEPS
from foliot.domain.workflow.spec import Edge, Step, WorkflowSpec
from foliot.engine.scheduler.janitor import RETENTION
from foliot.engine.settings import Settings
from foliot.errors import CycleDetected, InvalidJob, InvalidWorkflow, NotFound
from foliot.service.queries.execution_view import ExecutionView
from foliot.testing.builders import retention
from foliot.testing.inline import InlineEngine
from tests.engine.diary import Diary

CELLS = [
    ("success", "success", True),
    ("success", "failure", False),
    ("success", "skipped", False),
    ("success", "complete", True),
    ("failure", "success", False),
    ("failure", "failure", True),
    ("failure", "skipped", False),
    ("failure", "complete", True),
    ("skipped", "success", False),
    ("skipped", "failure", False),
    ("skipped", "skipped", True),
    ("skipped", "complete", True),
]
HOUR = timedelta(hours=1)


class Field:
    """Jobs a to d, of which a runs every hour, workflows with them as steps, and a record of what ran."""

    def __init__(self, *storage: str) -> None:
        self.app = Foliot(*storage)
        self.diary = Diary()
        for name in "abcd":
            self.app.job(id=name)(self.diary.step(name))
        self.app.schedule("hourly", "a", cron="0 * * * *")

    @property
    def ran(self) -> str:
        return "".join(self.diary.ran)

    async def wire(self, *edges: str) -> None:
        """Each as `child parent [condition]`."""
        for edge in edges:
            child, parent, *condition = edge.split()
            await self.app.jobs.add_dependency(child, parent, *condition)

    async def walk(self, engine: InlineEngine, flow: Workflow) -> ExecutionView:
        """Register a workflow with steps of the diary, and run one execution."""
        await (await self.app.open()).workflows.put({flow.id: flow.spec})
        execution_id = await self.app.workflows.start(flow.id)
        await engine.run_until_idle()
        return await self.execution(execution_id)

    async def execution(self, execution_id: str) -> ExecutionView:
        found = await self.app.workflows.status(execution_id)
        assert found is not None
        return found

    async def latest(self) -> ExecutionView:
        """Return the latest execution that the schedule of `a` started."""
        [tick] = await self.app.schedules.ticks("hourly", limit=1)
        return await self.execution(tick.run_id or "")


@pytest.fixture
def field() -> Field:
    return Field()


@pytest.fixture
async def engine(field: Field) -> AsyncIterator[InlineEngine]:
    async with InlineEngine(field.app) as engine:
        yield engine


def flow_of(*steps: str, **options: Any) -> Workflow:
    """Build a workflow from lines `name [parent:condition ...] [final]`, in which each step is the job of that name."""
    flow = Workflow("flow", **options)
    for text in steps:
        name, *words = text.split()
        step = flow.step(name, job=name)
        for word in words:
            parent, _, condition = word.partition(":")
            step.final() if word == "final" else step.after(parent, condition or "success")
    return flow


@pytest.mark.proves("R2-48", "R2-60")
@pytest.mark.parametrize(("result", "condition", "fires"), CELLS)
async def test_each_edge_condition_matches_only_its_results(
    field: Field, engine: InlineEngine, result: str, condition: str, fires: bool
) -> None:
    """Step a succeeds or fails; b, which needs success, shows the effect of a skipped parent."""
    field.diary.failing = set() if result == "success" else {"a"}
    parent = "b" if result == "skipped" else "a"

    execution = await field.walk(engine, flow_of("a", "b a", f"c {parent}:{condition}"))

    assert execution.results[parent] == result
    assert execution.results["c"] == ("success" if fires else "skipped")
    assert ("c" in field.ran) is fires


async def test_a_dependent_job_runs_after_its_parent(field: Field, engine: InlineEngine) -> None:
    await field.wire("b a")
    await engine.advance(HOUR)

    assert field.ran == "ab"


async def test_a_chain_of_three_runs_in_order(field: Field, engine: InlineEngine) -> None:
    await field.wire("b a", "c b")
    await engine.advance(HOUR)

    assert field.ran == "abc"


@pytest.mark.parametrize("condition", ["complete", "failure"])
async def test_a_failure_skips_the_success_child_and_runs_the_failure_child(
    field: Field, engine: InlineEngine, condition: str
) -> None:
    field.diary.failing = {"a"}
    await field.wire("b a", f"c a {condition}")
    await engine.advance(HOUR)

    assert field.ran == "ac"
    assert (await field.latest()).results == {"a": "failure", "b": "skipped", "c": "success"}


@pytest.mark.proves("R2-60")
async def test_a_skipped_step_runs_its_skipped_children(field: Field, engine: InlineEngine) -> None:
    field.diary.failing = {"a"}
    await field.wire("b a", "c b skipped", "d b")
    await engine.advance(HOUR)

    assert field.ran == "ac"
    assert (await field.latest()).results == {"a": "failure", "b": "skipped", "c": "success", "d": "skipped"}


async def test_a_diamond_runs_each_step_once_and_the_last_one_last(field: Field, engine: InlineEngine) -> None:
    await field.wire("b a", "c a", "d b", "d c")
    await engine.advance(HOUR)

    assert sorted(field.ran) == ["a", "b", "c", "d"]
    assert (field.ran[0], field.ran[-1]) == ("a", "d")


@pytest.mark.proves("R2-53", "R2-61")
async def test_a_paused_child_is_skipped_and_its_children_are_evaluated(field: Field, engine: InlineEngine) -> None:
    await (await field.app.open()).workflows.put({"flow": flow_of("a", "b a", "c b:skipped", "d b").spec})
    await field.app.workflows.pause_step("flow", "b")

    execution_id = await field.app.workflows.start("flow")
    await engine.run_until_idle()

    assert field.ran == "ac"
    results = (await field.execution(execution_id)).results
    assert results == {"a": "success", "b": "skipped", "c": "success", "d": "skipped"}


@pytest.mark.proves("R2-55", "R2-61", "D7")
async def test_a_job_removed_while_its_parent_runs_is_skipped(field: Field, engine: InlineEngine) -> None:
    removable = JobSpec(kind="shell", spec={"command": "true"})
    await (await field.app.open()).jobs.put({JobId("b2"): removable})
    await field.wire("b2 a", "c b2")
    field.diary.hold("a")
    await engine.advance(HOUR)

    await field.app.jobs.delete("b2")
    field.diary.let_go("a")
    await engine.run_until_idle()

    execution = await field.latest()
    assert field.ran == "a"
    assert (execution.status, execution.results) == ("success", {"a": "success", "b2": "skipped", "c": "skipped"})
    assert await field.app.jobs.dependencies("c") == []


@pytest.mark.proves("D9", "R2-60")
async def test_five_concurrent_executions_do_not_mix(field: Field, engine: InlineEngine) -> None:
    await (await field.app.open()).workflows.put({"flow": flow_of("a", "b a").spec})
    field.diary.hold("a")
    started = [await field.app.workflows.start("flow") for _ in range(5)]
    await engine.run_until_idle()
    field.diary.let_go("a")
    await engine.run_until_idle()

    assert field.ran == "aaaaabbbbb"
    assert sorted(field.diary.seen) == sorted((name, one) for one in started for name in "ab")


@pytest.mark.parametrize("failing", [set(), {"a"}])
async def test_the_final_step_runs_last_even_after_a_failure(
    field: Field, engine: InlineEngine, failing: set[str]
) -> None:
    field.diary.failing = failing

    await field.walk(engine, flow_of("a", "b a", "c final"))

    assert field.ran == ("ac" if failing else "abc")


async def test_a_step_gets_its_execution_id_and_a_plain_run_gets_none(field: Field, engine: InlineEngine) -> None:
    execution = await field.walk(engine, flow_of("a", "b a"))
    await field.app.enqueue("b")
    await engine.run_until_idle()

    assert field.diary.seen == [("a", execution.id), ("b", execution.id), ("b", None)]


@pytest.mark.proves("R2-16")
async def test_a_retention_of_two_removes_the_first_three_of_five_executions(
    field: Field, engine: InlineEngine
) -> None:
    executions = [(await field.walk(engine, flow_of("a", "b a"))).id for _ in range(5)]
    upkeep = (await field.app.open()).storage.upkeep
    epoch = await upkeep.lead("janitor", Millis(1_000))
    await upkeep.prune(retention(executions_per_workflow=2), epoch=epoch or 0, limit=1_000)

    left = [await field.app.workflows.status(one) for one in executions]
    assert [one is None for one in left] == [True, True, True, False, False]
    assert RETENTION.executions_per_workflow == 100


@pytest.mark.proves("R2-16", "R2-44")
async def test_the_end_of_the_101st_execution_removes_the_first(field: Field, engine: InlineEngine) -> None:
    executions = [(await field.walk(engine, flow_of("a"))).id for _ in range(101)]

    left = [await field.app.workflows.status(one) for one in executions]
    assert [one is None for one in left] == [True, *[False] * 100]


@pytest.mark.proves("R2-60")
@pytest.mark.parametrize("edge", ["a a", "a b", "a c"], ids=["self", "direct", "indirect"])
async def test_a_cycle_is_refused(field: Field, engine: InlineEngine, edge: str) -> None:
    await field.wire("b a", "c b")

    with pytest.raises(CycleDetected):
        await field.wire(edge)
    assert await field.app.jobs.dependencies("a") == []


async def test_the_same_edge_twice_is_stored_once(field: Field, engine: InlineEngine) -> None:
    await field.wire("b a", "b a")

    assert await field.app.jobs.dependencies("b") == [Edge(parent="a")]


async def test_removing_one_of_two_edges_keeps_the_other(field: Field, engine: InlineEngine) -> None:
    await field.wire("c a", "c b")
    await field.app.jobs.remove_dependency("c", "b")

    assert await field.app.jobs.dependencies("c") == [Edge(parent="a")]


async def test_deleting_a_parent_job_removes_its_edges(field: Field, engine: InlineEngine) -> None:
    parent = JobSpec(kind="shell", spec={"command": "true"})
    await (await field.app.open()).jobs.put({JobId("p"): parent})
    await field.wire("c a", "c p")
    await field.app.jobs.delete("p")

    assert await field.app.jobs.dependencies("c") == [Edge(parent="a")]


async def test_removing_a_missing_edge_is_a_no_op(field: Field, engine: InlineEngine) -> None:
    await field.wire("b a")
    await field.app.jobs.remove_dependency("c", "a")

    assert await field.app.jobs.dependencies("b") == [Edge(parent="a")]


@pytest.mark.parametrize("edge", ["nobody a", "a nobody"])
async def test_an_unknown_child_or_parent_is_not_found(field: Field, engine: InlineEngine, edge: str) -> None:
    with pytest.raises(NotFound, match="nobody"):
        await field.wire(edge)


def _twice() -> WorkflowSpec:
    return WorkflowSpec(steps=(Step(name="a", job=JobId("a")), Step(name="a", job=JobId("b"))))


def _taken() -> WorkflowSpec:
    own = JobSpec(kind="shell", spec={"command": "true"})
    return WorkflowSpec(steps=(Step(name="taken", definition=own),))


def _too_many() -> WorkflowSpec:
    return WorkflowSpec(steps=tuple(Step(name=f"s{n}", job=JobId("a")) for n in range(MAX_STEPS + 1)))


WRONG: dict[str, tuple[Callable[[], WorkflowSpec], str]] = {
    "empty": (lambda: WorkflowSpec(steps=()), "at least one step"),
    "two finals": (lambda: flow_of("a final", "b final").spec, "only one step can be final"),
    "unknown parent": (lambda: flow_of("a", "b aa").spec, 'comes after "aa", which does not exist'),
    "duplicate inside": (_twice, "is defined twice"),
    "duplicate of a job": (_taken, 'a job "flow.taken" already exists'),
    "bad spec": (lambda: flow_of("a", retries=-1).spec, "retries"),
    "bad condition": (lambda: flow_of("a", "b a:sometimes").spec, "condition 'sometimes' does not exist"),
    "cycle": (lambda: flow_of("a c", "b a", "c b").spec, "form a cycle"),
    "capacity": (_too_many, f"at most {MAX_STEPS} steps"),
}


@pytest.mark.proves("R2-61", "D1")
@pytest.mark.parametrize("wrong", WRONG)
async def test_an_invalid_workflow_is_refused_and_not_registered(
    field: Field, engine: InlineEngine, wrong: str
) -> None:
    build, message = WRONG[wrong]
    services = await field.app.open()
    await services.jobs.put({JobId("flow.taken"): JobSpec(kind="shell", spec={"command": "true"})})
    before = await field.app.jobs.page()

    with pytest.raises((InvalidWorkflow, InvalidJob), match=message):
        await services.workflows.put({"flow": build()})

    assert await field.app.jobs.page() == before
    assert await services.workflows.records() == []


@pytest.mark.proves("R2-15", "R2-58")
async def test_a_missing_execution_is_none_and_a_view_is_a_copy(field: Field, engine: InlineEngine) -> None:
    assert await field.app.workflows.status("01NOWHERE") is None
    execution = await field.walk(engine, flow_of("a", "b a", params={"day": 1}))

    execution.params["day"] = 2
    execution.results["a"] = "failure"
    execution.steps.clear()

    again = await field.execution(execution.id)
    assert again.params == {"day": 1}
    assert again.results == {"a": "success", "b": "success"}


async def test_stopping_while_a_step_runs_leaves_the_execution_active(tmp_path: Path) -> None:
    field = Field(f"sqlite:///{tmp_path}/foliot.db")
    field.diary.hold("a")
    field.app.workflow(flow_of("a", "b a"))
    async with field.app:
        node = await field.app.node(Settings(label="test", drain=Millis(0)))
        await node.start()
        execution_id = await field.app.workflows.start("flow")
        await field.diary.begun("a")

        await node.stop()

        assert [one.id for one in await field.app.workflows.active()] == [execution_id]
        assert (await field.execution(execution_id)).results == {"a": None, "b": None}


async def test_a_job_without_dependencies_is_never_started_as_a_child(field: Field, engine: InlineEngine) -> None:
    await field.wire("b a")
    await engine.advance(HOUR)

    assert field.ran == "ab"
    assert await field.app.runs.page(job="c") == []


async def test_a_step_waits_for_two_roots(field: Field, engine: InlineEngine) -> None:
    field.diary.hold("b")
    await (await field.app.open()).workflows.put({"flow": flow_of("a", "b", "d a b").spec})
    await field.app.workflows.start("flow")
    await engine.run_until_idle()
    assert sorted(field.ran) == ["a", "b"]

    field.diary.let_go("b")
    await engine.run_until_idle()

    assert sorted(field.ran) == ["a", "b", "d"]
