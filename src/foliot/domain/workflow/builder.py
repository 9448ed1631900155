"""A workflow as Python code.

    etl = Workflow("etl", params={"day": None})
    etl.step("extract", shell="./extract.sh")
    etl.step("load", load, payload={"day": "{{ params.day }}"}).after("extract")
    etl.step("cleanup", shell="./cleanup.sh").final()

Graph, templates and definitions are checked when the workflow is registered, all at once; here only what is no step
at all is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.input.gate import take_gate
from foliot.domain.input.job import job_options
from foliot.domain.input.step import read_approval, read_test
from foliot.domain.input.words import PartialAs, text, word_of
from foliot.domain.job.job import JobSpec, Options, overlay
from foliot.domain.job.kinds.http import read_command
from foliot.domain.workflow.conditions import TRIGGER_RULES, Condition, Conditions
from foliot.domain.workflow.jobs import step_job_id
from foliot.domain.workflow.spec import Approval, Edge, Step, StepOverlap, WorkflowSpec
from foliot.errors import InvalidJob, suggest

_KINDS: Final = {"shell": "shell", "argv": "shell", "call": "python", "http": "http", "agent": "agent"}
_FIELDS: Final = {"shell": "command", "argv": "argv", "call": "call", "agent": "prompt"}
_SPEC: Final[tuple[str, ...]] = (
    "env",
    "working_dir",
    "stdin",
    "headers",
    "body",
    "limits",
    "user",
    "output_cap",
    "output",
)
"""What may be said about the job of a step besides its options."""


class Workflow:
    """Steps and what they wait for, in the making."""

    def __init__(
        self,
        id: str,  # noqa: A002 - the word that every other thing with an id uses
        *,
        description: str = "",
        params: Mapping[str, Any] | None = None,
        partial_counts_as: str = "success",
        final_on_cancel: bool = False,
        **options: Any,
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
            partial_counts_as=word_of(PartialAs)(partial_counts_as, "partial_counts_as"),
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
        approve: Approval | Mapping[str, Any] | bool = False,
        payload: Any = None,
        overlap: str = StepOverlap.ALLOW,
        **work: Any,
    ) -> "StepBuilder":
        """Add a step: a function, a job that exists (`job=`), a question to a person (`approve=`), or a job of its own:
        `shell=`, `argv=`, `call="module:function"`, `http=`, `agent=`, with the options of a job and its `env`,
        `working_dir`, `stdin`, `headers`, `body`, `limits`, `user`, `output_cap` and `output`. With
        `depends_on` and the other words of a gate it looks at other jobs before it begins, as a job would.
        `approve={"timeout_sec": 3600, "default": "approve"}` says what happens when nobody answers."""
        asked = read_approval(approve)
        if function is not None and (job is not None or asked is not None):
            raise _surplus(name, ["a function"])
        definition = self._definition(name, function, work) if job is None and asked is None else None
        given = {key: work.pop(key) for key in _SPEC if job is not None and key in work}
        if work:
            raise _surplus(name, work)
        self._steps.append(
            Step(
                name=text(name, "name"),
                job=None if job is None else JobId(text(job, "job")),
                definition=definition,
                approval=asked,
                payload=payload,
                overlap=word_of(StepOverlap)(overlap, "overlap"),
                spec=given,
            )
        )
        return StepBuilder(self, len(self._steps) - 1)

    def _definition(self, name: str, function: Callable[..., Any] | None, work: dict[str, Any]) -> JobSpec:
        """Reads what the step does, and takes it out of `work`."""
        spec = {key: work.pop(key) for key in _SPEC if key in work}
        named = [key for key in _KINDS if key in work]
        if len(named) + (function is not None) != 1:
            raise InvalidJob(
                f'step "{name}" does {len(named) + (function is not None)} things',
                hint=f"Give a function, or one of job, approve, {', '.join(_KINDS)}.",
                field="step",
            )
        kind, done = ("python", self._handler(name, function)) if function is not None else _work(named[0], work)
        gate = take_gate(work)
        options = job_options(**{key: work.pop(key) for key in list(work)})
        return JobSpec(kind=kind, spec={**done, **spec}, options=overlay(Options(), options), gate=gate, source="app")

    def _handler(self, name: str, function: Callable[..., Any]) -> dict[str, Any]:
        if not callable(function):
            hint = "Give a function, or name the work: shell=, call=, http=, agent=."
            raise InvalidJob(f'step "{name}" cannot call {function!a}', hint=hint, field="step")
        handler = step_job_id(self.id, name)
        self.functions[handler] = function
        return {"handler": handler}

    def _change(self, place: int, **fields: Any) -> None:
        self._steps[place] = replace(self._steps[place], **fields)

    def _edges(self, place: int) -> tuple[Edge, ...]:
        return self._steps[place].after


class StepBuilder:
    """One step of a workflow, to say what it waits for. `step` goes on with the next one."""

    def __init__(self, workflow: Workflow, place: int) -> None:
        self.workflow = workflow
        self._place = place

    def after(
        self,
        parent: str,
        *conditions: str,
        exit_code: int | Sequence[int] = (),
        contains: str | None = None,
        path: str | None = None,
        **equals: Any,
    ) -> "StepBuilder":
        """Wait for `parent` and follow when it has come to one of the conditions: success (if none is named), failure,
        skipped or complete. With `exit_code`, `contains`, or `path` and `equals`, its output must fit as well."""
        test = read_test(exit_code, contains, path, equals)
        edge = Edge(parent=text(parent, "parent"), when=read_conditions(conditions), test=test)
        self.workflow._change(self._place, after=(*self.workflow._edges(self._place), edge))
        return self

    def final(self) -> "StepBuilder":
        """Run last, once, whatever the others have come to."""
        self.workflow._change(self._place, is_final=True)
        return self

    def step(self, name: str, function: Callable[..., Any] | None = None, **work: Any) -> "StepBuilder":
        """Add the next step to the same workflow."""
        return self.workflow.step(name, function, **work)


def whole_workflow(given: Workflow | StepBuilder) -> Workflow:
    """A chain of calls ends with its last step; what was meant is all of them."""
    if isinstance(given, StepBuilder):
        return given.workflow
    if not isinstance(given, Workflow):
        hint = 'Write Workflow("etl").step("extract", shell="./extract.sh").'
        raise InvalidJob(f"a workflow is made with Workflow, not {type(given).__name__}", hint=hint, field="workflow")
    return given


def read_conditions(words: Sequence[str]) -> Conditions:
    """Conditions by their names, or by those of trigger rules that say the same about every parent."""
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


def _work(key: str, work: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    value = work.pop(key)
    return _KINDS[key], read_command(value) if key == "http" else {_FIELDS[key]: value}


def _params(given: Mapping[str, Any] | None) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        hint = 'Write params={"day": "today"}.'
        raise InvalidJob(f"params must be named values, not {type(given).__name__}", hint=hint, field="params")
    return dict(given or {})


def _surplus(name: str, work: Iterable[str]) -> InvalidJob:
    return InvalidJob(
        f'step "{name}" does two things: {", ".join(work)} is one too many',
        hint="A step that names a job or asks a person has no work of its own.",
        field="step",
    )
