"""One settling of one execution, from notes to what is saved. It decides and never asks the world: whoever leads it
through (the settler) answers its questions and brings the facts.

    notes --resolved--> news --advance--> fire --hold back--> news (skipped) ...
                                            |
                                          start --render--> runs, or news (failed) ...
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import LATEST, Instant, later, to_iso
from foliot.domain.job import DEFAULT_PROJECT, Job, JobSpec, Options
from foliot.domain.outcome import Reason
from foliot.domain.payload import decode_payload, encode_payload
from foliot.domain.run import Ended, NewRun, Status
from foliot.domain.workflow import template
from foliot.domain.workflow.checking import step_job_id
from foliot.domain.workflow.conditions import Result, result_of
from foliot.domain.workflow.execution import Execution, Note, Settlement, StepFacts
from foliot.domain.workflow.graph import Graph, graph_of
from foliot.domain.workflow.progress import Advance, Resolved, StepState, overall
from foliot.domain.workflow.spec import Step, StepOverlap, WorkflowSpec
from foliot.errors import InvalidInput

STEP_TRIGGER: Final = "workflow"
APPROVAL_KIND: Final = "approval"
_NO_FACTS: Final[Mapping[str, StepFacts]] = {}


class Plan(NamedTuple):
    """A version of a workflow with its graph."""

    spec: WorkflowSpec
    graph: Graph
    steps: Mapping[str, Step]

    @classmethod
    def of(cls, spec: WorkflowSpec) -> "Plan":
        return cls(spec, graph_of(spec.steps), {step.name: step for step in spec.steps})


class Surroundings(NamedTuple):
    """What an execution cannot know by itself."""

    paused: Collection[str] = ()
    """Steps that people have paused."""
    disabled: Collection[JobId] = ()
    gone: Collection[JobId] = ()
    """Jobs that steps name and that are switched off, or no longer there."""
    busy: Collection[JobId] = ()
    """Jobs with a run that is not over."""


class Passage:
    """Gathers what follows until nothing more does."""

    def __init__(self, plan: Plan, execution: Execution, make_id: Callable[[], RunId], now: Instant) -> None:
        self._plan = plan
        self._execution = execution
        self._make_id = make_id
        self.now = now
        self.changed: dict[str, StepState] = {}
        self.runs: dict[str, NewRun] = {}
        self.cancels: list[RunId] = []
        self._fired: list[str] = []
        self._was_cut_short = execution.is_ending

    @property
    def unresolved(self) -> int:
        resolved = sum(state.result is not None for state in self.changed.values())
        return self._execution.unresolved - resolved

    # -- what has happened

    def heard(self, notes: Sequence[Note]) -> dict[str, Resolved]:
        """Steps whose runs have ended."""
        partial = Result.SUCCESS if self._plan.spec.partial_counts_as == "success" else Result.FAILURE
        return {
            note.step: Resolved(result_of(note.status, partial_counts_as=partial), note.facts)
            for note in notes
            if note.step is not None and note.status is not None
        }

    @property
    def must_end(self) -> bool:
        """Whether the execution is to be ended early and nobody has done so yet."""
        return not self._execution.is_ending and (self._execution.cancel_at is not None or self._is_overdue)

    def end_early(self, states: Mapping[str, StepState], heard: Collection[str]) -> dict[str, Resolved]:
        """Cancel what is under way; what has not begun is skipped, except, if asked for, the final step.

        `states` are those of all steps; the steps in `heard` have ended and are not to be cancelled any more.
        """
        kept = self._plan.graph.final if self._plan.spec.final_on_cancel else None
        pending = {name: state for name, state in states.items() if state.result is None and name not in heard}
        self._was_cut_short = bool(pending)
        self.cancels = [state.run_id for state in pending.values() if state.run_id is not None]
        reason = "cancelled" if self._execution.cancel_at is not None else "timeout"
        return {
            name: Resolved(Result.SKIPPED, reason=reason)
            for name, state in pending.items()
            if state.run_id is None and name != kept
        }

    def follow(self, followed: Advance, around: Surroundings) -> dict[str, Resolved]:
        """Take what follows. Steps that cannot start now are resolved at once and come back."""
        self.changed.update(followed.changed)
        held = {name: reason for name in followed.fire if (reason := self._held_back(name, around))}
        self._fired += [name for name in followed.fire if name not in held]
        return {name: Resolved(Result.SKIPPED, reason=reason) for name, reason in held.items()}

    # -- what is to be started

    @property
    def wanted_facts(self) -> set[str]:
        """Steps that templates of steps to be started name."""
        return {
            reference.name
            for name in self._fired
            for _, reference in template.references((self._plan.steps[name].payload, self._plan.steps[name].overlay))
            if reference is not None and reference.source == "steps"
        }

    def start(self, facts: Mapping[str, StepFacts] = _NO_FACTS) -> dict[str, Resolved]:
        """Make the runs of steps that fire. One whose templates lead nowhere has failed and comes back."""
        sources = self._sources(facts)
        failed: dict[str, Resolved] = {}
        for name in self._fired:
            try:
                run = self._run(self._plan.steps[name], sources)
            except InvalidInput as error:
                failed[name] = Resolved(Result.FAILURE, reason=error.message[:500])
                continue
            self.runs[name] = run
            state = self.changed.get(name, StepState(0))
            self.changed[name] = state._replace(run_id=run.id)
        self._fired = []
        return failed

    # -- what is saved

    def settlement(self, notes: Sequence[Note], ended: Ended | None) -> Settlement:
        execution = self._execution._replace(is_ending=self._execution.is_ending or self.must_end)
        read = tuple(note.run_id for note in notes)
        return Settlement(execution, read, self.changed, self.runs, tuple(self.cancels), ended)

    def ending(self, states: Mapping[str, StepState]) -> Ended:
        """How the execution has ended. `states` are those of all its steps, as they were before this passage."""
        if self._execution.cancel_at is not None:
            return Ended(Status.CANCELLED, Reason.CANCELLED)
        if self._was_cut_short:
            return Ended(Status.TIMEOUT, Reason.TIMEOUT, "the execution took longer than its timeout")
        now = {**states, **self.changed}
        status = overall(self._plan.graph, now)
        if status is not Status.FAILED:
            return Ended(status)
        failed = [name for name, state in now.items() if state.result is Result.FAILURE]
        return Ended(status, Reason.STEP_FAILED, f"failed: {', '.join(failed[:20])}")

    # -- details

    @property
    def _is_overdue(self) -> bool:
        return self._execution.deadline is not None and self.now >= self._execution.deadline

    def _held_back(self, name: str, around: Surroundings) -> str:
        """Why a step that could start does not; nothing when it does."""
        step = self._plan.steps[name]
        if name in around.paused:
            return "paused"
        # One that came after the execution had begun is none of its jobs.
        if step.job is not None and (step.job in around.gone or step.job not in self._execution.jobs):
            return "removed"
        if step.job is not None and step.job in around.disabled:
            return "disabled"
        is_busy = step.overlap is StepOverlap.SKIP and job_of(step, self._execution.workflow_id) in around.busy
        return "overlap" if is_busy else ""

    def _run(self, step: Step, sources: Mapping[str, Any]) -> NewRun:
        definition = definition_of(step, self._execution.jobs)
        payload = template.render(step.payload, sources) if step.payload is not None else definition.payload_template
        overlay = template.render_texts(step.overlay, sources)
        return NewRun(
            id=self._make_id(),
            job_id=job_of(step, self._execution.workflow_id),
            due_at=self._due_at(step),
            payload=encode_payload(payload),
            options=_options(step, definition.options),
            overrides=msgspec.json.encode({"spec": overlay}) if overlay else None,
            trigger=STEP_TRIGGER,
            root=self._execution.run_id,
            role="step",
            item=step.name,
            is_gated=definition.gate is not None,
            scheduled_for=self._execution.planned,
        )

    def _due_at(self, step: Step) -> Instant:
        """A question to a person is due when its time is up: until then it only waits."""
        if step.approval is None:
            return self.now
        return LATEST if step.approval.timeout is None else later(self.now, step.approval.timeout)

    def _sources(self, facts: Mapping[str, StepFacts]) -> Mapping[str, Any]:
        execution = self._execution
        return {
            "params": execution.params,
            "steps": {name: self._step_source(name, known) for name, known in facts.items()},
            "execution": {
                "id": execution.run_id,
                "workflow": execution.workflow_id,
                "version": execution.version,
                "scheduled_for": None if execution.planned is None else to_iso(execution.planned),
            },
        }

    def _step_source(self, name: str, known: StepFacts) -> dict[str, Any]:
        """A step that has resolved just now has its result here and not in what was read."""
        state = self.changed.get(name)
        return {
            "output": decode_payload(known.facts.output),
            "result": known.result if state is None or state.result is None else state.result,
            "exit_code": known.facts.exit_code,
            "run_id": known.run_id,
        }


def job_of(step: Step, workflow_id: str) -> JobId:
    """The job under whose name a step runs."""
    return step.job or step_job_id(workflow_id, step.name)


def definition_of(step: Step, jobs: Mapping[JobId, JobSpec]) -> JobSpec:
    """What a step does: its own definition, that of the job it names, or a question."""
    if step.definition is not None:
        return step.definition
    if step.approval is not None:
        return JobSpec(kind=APPROVAL_KIND, spec={"default": step.approval.default})
    return jobs[step.job or JobId("")]


def known_definition(plan: Plan, name: str, jobs: Mapping[JobId, JobSpec]) -> JobSpec | None:
    """The same for a step by its name. None: the version has none of that name, or the job it names was gone."""
    step = plan.steps.get(name)
    if step is None or (step.job is not None and step.job not in jobs):
        return None
    return definition_of(step, jobs)


def step_as_job(plan: Plan, execution: Execution, name: str, job_id: JobId) -> Job | None:
    """What a step does, as the job under whose name it runs: as its version says, and as old as its execution."""
    spec = known_definition(plan, name, execution.jobs)
    if spec is None:
        return None
    return Job(
        id=job_id,
        project=DEFAULT_PROJECT,
        spec=spec,
        revision=execution.version,
        created_at=execution.opened_at,
        updated_at=execution.opened_at,
    )


def _options(step: Step, options: Options) -> Options:
    if step.overlap is StepOverlap.ALLOW:
        return options
    return msgspec.structs.replace(options, max_concurrent=1)
