"""A workflow as people write it."""

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from foliot.domain.ids import JobId
from foliot.domain.instant import Millis
from foliot.domain.job.job import JobSpec, Options
from foliot.domain.workflow.conditions import Condition, Conditions
from foliot.domain.workflow.output import OutputTest
from foliot.domain.workflow.template import has_template

GRAPH: Final = "graph"
"""The kind of the job whose runs are executions."""
PART_SOURCE: Final = "workflow"
"""Who owns the job of a step, and a schedule that was deployed with its workflow."""
HIDDEN_SOURCES: Final = ("foliot", PART_SOURCE)
"""The owners of jobs that lists leave out."""
ON_SUCCESS: Final[Conditions] = frozenset({Condition.SUCCESS})
ON_COMPLETE: Final[Conditions] = frozenset({Condition.COMPLETE})


class StepOverlap(StrEnum):
    """What a step does while an earlier run of it is not over."""

    ALLOW = "allow"
    SKIP = "skip"
    QUEUE = "queue"


class Edge(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The step waits for `parent` and follows when its result is one of `when`, and its output passes the test."""

    parent: str
    when: Conditions = ON_SUCCESS
    test: OutputTest | None = None


class Answer(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"


class Approval(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person decides. Without an answer in time, `default` does."""

    timeout: Millis | None = None
    default: Answer = Answer.REJECT


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One node: a job of its own, one that exists already, or a question to a person."""

    name: str
    job: JobId | None = None
    """A job that is defined elsewhere, as it is when the execution starts."""
    is_subworkflow: bool = False
    """Whether `job` is a workflow. It runs as a child execution, with `payload` as its parameters."""
    definition: JobSpec | None = None
    approval: Approval | None = None
    after: tuple[Edge, ...] = ()
    overlap: StepOverlap = StepOverlap.ALLOW
    is_final: bool = False
    """Runs last, once, whatever the others have come to."""
    recovers: bool = False
    """Its success makes up for the failure of a step that it follows by `failure` or `complete`."""
    payload: Any = None
    """What the step is given; may hold templates."""
    spec: dict[str, Any] = {}
    """Fields of a job that is named, given anew for this step; may hold templates."""

    @property
    def overlay(self) -> dict[str, Any]:
        """Fields of the specification that are written for each run: those with templates in them."""
        own = {} if self.definition is None else self.definition.spec
        return {**{name: value for name, value in own.items() if has_template(value)}, **self.spec}


class WorkflowSpec(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One version of a workflow."""

    steps: tuple[Step, ...]
    description: str = ""
    params: dict[str, Any] = {}
    """Parameters of an execution with their defaults; others are refused."""
    options: Options = Options()
    """Of the execution as a whole: its timeout, its limits."""
    partial_counts_as: str = "success"
    final_on_cancel: bool = False
    enabled: bool = True
    source: str = "api"
    owner: str = ""
    tags: tuple[str, ...] = ()

    @property
    def as_written(self) -> "WorkflowSpec":
        """With the names of variables instead of their values: to be shown, not to be run."""
        steps = (step if step.definition is None else _as_written(step, step.definition) for step in self.steps)
        return replace(self, steps=tuple(steps))


def _as_written(step: Step, definition: JobSpec) -> Step:
    return replace(step, definition=definition.as_written)
