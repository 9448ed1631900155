"""Builders of trees for tests, with defaults for everything that a test does not set."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from foliot.domain.ids import JobId, RunId
from foliot.domain.job.job import JobSpec
from foliot.domain.run.lease import Claim
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.settlement import Opening, Settlement
from foliot.domain.tree.tree import Tree
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution
from foliot.domain.workflow.plan import ExecutionBody
from foliot.domain.workflow.progress import StepState
from foliot.domain.workflow.spec import GRAPH
from foliot.ports.trees import UnsettledTree
from foliot.testing.builders import a_run
from foliot.testing.conformance.storage.scene import Scene

ETL: Final = JobId("etl")
STEPS: Final = ("extract", "load")
DONE: Final = Ended(Status.SUCCESS)
NOTES: Final = 100


def a_child(parent: RunId, step: str, **fields: Any) -> NewRun:
    """Build the run of a step. Its parent is the outermost tree, unless `root_id` is given."""
    place = {"parent_id": parent, "root_id": parent, "child_key": step}
    return a_run(**{"job_id": JobId(f"etl.{step}"), **place, **fields})


def an_opening(
    claim: Claim,
    *,
    steps: Sequence[str] = STEPS,
    runs: Mapping[str, NewRun] | None = None,
    ended: Ended | None = None,
    params: Mapping[str, Any] | None = None,
    jobs: Mapping[JobId, JobSpec] | None = None,
    **fields: Any,
) -> Opening:
    """Build an opening with sequential steps. The first has a run, unless `runs` is given; `fields` are of the tree."""
    root_id = fields.get("root_id", claim.parent_id or claim.run_id)
    first = {steps[0]: a_child(claim.run_id, steps[0], root_id=root_id)}
    children = first if runs is None else runs
    result = None if ended is None else Result.SUCCESS
    states = {
        name: StepState(
            int(name not in children), result=result, run_id=children[name].id if name in children else None
        )
        for name in steps
    }
    known: dict[str, Any] = {
        "kind": GRAPH,
        "job_id": claim.job_id,
        "version": 1,
        "state": 0,
        "open": len(steps) if ended is None else 0,
        "opened_at": claim.started_at,
        "root_id": root_id,
        "depth": 0 if claim.parent_id is None else 1,
        "size": len(steps),
        "planned": claim.scheduled_for,
    }
    body = msgspec.json.encode(ExecutionBody(params or {}, jobs or {}))
    return Opening(claim, Tree(claim.run_id, **{**known, **fields}), body, tuple(children.values()), states, ended)


async def opened(scene: Scene, run: NewRun | None = None, **fields: Any) -> Tree:
    """Create a run, open it as a tree, and return the tree."""
    claim = await scene.start(run or a_run(job_id=ETL))
    opening = an_opening(claim, **fields)
    assert await scene.storage.trees.open([opening], at=scene.now) == []
    return opening.tree


async def shown(scene: Scene, run_id: RunId) -> Execution:
    """Return an execution as the queries port shows it."""
    return (await scene.storage.queries.get_executions([run_id]))[run_id]


async def stored(scene: Scene, run_id: RunId) -> Tree:
    """Return the current tree of an execution, to settle it."""
    execution = await shown(scene, run_id)
    return Tree(
        run_id,
        GRAPH,
        JobId(execution.workflow_id),
        execution.version,
        execution.state,
        execution.unresolved,
        execution.opened_at,
        root_id=run_id,
        deadline=execution.deadline,
        cancel_at=execution.cancel_at,
        is_ending=execution.is_ending,
        planned=execution.planned,
    )


async def child_of(scene: Scene, tree: Tree, step: str = "extract") -> RunId:
    states = await scene.storage.queries.step_states(tree.run_id, [step])
    run_id = states[step].run_id
    assert run_id is not None
    return run_id


async def claim_child(scene: Scene, tree: Tree, step: str = "extract") -> Claim:
    """Claim the run of a step."""
    [claim] = await scene.claim(only=[await child_of(scene, tree, step)])
    return claim


async def unsettled(scene: Scene, limit: int = 100) -> Sequence[UnsettledTree]:
    return (await scene.storage.trees.unsettled(limit, notes_per_tree=NOTES, at=scene.now)).trees


async def all_notes(scene: Scene) -> list[tuple[str | None, Status | None]]:
    """Return step and status of the notes of all trees."""
    return [(note.child_key, note.status) for one in await unsettled(scene) for note in one.notes.items]


def a_settlement(
    tree: Tree,
    *,
    notes: Iterable[RunId] = (),
    changed: Mapping[str, StepState] | None = None,
    runs: Mapping[str, NewRun] | None = None,
    **fields: Any,
) -> Settlement:
    """Build a settlement. Changed steps with a result must have had none before."""
    steps = changed or {}
    still_open = tree.open - sum(state.result is not None for state in steps.values())
    runs_to_start = tuple((runs or {}).values())
    return Settlement(tree._replace(open=still_open), tuple(notes), runs_to_start, steps, **fields)


def final_settlement(tree: Tree, ended: Ended = DONE, *, steps: Sequence[str] = STEPS) -> Settlement:
    """Build the settlement that resolves all steps and ends the tree."""
    changed = {name: StepState(0, result=Result.SUCCESS) for name in steps}
    return Settlement(tree._replace(open=0), (), (), changed, ended=ended)


async def settle(scene: Scene, *settlements: Settlement) -> list[RunId]:
    return await scene.storage.trees.settle(settlements, at=scene.now)
