"""What must hold of executions after every single step. It knows the table of conditions, and nothing of the resolver.

Only what moved is looked at: executions whose state number has risen, and runs of steps that nobody has settled yet.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from foliot.domain.events import Event, EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import LATEST
from foliot.domain.run.run import Run, Status
from foliot.domain.workflow.conditions import Condition, Result
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.domain.workflow.spec import Step, WorkflowSpec
from foliot.ports.storage import Storage
from foliot.testing.simulation.broken import Broken

Parents = Mapping[str, Sequence[tuple[str, frozenset[Condition]]]]

_LIMIT: Final = 10_000
_MEETS: Final = {
    *(("success", "success"), ("failure", "failure"), ("skipped", "skipped")),
    *(("success", "complete"), ("failure", "complete"), ("skipped", "complete")),
}
"""Results with the conditions that they meet."""
_RESULTS: Final = {Status.SUCCESS: "success", Status.PARTIAL: "success", Status.SKIPPED: "skipped"}
"""What the end of a run comes to; all others are failures."""
_CUT_SHORT: Final = ("cancelled", "timeout")
"""Why a step is skipped whatever its parents have come to."""


class ExecutionWatch:
    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._open: dict[RunId, Execution | None] = {}
        """As they were when they were last looked at."""
        self._over: dict[RunId, str] = {}
        self._versions: dict[RunId, tuple[str, int]] = {}
        self._parents: dict[tuple[str, int], Parents] = {}
        self._steps: dict[tuple[RunId, str], StepRecord] = {}
        self._runs: dict[tuple[RunId, str], RunId] = {}
        self._unsettled: dict[RunId, tuple[RunId, str]] = {}
        """Runs of steps that have ended, while their steps have no result."""

    # -- what is heard

    def hear(self, event: Event) -> None:
        for run_id, workflow_id, what in event.items:
            if event.kind is EventKind.EXECUTIONS_OPENED:
                self._hear_opened(RunId(run_id), workflow_id, what)
            else:
                self._hear_ended(RunId(run_id), what)

    def _hear_opened(self, run_id: RunId, workflow_id: str, version: int) -> None:
        if run_id in self._versions:
            raise Broken(f"D6 execution {run_id} was opened twice")
        self._open[run_id] = None
        self._versions[run_id] = (workflow_id, version)

    def _hear_ended(self, run_id: RunId, status: str) -> None:
        if run_id in self._over:
            raise Broken(f"D5 execution {run_id} ended as {self._over[run_id]}, and then as {status}")
        if run_id not in self._open:
            raise Broken(f"D5 execution {run_id} ended and was never opened")
        self._over[run_id] = status

    def hear_run(self, run: Run) -> None:
        """A run that is new."""
        if run.parent_id is None or run.child_key is None:
            return
        place = (run.parent_id, run.child_key)
        if place in self._runs:
            raise Broken(f"D6 step {run.child_key} of {run.parent_id} has the runs {self._runs[place]} and {run.id}")
        if run.parent_id not in self._versions or run.job_id != f"{self._versions[run.parent_id][0]}.{run.child_key}":
            raise Broken(f"D9 run {run.id} of {run.job_id} says that it is {run.child_key} of {run.parent_id}")
        self._runs[place] = run.id

    def hear_end_of_run(self, run: Run) -> None:
        if run.parent_id is not None and run.child_key is not None:
            self._unsettled[run.id] = (run.parent_id, run.child_key)
        said = None if run.output is None else run.output["execution"]
        if said is not None and (said != run.parent_id or run.output["told"] != {"execution": said}):
            raise Broken(f"D9 run {run.id} of {run.parent_id} has the output {run.output}")
        if run.output is not None and said is None and run.parent_id is not None:
            raise Broken(f"D9 run {run.id} of {run.parent_id} did not know where it belongs")

    # -- what is seen

    async def look(self) -> None:
        executions = await self._storage.queries.get_executions(list(self._open))
        for run_id in list(self._open):
            await self._look_at(executions[run_id], self._open[run_id])
            self._open[run_id] = executions[run_id]
            if run_id in self._over:
                del self._open[run_id]
        await self._check_notes()

    async def _look_at(self, now: Execution, before: Execution | None) -> None:
        if before is not None and now.state == before.state:
            return
        if (now.workflow_id, now.version) != self._versions[now.run_id]:
            raise Broken(f"D7 execution {now.run_id} began with {self._versions[now.run_id]}, and is one of {now}")
        if before is not None and now.state < before.state:
            raise Broken(f"D6 execution {now.run_id}: state {now.state} after {before.state}")
        steps = {step.name: step for step in await self._storage.trees.steps(now.run_id)}
        parents = await self._parents_in(now)
        if steps.keys() != parents.keys():
            raise Broken(f"D7 execution {now.run_id}: the steps {sorted(steps)} of {sorted(parents)}")
        for step in steps.values():
            self._check_moves(now, step)
            for fault in faults_of(step, parents[step.name], steps):
                raise Broken(f"{fault[0]} execution {now.run_id}: {step.name} {fault[1]}: {step}")
        self._check_count(now, steps.values())

    def _check_moves(self, execution: Execution, step: StepRecord) -> None:
        """A result stays, and so does a run."""
        place = (execution.run_id, step.name)
        before, self._steps[place] = self._steps.get(place), step
        run_id, result = step.state.run_id, step.state.result
        if before is not None and before.state.result not in (None, result):
            raise Broken(f"D2 execution {execution.run_id}: {step.name} was {before.state.result} and is {result}")
        if before is not None and before.state.run_id not in (None, run_id):
            raise Broken(f"D6 execution {execution.run_id}: {step.name} was {before.state.run_id} and is {run_id}")
        if run_id != self._runs.get(place):
            raise Broken(f"D6 execution {execution.run_id}: {step.name} is {run_id}, not {self._runs.get(place)}")
        if result is not None and run_id is not None:
            self._unsettled.pop(run_id, None)

    def _check_count(self, execution: Execution, steps: Iterable[StepRecord]) -> None:
        pending = [step.name for step in steps if step.state.result is None]
        if execution.unresolved != len(pending):
            raise Broken(f"D2 execution {execution.run_id}: {execution.unresolved} unresolved, not {pending}")
        if (execution.run_id in self._over) != (not pending):
            raise Broken(f"D5 execution {execution.run_id}: {self._over.get(execution.run_id)}, and open: {pending}")

    async def _check_notes(self) -> None:
        """Whoever ended a step has left a note of it."""
        if self._unsettled:
            unsettled = await self._storage.trees.unsettled(_LIMIT, notes_per_tree=_LIMIT, at=LATEST)
            noted = {note.run_id for one in unsettled.trees for note in one.notes.items}
            for run_id, (parent, step) in self._unsettled.items():
                if run_id not in noted:
                    raise Broken(f"D6 execution {parent}: run {run_id} of {step} ended, and nobody will hear of it")

    async def _parents_in(self, execution: Execution) -> Parents:
        version = self._versions[execution.run_id]
        if version not in self._parents:
            self._parents[version] = parents_in(
                (await self._storage.definitions.get_workflows([version]))[version].spec
            )
        return self._parents[version]


def parents_in(spec: WorkflowSpec) -> Parents:
    """What each step waits for: the final one for all others, whatever they come to."""
    others = [(step.name, frozenset({Condition.COMPLETE})) for step in spec.steps if not step.is_final]

    def edges(step: Step) -> list[tuple[str, frozenset[Condition]]]:
        return others if step.is_final else [(edge.parent, edge.when) for edge in step.after]

    return {step.name: edges(step) for step in spec.steps}


def faults_of(
    step: StepRecord, parents: Sequence[tuple[str, frozenset[Condition]]], steps: Mapping[str, StepRecord]
) -> Iterable[tuple[str, str]]:
    """What is wrong with one step beside its parents, each with the id of the invariant."""
    _, _, result, run_id, reason = step.state
    results = {name: steps[name].state.result for name, _ in parents}
    is_decided = None not in results.values()
    may_run = is_decided and all(_is_met(results[name], when) for name, when in parents)
    if run_id is not None and not may_run:
        yield "D3", f"has a run, and its parents came to {results}"
    if run_id is None and result is None and is_decided:
        yield "D6", f"was forgotten: its parents came to {results}"
    if run_id is not None and result is not None and result != _RESULTS.get(step.status or Status.FAILED, "failure"):
        yield "D2", "has another result than its run"
    if run_id is not None and result is not None and not (step.status and step.status.is_terminal):
        yield "D2", "has a result before its run has ended"
    if run_id is None and result is Result.SUCCESS:
        yield "D2", "succeeded without a run"
    if (
        run_id is None
        and result is Result.SKIPPED
        and reason not in _CUT_SHORT
        and (not is_decided or may_run == (not reason))
    ):
        yield "D3", f"was skipped, and its parents came to {results}"


def _is_met(result: Result | None, when: frozenset[Condition]) -> bool:
    return any((result, condition) in _MEETS for condition in when)
