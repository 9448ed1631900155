"""The promises of a storage about reading executions."""

from collections.abc import Collection

import pytest

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import MINUTE
from foliot.domain.run.run import Status
from foliot.domain.tree.kind import Wanted
from foliot.domain.tree.tree import Tree
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.output import RunOutput, StepOutput
from foliot.domain.workflow.progress import StepState
from foliot.ports.pages import RunFilter
from foliot.testing.builders import (
    a_run,
    a_run_id,
    failed,
    succeeded,
)
from foliot.testing.conformance.storage.scene import Contract, Scene
from foliot.testing.conformance.storage.tree_builders import (
    ETL,
    a_child,
    a_settlement,
    an_opening,
    child_of,
    claim_child,
    final_settlement,
    opened,
    settle,
)


class ExecutionQueryContract(Contract):
    """Every storage must pass these tests unchanged."""

    async def test_step_states_are_read_by_name(self, scene: Scene) -> None:
        execution = await opened(scene, steps=tuple("abcd"))
        part = await child_of(scene, execution, "a")

        states = await scene.storage.queries.step_states(execution.run_id, ["a", "c", "x"])

        assert states == {"a": StepState(0, run_id=part), "c": StepState(1)}
        assert list(await scene.storage.queries.step_states(execution.run_id)) == list("abcd")
        assert await scene.storage.queries.step_states(a_run_id()) == {}

    async def test_a_step_state_is_read_as_it_was_saved(self, scene: Scene) -> None:
        execution = await opened(scene)
        state = StepState(3, ("a", "b"), Result.SKIPPED, a_run_id(), "paused")

        await settle(scene, a_settlement(execution, changed={"load": state}))

        assert await scene.storage.queries.step_states(execution.run_id, ["load"]) == {"load": state}

    async def test_step_outputs_are_those_of_their_runs(self, scene: Scene) -> None:
        execution = await opened(scene)
        claim = await claim_child(scene, execution)
        await scene.finish(succeeded(claim, b'"done"'))

        outputs = await scene.storage.queries.step_outputs(execution.run_id, ["extract", "load", "x"])

        assert outputs == {
            "extract": StepOutput(None, claim.run_id, RunOutput(exit_code=0, output=b'"done"')),
            "load": StepOutput(None, None, RunOutput()),
        }

    async def test_steps_are_in_written_order_with_the_status_of_their_runs(self, scene: Scene) -> None:
        execution = await opened(scene, steps=("zero", "one"))
        await claim_child(scene, execution, "zero")

        steps = await scene.storage.trees.steps(execution.run_id)

        assert [(step.name, step.status) for step in steps] == [("zero", Status.RUNNING), ("one", None)]

    async def test_active_executions_are_open_ones_oldest_first(self, scene: Scene) -> None:
        first, second, third = [await opened(scene) for _ in range(3)]
        other = await opened(scene, a_run(job_id=JobId("other")))
        await settle(scene, final_settlement(second))

        assert ids(await scene.storage.queries.active_executions()) == ids([first, third, other])
        assert ids(await scene.storage.queries.active_executions(workflow_id=ETL)) == ids([first, third])
        assert ids(await scene.storage.queries.active_executions(limit=1)) == ids([first])

    async def test_a_dependency_is_expected_while_a_run_of_it_is_due_and_open(self, scene: Scene) -> None:
        limited = await scene.start(a_run(job_id=JobId("a"), max_concurrent=1))
        plain = await scene.start(a_run(job_id=JobId("b")))
        await scene.create(a_run(job_id=JobId("c"), due_at=scene.after(MINUTE)))
        wanted = Wanted(run_id=a_run_id(), busy=frozenset(map(JobId, "abcd")))

        async def busy() -> set[str]:
            loaded = await scene.storage.trees.load([wanted], at=scene.now)
            return {job_id for job_id, is_busy in loaded[wanted.run_id].busy.items() if is_busy}

        assert await busy() == {"a", "b"}
        await scene.finish(succeeded(limited), succeeded(plain))

        assert await busy() == set()

    async def test_the_runs_of_a_tree_are_listed_newest_first(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_child(claim.run_id, name) for name in "abc"}
        await scene.storage.trees.open([an_opening(claim, steps=tuple("abc"), runs=runs)], at=scene.now)
        await opened(scene)
        await scene.finish(failed((await scene.claim(only=[runs["a"].id]))[0]))
        await scene.claim(only=[runs["b"].id])

        parts = await scene.storage.queries.page_runs(RunFilter(root_id=claim.run_id))

        assert [run.child_key for run in parts] == ["c", "b", "a"]
        for status, item in ((Status.QUEUED, "c"), (Status.RUNNING, "b"), (Status.FAILED, "a")):
            found = await scene.storage.queries.page_runs(RunFilter(root_id=claim.run_id, status=status))
            assert [run.child_key for run in found] == [item]
        page = await scene.storage.queries.page_runs(RunFilter(root_id=claim.run_id, before=runs["c"].id, limit=1))
        assert [run.child_key for run in page] == ["b"]

    @pytest.mark.proves("R0-68")
    async def test_the_children_of_a_run_are_read_in_the_order_of_their_creation(self, scene: Scene) -> None:
        claim = await scene.start(a_run(job_id=ETL))
        runs = {name: a_child(claim.run_id, name) for name in "abc"}
        await scene.storage.trees.open([an_opening(claim, steps=tuple("abc"), runs=runs)], at=scene.now)
        await opened(scene)

        first = await scene.storage.queries.children(claim.run_id, limit=2)
        rest = await scene.storage.queries.children(claim.run_id, after=first[-1].id, limit=2)

        assert [run.child_key for run in (*first, *rest)] == ["a", "b", "c"]
        assert await scene.storage.queries.children(runs["a"].id) == []

    async def test_open_executions_are_listed_and_counted_as_running(self, scene: Scene) -> None:
        running, cancelling = await opened(scene), await opened(scene)
        await scene.cancel(cancelling.run_id)

        async def listed(status: Status) -> list[RunId]:
            return [run.id for run in await scene.storage.queries.page_runs(RunFilter(status=status, job_id=ETL))]

        assert await listed(Status.RUNNING) == [running.run_id]
        assert await listed(Status.CANCELLING) == [cancelling.run_id]
        assert (await scene.depth()).running == 2
        assert await listed(Status.QUEUED) == await listed(Status.SCHEDULED) == []


def ids(executions: Collection[Execution | Tree]) -> list[RunId]:
    return [execution.run_id for execution in executions]
