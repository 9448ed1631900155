"""Checks executions against the results of a slow reference implementation."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from foliot.domain.ids import RunId
from foliot.domain.run.run import Run
from foliot.domain.workflow.conditions import Result
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.testing.invariants import read_histories
from foliot.testing.simulation.execution_watch import parents_in
from tests.scenarios.crash.graphs import Script, draw_scripts
from tests.scenarios.crash.stage import Stage


async def graph_faults(stage: Stage, seed: int, tags: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the executions of these graphs; `tags` are the parameters of the started ones."""
    scripts = draw_scripts(seed)
    histories = [history async for history in read_histories(stage.storage)]
    begun = {run.id: attempts[0].started_at for run, attempts in histories if attempts}
    runs = [run for run, _ in histories]
    faults: list[str] = []
    for execution in [run for run in runs if run.job_id in scripts]:
        script, tag = scripts[execution.job_id], tags.get(execution.id, "")
        parts = [run for run in runs if run.parent_id == execution.id]
        found = {step.name: step.state.result for step in await stage.storage.trees.steps(execution.id)}
        faults += _wrong_table(execution, script, found)
        faults += _wrong_runs(execution, script, parts)
        faults += _mixed(execution, tag, parts)
        faults += _too_early(script, parts, begun)
    return faults


def _wrong_table(execution: Run, script: Script, found: Mapping[str, Result | None]) -> Iterator[str]:
    if found != script.results:
        yield f"D6 execution {execution.id} of {execution.job_id}: {found}, not {script.results}"
    if execution.status is not script.status:
        yield f"D5 execution {execution.id} of {execution.job_id}: {execution.status}, not {script.status}"


def _wrong_runs(execution: Run, script: Script, parts: Sequence[Run]) -> Iterator[str]:
    """Check that each step has one run, whatever processes were killed."""
    expected = Counter(name for name, result in script.results.items() if result is not Result.SKIPPED)
    found = Counter(run.child_key or "" for run in parts)
    if found != expected:
        yield f"D6 execution {execution.id} of {execution.job_id}: runs {found}, not {expected}"


def _mixed(execution: Run, tag: str, parts: Sequence[Run]) -> Iterator[str]:
    for run in parts:
        if (
            run.payload != {"tag": tag, "execution": execution.id}
            or run.job_id != f"{execution.job_id}.{run.child_key}"
        ):
            yield f"D9 run {run.id}: {run.job_id} with {run.payload} in {execution.id} of {execution.job_id}"


def _too_early(script: Script, parts: Sequence[Run], begun: Mapping[RunId, int]) -> Iterator[str]:
    parents = parents_in(WorkflowSpec(steps=script.steps))
    finished = {run.child_key: run.finished_at for run in parts}
    for run in parts:
        ends = [finished.get(parent) or 0 for parent, _ in parents[run.child_key or ""]]
        if begun[run.id] < max(ends, default=0):
            yield f"D4 run {run.id}: {run.child_key} began before a step that it waits for had ended"
