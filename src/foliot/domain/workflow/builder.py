"""A workflow as Python code.

    etl = Workflow("etl", params={"day": None})
    etl.step("extract", shell="./extract.sh")
    etl.step("load", load, payload={"day": "{{ params.day }}"}).after("extract")
    etl.step("cleanup", shell="./cleanup.sh").final()

Graph, templates and definitions are checked when the workflow is registered, all at once; here each step is read by the
table of options.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, Unpack

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.input.job import checked_overlay, job_options, read_gate
from foliot.domain.input.keywords import Keywords, read_keywords
from foliot.domain.input.step import read_approval, read_test
from foliot.domain.input.typed import RunOptions, StepOptions
from foliot.domain.input.words import flag, text
from foliot.domain.job.job import JobSpec, Options, overlay
from foliot.domain.job.kinds.http import read_command
from foliot.domain.vocabulary.field import only
from foliot.domain.vocabulary.job import PARTIAL
from foliot.domain.vocabulary.places import STEP_CALL, STEP_KINDS, STEP_SPEC
from foliot.domain.vocabulary.readers import read_named, word_of
from foliot.domain.workflow.conditions import TRIGGER_RULES, Condition, Conditions
from foliot.domain.workflow.jobs import step_job_id
from foliot.domain.workflow.spec import Approval, Edge, Step, StepOverlap, WorkflowSpec
from foliot.errors import InvalidJob, suggest

_SPEC: Final = only(STEP_CALL, *STEP_SPEC)
_OVERLAP: Final = word_of(StepOverlap)


class Workflow:
    """A workflow declared in Python: its steps, and what each step waits for."""

    def __init__(
        self,
        id: str,  # noqa: A002 - the word that every other thing with an id uses
        *,
        description: str = "",
        params: Mapping[str, Any] | None = None,
        partial_counts_as: Literal["success", "failed"] = "success",
        final_on_cancel: bool = False,
        **options: Unpack[RunOptions],
    ) -> None:
        self.id = text(id, "id")
        self.functions: dict[str, Callable[..., Any]] = {}
        """Functions that are steps, by the name they are called under."""
        self._steps: list[Step] = []
        self._head = WorkflowSpec(
            steps=(),
            description=description,
            params=_params(params),
            options=overlay(Options(), job_options(**options)),
            partial_counts_as=read_named(PARTIAL.read, partial_counts_as, PARTIAL.name, InvalidJob),
            final_on_cancel=final_on_cancel,
            source="app",
        )

    @property
    def spec(self) -> WorkflowSpec:
        return replace(self._head, steps=tuple(self._steps))

    def step(
        self,
        name: str,
        function: Callable[..., Any] | None = None,
        *,
        job: str | None = None,
        workflow: str | None = None,
        params: Mapping[str, Any] | None = None,
        approve: Approval | Mapping[str, Any] | bool = False,
        payload: Any = None,
        overlap: Literal["allow", "skip", "queue"] = "allow",
        recovers: bool = False,
        **options: Unpack[StepOptions],
    ) -> "StepBuilder":
        """Add a step: a function, a job that exists (`job=`), a workflow that exists (`workflow=`, with `params=`), a
        question to a person (`approve=`), or a job of its own: `shell=`, `argv=`, `call="module:function"`, `http=` or
        `agent=`.

        A step that is a job of its own has the options of a job, also those of a gate (`depends_on`). A step that names
        a job may give `env`, `stdin`, `headers` and `body` anew. `approve={"timeout": "1h", "default": "approve"}` says
        what happens without an answer in time. With `recovers`, its success makes up for the failure of the steps that
        it comes after by failure or complete.
        """
        asked = read_approval(approve)
        if workflow is not None:
            is_alone = function is None and job is None and asked is None
            return self._subworkflow(name, workflow, params, is_alone, options)
        if function is not None and (job is not None or asked is not None):
            raise _surplus(name, ["a function"])
        work = read_keywords(STEP_CALL, options)
        is_own = job is None and asked is None
        allowed = {field.name for field in _SPEC} if job is not None else set()
        if not is_own and work.keys() - allowed:
            raise _surplus(name, (work.written[key] for key in work if key not in allowed))
        self._steps.append(
            Step(
                name=text(name, "name"),
                job=None if job is None else JobId(text(job, "job")),
                definition=self._definition(name, function, work) if is_own else None,
                approval=asked,
                payload=payload,
                overlap=read_named(_OVERLAP, overlap, "overlap", InvalidJob),
                recovers=flag(recovers, "recovers"),
                spec={} if is_own else work.fill(_SPEC),
            )
        )
        return StepBuilder(self, len(self._steps) - 1)

    def _subworkflow(
        self, name: str, workflow: str, params: Mapping[str, Any] | None, is_alone: bool, options: Mapping[str, Any]
    ) -> "StepBuilder":
        if not is_alone or options:
            raise _surplus(name, sorted(options) or ["a workflow"])
        known = JobId(text(workflow, "workflow"))
        given = None if params is None else dict(params)
        self._steps.append(Step(name=text(name, "name"), job=known, is_subworkflow=True, payload=given))
        return StepBuilder(self, len(self._steps) - 1)

    def _definition(self, name: str, function: Callable[..., Any] | None, work: Keywords) -> JobSpec:
        named = [key for key in STEP_KINDS if key in work]
        count = len(named) + (function is not None)
        if count != 1:
            raise InvalidJob(
                f'step "{name}" has {"no work" if count == 0 else f"{count} kinds of work"}',
                hint=f"Give a function, or one of job, approve, {', '.join(STEP_KINDS)}.",
                field="step",
            )
        kind, done = ("python", self._handler(name, function)) if function is not None else _work(named[0], work)
        return JobSpec(
            kind=kind,
            spec={**done, **work.fill(_SPEC)},
            options=overlay(Options(), checked_overlay(work)),
            gate=read_gate(work),
            source="app",
        )

    def _handler(self, name: str, function: Callable[..., Any]) -> dict[str, Any]:
        if not callable(function):
            hint = "Give a function, or name the work: shell=, call=, http=, agent=."
            raise InvalidJob(f'step "{name}" cannot call {function!a}', hint=hint, field="step")
        handler = step_job_id(self.id, name)
        self.functions[handler] = function
        return {"handler": handler}

    def _change(self, place: int, **fields: Any) -> None:
        self._steps[place] = replace(self._steps[place], **fields)

    def _name(self, place: int) -> str:
        return self._steps[place].name

    def _edges(self, place: int) -> tuple[Edge, ...]:
        return self._steps[place].after


class StepBuilder:
    """One step of a workflow, as `Workflow.step` returns it. Its methods say what the step waits for."""

    def __init__(self, workflow: Workflow, place: int) -> None:
        self.workflow = workflow
        self._place = place

    @property
    def name(self) -> str:
        """The name of the step."""
        return self.workflow._name(self._place)

    def after(
        self,
        parent: "str | StepBuilder",
        *conditions: str,
        exit_code: int | Sequence[int] = (),
        contains: str | None = None,
        path: str | None = None,
        **equals: Any,
    ) -> "StepBuilder":
        """Run the step after `parent`, a step or its name, if the result of `parent` is one of the conditions: success
        (the default), failure, skipped or complete.

        With `exit_code`, `contains`, or `path` and `equals`, its output must match as well.
        """
        test = read_test(exit_code, contains, path, equals)
        edge = Edge(parent=self._parent_name(parent), when=read_conditions(conditions), test=test)
        self.workflow._change(self._place, after=(*self.workflow._edges(self._place), edge))
        return self

    def _parent_name(self, parent: "str | StepBuilder") -> str:
        if not isinstance(parent, StepBuilder):
            return text(parent, "parent")
        if parent.workflow is not self.workflow:
            raise InvalidJob(
                f'step "{parent.name}" belongs to workflow "{parent.workflow.id}"',
                hint=f'Name a step of workflow "{self.workflow.id}".',
                field="parent",
            )
        return parent.name

    def final(self) -> "StepBuilder":
        """Run the step last, once, whatever the results of the other steps."""
        self.workflow._change(self._place, is_final=True)
        return self

    def step(
        self,
        name: str,
        function: Callable[..., Any] | None = None,
        *,
        job: str | None = None,
        workflow: str | None = None,
        params: Mapping[str, Any] | None = None,
        approve: Approval | Mapping[str, Any] | bool = False,
        payload: Any = None,
        overlap: Literal["allow", "skip", "queue"] = "allow",
        recovers: bool = False,
        **options: Unpack[StepOptions],
    ) -> "StepBuilder":
        """Add another step to the same workflow. The arguments are those of `Workflow.step`."""
        return self.workflow.step(
            name,
            function,
            job=job,
            workflow=workflow,
            params=params,
            approve=approve,
            payload=payload,
            overlap=overlap,
            recovers=recovers,
            **options,
        )


def whole_workflow(given: Workflow | StepBuilder) -> Workflow:
    """Return the workflow that was given, or the workflow of the step that a chain of calls ends with."""
    if isinstance(given, StepBuilder):
        return given.workflow
    if not isinstance(given, Workflow):
        hint = 'Write Workflow("etl").step("extract", shell="./extract.sh").'
        raise InvalidJob(f"a workflow is made with Workflow, not {type(given).__name__}", hint=hint, field="workflow")
    return given


def read_conditions(words: Sequence[str]) -> Conditions:
    """Return conditions by their names, or by the names of trigger rules that apply to every parent alike."""
    read: set[Condition] = set()
    for word in words or (Condition.SUCCESS,):
        if word in TRIGGER_RULES:
            read |= TRIGGER_RULES[word]
        elif word in set(Condition):
            read.add(Condition(word))
        else:
            raise InvalidJob(
                f"condition {word[:64]!a} does not exist",
                hint=suggest(word, [*Condition, *TRIGGER_RULES], otherwise=f"Use one of: {', '.join(Condition)}."),
                field="after",
            )
    return frozenset(read)


def _work(key: str, work: Keywords) -> tuple[str, dict[str, Any]]:
    kind, field = STEP_KINDS[key]
    return kind, read_command(work[key]) if kind == "http" else {field: work[key]}


def _params(given: Mapping[str, Any] | None) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        hint = 'Write params={"day": "today"}.'
        raise InvalidJob(f"params must be named values, not {type(given).__name__}", hint=hint, field="params")
    return dict(given or {})


def _surplus(name: str, work: Iterable[str]) -> InvalidJob:
    return InvalidJob(
        f'step "{name}" has more than one kind of work: remove {", ".join(work)}',
        hint="A step that names a job or asks a person has no work of its own.",
        field="step",
    )
