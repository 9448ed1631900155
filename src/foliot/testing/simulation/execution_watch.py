"""Checks invariants of executions after every step, with its own table of conditions and no code of the resolver.

Only changes are checked: executions whose state number has risen, and ended runs of steps that are not settled yet.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from foliot.domain.events import Event, EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import LATEST
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.conditions import Condition, Result
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.ports.storage import Storage
from foliot.testing.invariants import Violation

Parents = Mapping[str, Sequence[tuple[str, frozenset[Condition]]]]

_LIMIT: Final = 10_000
_MEETS: Final = {
    *(("success", "success"), ("failure", "failure"), ("skipped", "skipped")),
    *(("success", "complete"), ("failure", "complete"), ("skipped", "complete")),
}
"""Each result with a condition that it meets."""
_RESULTS: Final = {Status.SUCCESS: "success", Status.PARTIAL: "success", Status.SKIPPED: "skipped"}
"""The result of a step by the status of its run; all others are failures."""
_SKIP_REASONS: Final = ("cancelled", "timeout")
"""The reasons for which a step is skipped whatever the results of its parents are."""


class ExecutionWatch:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._open: dict[RunId, Execution | None] = {}
        """Open executions as they were in the last check."""
        self._over: dict[RunId, str] = {}
        self._versions: dict[RunId, tuple[str, int]] = {}
        self._parents: dict[tuple[str, int], Parents] = {}
        self._steps: dict[tuple[RunId, str], StepRecord] = {}
        self._runs: dict[tuple[RunId, str], RunId] = {}
        self._unsettled: dict[RunId, tuple[RunId, str]] = {}
        """Ended runs of steps that have no result yet."""

    # -- events

    def on_event(self, event: Event) -> None:
        for run_id, workflow_id, what in event.items:
            if event.kind is EventKind.EXECUTIONS_OPENED:
                self._on_opened(RunId(run_id), workflow_id, what)
            else:
                self._on_ended(RunId(run_id), what)

    def _on_opened(self, run_id: RunId, workflow_id: str, version: int) -> None:
        if run_id in self._versions:
            raise Violation(f"D6 execution {run_id} was opened twice")
        self._open[run_id] = None
        self._versions[run_id] = (workflow_id, version)

    def _on_ended(self, run_id: RunId, status: str) -> None:
        if run_id in self._over:
            raise Violation(f"D5 execution {run_id} ended as {self._over[run_id]}, and then as {status}")
        if run_id not in self._open:
            raise Violation(f"D5 execution {run_id} ended and was never opened")
        self._over[run_id] = status

    def on_new_run(self, run: Run) -> None:
        """Check a new run."""
        if run.parent_id is None or run.child_key is None:
            return
        place = (run.parent_id, run.child_key)
        if place in self._runs:
            raise Violation(f"D6 step {run.child_key} of {run.parent_id} has the runs {self._runs[place]} and {run.id}")
        if run.parent_id not in self._versions or run.job_id != f"{self._versions[run.parent_id][0]}.{run.child_key}":
            raise Violation(f"D9 run {run.id} of {run.job_id} says that it is {run.child_key} of {run.parent_id}")
        self._runs[place] = run.id

    def on_run_ended(self, run: Run) -> None:
        if run.parent_id is not None and run.child_key is not None:
            self._unsettled[run.id] = (run.parent_id, run.child_key)
        output: dict[str, Any] | None = run.output
        if output is None or "execution" not in output:
            return  # the output of a fanout is its summary
        execution = output["execution"]
        if execution is not None and (execution != run.parent_id or output["payload"] != {"execution": execution}):
            raise Violation(f"D9 run {run.id} of {run.parent_id} has the output {run.output}")
        if execution is None and run.parent_id is not None:
            raise Violation(f"D9 run {run.id} of {run.parent_id} was not given its execution")

    # -- states

    async def check(self) -> None:
        executions = await self._storage.queries.get_executions(list(self._open))
        for run_id in list(self._open):
            await self._check_execution(executions[run_id], self._open[run_id])
            self._open[run_id] = executions[run_id]
            if run_id in self._over:
                del self._open[run_id]
        await self._check_notes()

    async def _check_execution(self, now: Execution, before: Execution | None) -> None:
        if before is not None and now.state == before.state:
            return
        if (now.workflow_id, now.version) != self._versions[now.run_id]:
            raise Violation(f"D7 execution {now.run_id} began with {self._versions[now.run_id]}, and is one of {now}")
        if before is not None and now.state < before.state:
            raise Violation(f"D6 execution {now.run_id}: state {now.state} after {before.state}")
        steps = {step.name: step for step in await self._storage.trees.steps(now.run_id)}
        parents = await self._parents_in(now)
        if steps.keys() != parents.keys():
            raise Violation(f"D7 execution {now.run_id}: the steps {sorted(steps)} of {sorted(parents)}")
        for step in steps.values():
            self._check_moves(now, step)
            for fault in faults_of(step, parents[step.name], steps):
                raise Violation(f"{fault[0]} execution {now.run_id}: {step.name} {fault[1]}: {step}")
        self._check_count(now, steps.values())

    def _check_moves(self, execution: Execution, step: StepRecord) -> None:
        """Check that a step keeps its result and its run."""
        place = (execution.run_id, step.name)
        before, self._steps[place] = self._steps.get(place), step
        run_id, result = step.state.run_id, step.state.result
        if before is not None and before.state.result not in (None, result):
            raise Violation(f"D2 execution {execution.run_id}: {step.name} was {before.state.result} and is {result}")
        if before is not None and before.state.run_id not in (None, run_id):
            raise Violation(f"D6 execution {execution.run_id}: {step.name} was {before.state.run_id} and is {run_id}")
        if run_id != self._runs.get(place):
            raise Violation(f"D6 execution {execution.run_id}: {step.name} is {run_id}, not {self._runs.get(place)}")
        if result is not None and run_id is not None:
            self._unsettled.pop(run_id, None)

    def _check_count(self, execution: Execution, steps: Iterable[StepRecord]) -> None:
        pending = [step.name for step in steps if step.state.result is None]
        if execution.unresolved != len(pending):
            raise Violation(f"D2 execution {execution.run_id}: {execution.unresolved} unresolved, not {pending}")
        if (execution.run_id in self._over) != (not pending):
            raise Violation(f"D5 execution {execution.run_id}: {self._over.get(execution.run_id)}, and open: {pending}")

    async def _check_notes(self) -> None:
        """Check that the end of each step run is noted."""
        if self._unsettled:
            unsettled = await self._storage.trees.unsettled(_LIMIT, notes_per_tree=_LIMIT, at=LATEST)
            noted = {note.run_id for one in unsettled.trees for note in one.notes.items}
            for run_id, (parent, step) in self._unsettled.items():
                if run_id not in noted:
                    raise Violation(f"D6 execution {parent}: run {run_id} of {step} ended without a note")

    async def _parents_in(self, execution: Execution) -> Parents:
        version = self._versions[execution.run_id]
        if version not in self._parents:
            self._parents[version] = parents_in(
                (await self._storage.definitions.get_workflows([version]))[version].spec
            )
        return self._parents[version]


def parents_in(spec: WorkflowSpec) -> Parents:
    """Return the parents of each step with the accepted conditions. The final step follows all others."""
    others = [(step.name, frozenset({Condition.COMPLETE})) for step in spec.steps if not step.is_final]

    def edges(step: Step) -> list[tuple[str, frozenset[Condition]]]:
        return others if step.is_final else [(edge.parent, edge.when) for edge in step.after]

    return {step.name: edges(step) for step in spec.steps}


def faults_of(
    step: StepRecord, parents: Sequence[tuple[str, frozenset[Condition]]], steps: Mapping[str, StepRecord]
) -> Iterable[tuple[str, str]]:
    """Return what is wrong with one step, given its parents, each with the id of the invariant."""
    _, _, result, run_id, reason = step.state
    results = {name: steps[name].state.result for name, _ in parents}
    is_decided = None not in results.values()
    may_run = is_decided and all(_is_met(results[name], when) for name, when in parents)
    if run_id is not None and not may_run:
        yield "D3", f"has a run, and the results of its parents are {results}"
    if run_id is None and result is None and is_decided:
        yield "D6", f"was not started: the results of its parents are {results}"
    if run_id is not None and result is not None and result != _RESULTS.get(step.status or Status.FAILED, "failure"):
        yield "D2", "has another result than its run"
    if run_id is not None and result is not None and not (step.status and step.status.is_terminal):
        yield "D2", "has a result before its run has ended"
    if run_id is None and result is Result.SUCCESS:
        yield "D2", "succeeded without a run"
    if (
        run_id is None
        and result is Result.SKIPPED
        and reason not in _SKIP_REASONS
        and (not is_decided or may_run == (not reason))
    ):
        yield "D3", f"was skipped, and the results of its parents are {results}"


def _is_met(result: Result | None, when: frozenset[Condition]) -> bool:
    return any((result, condition) in _MEETS for condition in when)
