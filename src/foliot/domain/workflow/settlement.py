"""Builds a settlement of an execution: from notes about ended steps to the changes that are saved.

notes --apply_notes--> resolved steps --advance--> steps to start --blocked?--> resolved (skipped) ...
                                                         |
                                                    build runs, or resolved (failed: a template has no value) ...
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec

from foliot.domain.fanout.spec import ITEMS
from foliot.domain.ids import DefinitionId, IdSource, JobId, RunId
from foliot.domain.instant import LATEST, Instant, later, to_iso
from foliot.domain.job.definition import step_definition_id, tree_definition_id
from foliot.domain.job.job import Options
from foliot.domain.run.outcome import Reason
from foliot.domain.run.payload import decode_payload, encode_payload
from foliot.domain.run.run import Ended, NewRun, Status
from foliot.domain.tree.settlement import Settlement, note_ids
from foliot.domain.tree.tree import Note, Tree
from foliot.domain.workflow import template
from foliot.domain.workflow.conditions import Result, result_of
from foliot.domain.workflow.lookup import Lookup
from foliot.domain.workflow.output import RunOutput, StepOutput
from foliot.domain.workflow.plan import ExecutionBody, Plan, definition_of, job_of
from foliot.domain.workflow.progress import Advance, Resolved, StateRequests, StepState, advance, overall, unrecovered
from foliot.domain.workflow.spec import Step, StepOverlap
from foliot.errors import InvalidInput

STEP_TRIGGER: Final = "workflow"


class StepBlockers(NamedTuple):
    """What may prevent a step from starting, besides its parents."""

    paused: Collection[str] = ()
    """Steps that are paused."""
    paused_jobs: Collection[JobId] = ()
    """Paused jobs that steps name."""
    disabled: Collection[JobId] = ()
    """Disabled jobs that steps name."""
    deleted: Collection[JobId] = ()
    """Deleted jobs that steps name."""
    busy: Collection[JobId] = ()
    """Jobs with a run that has not ended."""


class SettlementBuilder:
    """Collects the changes that follow from resolved steps, until no more follow."""

    def __init__(self, tree: Tree, lookup: Lookup, ids: IdSource, now: Instant) -> None:
        self._tree = tree
        self._plan: Plan = tree.definition
        self._body: ExecutionBody = tree.body
        self._lookup = lookup
        self._ids = ids
        self._now = now
        self.changed: dict[str, StepState] = {}
        self.runs: dict[str, NewRun] = {}
        self._cancels: list[RunId] = []
        self._was_cut_short = tree.is_ending

    # -- resolved steps

    def apply_notes(self, notes: Sequence[Note]) -> None:
        """Resolve the steps whose runs have ended, and end the execution early if it must end."""
        resolved = self._resolved_by(notes)
        if self._must_end:
            resolved = {**self._end_early(resolved), **resolved}
        self.resolve(resolved)

    def resolve(self, resolved: Mapping[str, Resolved]) -> None:
        """Resolve steps, and apply everything that follows."""
        while resolved:
            resolved = self.apply_advance(self._run(advance(self._plan.graph, resolved)))

    def apply_advance(self, advanced: Advance) -> Mapping[str, Resolved]:
        """Start steps. Return the steps that cannot start and are resolved by that."""
        self.changed.update(advanced.changed)
        blockers = self._blockers(advanced.fire)
        reasons = {name: reason for name in advanced.fire if (reason := self._block_reason(name, blockers))}
        blocked = {name: Resolved(Result.SKIPPED, reason=reason) for name, reason in reasons.items()}
        return blocked | self._start([name for name in advanced.fire if name not in blocked])

    def _resolved_by(self, notes: Sequence[Note]) -> dict[str, Resolved]:
        partial = Result.SUCCESS if self._plan.spec.partial_counts_as == "success" else Result.FAILURE
        ended = {
            note.child_key: note
            for note in notes
            if note.child_key is not None and note.child_key in self._plan.steps and note.status is not None
        }
        tested = {name for name in ended if any(edge.test for _, edge in self._plan.graph.children[name])}
        outputs = self._lookup.outputs(tested) if tested else {}
        return {
            name: Resolved(
                result_of(cast(Status, note.status), partial_counts_as=partial),
                outputs[name].run_output if name in outputs else RunOutput(exit_code=note.exit_code),
            )
            for name, note in ended.items()
        }

    @property
    def _must_end(self) -> bool:
        """Whether the execution must end early and this has not been settled yet."""
        return not self._tree.is_ending and self._tree.is_to_end(self._now)

    def _end_early(self, ended: Collection[str]) -> dict[str, Resolved]:
        """Cancel running steps and skip the others, except the final step if the workflow has `final_on_cancel`."""
        states = self._lookup.all_states(self._plan.steps)
        kept = self._plan.graph.final if self._plan.spec.final_on_cancel else None
        pending = {name: state for name, state in states.items() if state.result is None and name not in ended}
        self._was_cut_short = bool(pending)
        self._cancels = [state.run_id for state in pending.values() if state.run_id is not None]
        reason = "cancelled" if self._tree.cancel_at is not None else "timeout"
        return {
            name: Resolved(Result.SKIPPED, reason=reason)
            for name, state in pending.items()
            if state.run_id is None and name != kept
        }

    def _run(self, requests: StateRequests) -> Advance:
        try:
            wanted = next(requests)
            while True:
                wanted = requests.send(self._states(wanted))
        except StopIteration as end:
            return cast(Advance, end.value)

    def _states(self, names: Collection[str]) -> dict[str, StepState]:
        """Return the states with the changes made so far."""
        unchanged = [name for name in names if name not in self.changed]
        stored = self._lookup.states(unchanged)
        return {name: self.changed[name] if name in self.changed else stored[name] for name in names}

    # -- steps to start

    def _blockers(self, fire: Sequence[str]) -> StepBlockers:
        """Return the blockers of these steps. Looks up only what can affect them."""
        steps = [self._plan.steps[name] for name in fire]
        if not steps:
            return StepBlockers()
        workflow_id = self._tree.job_id
        named = {step.job for step in steps if step.job is not None}
        found = self._lookup.jobs(named)
        exclusive = {job_of(step, workflow_id) for step in steps if step.overlap is StepOverlap.SKIP}
        return StepBlockers(
            paused=self._lookup.paused(workflow_id),
            paused_jobs=self._lookup.paused_jobs(named),
            disabled={job_id for job_id, spec in found.items() if not spec.enabled},
            deleted=named - found.keys(),
            busy=self._lookup.busy(exclusive),
        )

    def _block_reason(self, name: str, blockers: StepBlockers) -> str:
        """Return why a step cannot start. Empty: it can."""
        step = self._plan.steps[name]
        if name in blockers.paused:
            return "paused"
        # A job that was created after the execution was opened is not one of its jobs.
        if step.job is not None and (step.job in blockers.deleted or step.job not in self._body.jobs):
            return "removed"
        if step.job is not None and step.job in blockers.disabled:
            return "disabled"
        if step.job is not None and step.job in blockers.paused_jobs:
            return "job_paused"
        is_busy = step.overlap is StepOverlap.SKIP and job_of(step, self._tree.job_id) in blockers.busy
        return "overlap" if is_busy else ""

    def _start(self, names: Sequence[str]) -> dict[str, Resolved]:
        """Make the runs of these steps. Return the steps that failed because a template has no value."""
        sources = self._sources(names)
        failed: dict[str, Resolved] = {}
        for name in names:
            try:
                run = self._new_run(self._plan.steps[name], sources)
            except InvalidInput as error:
                failed[name] = Resolved(Result.FAILURE, reason=error.message[:500])
                continue
            self.runs[name] = run
            [state] = self._states([name]).values()
            self.changed[name] = state._replace(run_id=run.id)
        return failed

    def _new_run(self, step: Step, sources: Mapping[str, Any]) -> NewRun:
        definition = definition_of(step, self._body.jobs)
        payload = template.render(step.payload, sources) if step.payload is not None else definition.payload_template
        overlay = _rendered(step.overlay, sources)
        return NewRun(
            id=RunId(self._ids.make(self._now)),
            job_id=job_of(step, self._tree.job_id),
            due_at=self._due_at(step),
            payload=encode_payload(payload),
            options=_options(step, definition.options),
            overrides=msgspec.json.encode({"spec": overlay}) if overlay else None,
            trigger=STEP_TRIGGER,
            definition_id=self._definition_id(step),
            parent_id=self._tree.run_id,
            root_id=self._tree.root_id,
            child_key=step.name,
            exempt=self._tree.held,
            is_gated=definition.gate is not None,
            scheduled_for=self._tree.planned,
        )

    def _definition_id(self, step: Step) -> DefinitionId:
        tree = self._tree
        if step.job is not None:
            return tree_definition_id(tree.run_id, step.job)
        return step_definition_id(tree.job_id, tree.version, tree.revision, step.name)

    def _due_at(self, step: Step) -> Instant:
        """Return when a step is due. An approval is due when its timeout ends: until then it waits for an answer."""
        if step.approval is None:
            return self._now
        return LATEST if step.approval.timeout is None else later(self._now, step.approval.timeout)

    def _sources(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Return the data that templates of these steps may refer to."""
        tree = self._tree
        named = {
            reference.name
            for name in names
            for _, reference in template.references((self._plan.steps[name].payload, self._plan.steps[name].overlay))
            if reference is not None and reference.source == "steps" and reference.name in self._plan.steps
        }
        outputs = self._lookup.outputs(named) if named else {}
        return {
            "params": self._body.params,
            "steps": {name: self._step_source(name, output) for name, output in outputs.items()},
            "execution": {
                "id": tree.run_id,
                "workflow": tree.job_id,
                "version": tree.version,
                "scheduled_for": None if tree.planned is None else to_iso(tree.planned),
            },
        }

    def _step_source(self, name: str, output: StepOutput) -> dict[str, Any]:
        """Return the data of a step for templates. The result of a step that has just resolved is not stored yet."""
        state = self.changed.get(name)
        return {
            "output": decode_payload(output.run_output.output),
            "result": output.result if state is None or state.result is None else state.result,
            "exit_code": output.run_output.exit_code,
            "run_id": output.run_id,
        }

    # -- the settlement

    @property
    def open(self) -> int:
        return self._tree.open - sum(state.result is not None for state in self.changed.values())

    def settlement(self, notes: Sequence[Note]) -> Settlement:
        tree = self._tree._replace(open=self.open, is_ending=self._tree.is_ending or self._must_end)
        runs = tuple(self.runs.values())
        return Settlement(tree, note_ids(notes), runs, self.changed, tuple(self._cancels), self.ended())

    def ended(self) -> Ended | None:
        """Return how the execution has ended, or None while steps are unresolved."""
        if self.open:
            return None
        if self._tree.cancel_at is not None:
            return Ended(Status.CANCELLED, Reason.CANCELLED)
        if self._was_cut_short:
            return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the execution took longer than its timeout")
        states = self._lookup.all_states([name for name in self._plan.steps if name not in self.changed])
        final = {name: self.changed.get(name) or states[name] for name in self._plan.steps}
        status = overall(self._plan.graph, final)
        if status is not Status.FAILED:
            return Ended(status)
        failed = unrecovered(self._plan.graph, final)
        steps = f"{'step' if len(failed) == 1 else 'steps'} {', '.join(failed[:20])}"
        return Ended(status, Reason.STEP_FAILED, f"{steps} did not succeed")


def _rendered(overlay: Mapping[str, Any], sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with their templates replaced. The items of a fanout keep their type, all others are text."""
    return {
        name: template.render(value, sources) if name == ITEMS else template.render_texts(value, sources)
        for name, value in overlay.items()
    }


def _options(step: Step, options: Options) -> Options:
    if step.overlap is StepOverlap.ALLOW:
        return options
    return msgspec.structs.replace(options, max_concurrent=1)
