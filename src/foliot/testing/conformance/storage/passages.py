"""Executions as cases about them need: say what the case is about, the rest is filled in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from foliot.domain.ids import JobId, RunId
from foliot.domain.lease import Claim
from foliot.domain.run import Ended, NewRun, Status
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.execution import Execution, Opening, Settlement, Unsettled
from foliot.domain.workflow.progress import StepState
from foliot.testing.builders import a_run
from foliot.testing.conformance.storage.scene import Scene

ETL: Final = JobId("etl")
STEPS: Final = ("extract", "load")
DONE: Final = Ended(Status.SUCCESS)


def a_part(root: RunId, step: str, **fields: Any) -> NewRun:
    """The run of a step."""
    return a_run(**{"job_id": JobId(f"etl.{step}"), "root": root, "role": "step", "item": step, **fields})


def an_opening(
    claim: Claim,
    *,
    steps: Sequence[str] = STEPS,
    runs: Mapping[str, NewRun] | None = None,
    ended: Ended | None = None,
    **fields: Any,
) -> Opening:
    """The steps come one after the other; the first has a run, unless others are given."""
    parts = {steps[0]: a_part(claim.run_id, steps[0])} if runs is None else runs
    result = None if ended is None else Result.SUCCESS
    states = {
        name: StepState(int(name not in parts), result=result, run_id=parts[name].id if name in parts else None)
        for name in steps
    }
    known: dict[str, Any] = {
        "workflow_id": claim.job_id,
        "version": 1,
        "state": 0,
        "unresolved": len(steps),
        "params": {},
        "jobs": {},
        "tick": claim.tick,
        "opened_at": claim.started_at,
    }
    return Opening(claim, Execution(claim.run_id, **{**known, **fields}), states, parts, ended)


async def opened(scene: Scene, run: NewRun | None = None, **fields: Any) -> Execution:
    """An execution under way, as it is stored."""
    claim = await scene.start(run or a_run(job_id=ETL))
    assert await scene.storage.executions.open([an_opening(claim, **fields)], at=scene.now) == []
    return await stored(scene, claim.run_id)


async def stored(scene: Scene, run_id: RunId) -> Execution:
    return (await scene.storage.executions.get([run_id]))[run_id]


async def part_of(scene: Scene, execution: Execution, step: str = "extract") -> RunId:
    states = await scene.storage.executions.states(execution.run_id, [step])
    run_id = states[step].run_id
    assert run_id is not None
    return run_id


async def begun(scene: Scene, execution: Execution, step: str = "extract") -> Claim:
    """The lease of a step's run."""
    [claim] = await scene.claim(only=[await part_of(scene, execution, step)])
    return claim


async def unsettled(scene: Scene, limit: int = 100) -> list[Unsettled]:
    return await scene.storage.executions.unsettled(limit, at=scene.now)


async def noted(scene: Scene) -> list[tuple[str | None, Status | None]]:
    """What the notes of all executions say."""
    return [(note.step, note.status) for one in await unsettled(scene) for note in one.notes]


def a_settlement(
    execution: Execution,
    *,
    notes: Iterable[RunId] = (),
    changed: Mapping[str, StepState] | None = None,
    runs: Mapping[str, NewRun] | None = None,
    **fields: Any,
) -> Settlement:
    return Settlement(execution, tuple(notes), changed or {}, runs or {}, **fields)


def the_end(execution: Execution, ended: Ended = DONE, *, steps: Sequence[str] = STEPS) -> Settlement:
    """All steps are resolved."""
    changed = {name: StepState(0, result=Result.SUCCESS) for name in steps}
    return a_settlement(execution, changed=changed, ended=ended)


async def settle(scene: Scene, *settlements: Settlement) -> list[RunId]:
    return await scene.storage.executions.settle(settlements, at=scene.now)
