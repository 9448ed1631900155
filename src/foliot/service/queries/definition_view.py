"""Views of definitions in a text: what the text defines, compared with what is stored."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

import msgspec

from foliot.domain.fanout.spec import FANOUT, ITEMS
from foliot.domain.ids import ScheduleId
from foliot.domain.instant import Instant, to_datetime
from foliot.domain.job.job import JobSpec
from foliot.domain.schedule.schedule import Revision, ScheduleSpec, anchored
from foliot.domain.schedule.timetable import Timetable
from foliot.domain.secrets import public_value
from foliot.domain.workflow.layout import Layout, layout_of
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.errors import InvalidInput, Problem, Severity
from foliot.service.queries.job_view import kind_name
from foliot.service.queries.schedule_view import rule_in_words
from foliot.service.queries.workflows import WorkflowStepView, view_step

_UPCOMING: Final = 5


class DefinitionAction(StrEnum):
    """What applying a text does to a definition, or did."""

    CREATED = "created"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    """Another owner defines it, such as a file, and only that can change it."""
    KEPT = "kept"
    """It exists and differs, and stays as it is."""
    UNREADABLE = "unreadable"
    """The text of the definition has errors."""


class ProblemView(msgspec.Struct, frozen=True, kw_only=True):
    """A problem in a text."""

    severity: Severity
    """`error`: the text cannot be applied."""
    line: int
    """From 1. 0: not known."""
    column: int
    """From 1. 0: not known."""
    field: str
    """The path of the key, such as jobs[1].timeout, counted from 1."""
    message: str
    hint: str


class FieldChange(msgspec.Struct, frozen=True, kw_only=True):
    """A field that differs from what is stored, with secrets masked. null: not set."""

    field: str
    before: Any
    after: Any


class ScheduleChangeView(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule of a definition."""

    id: str
    action: str
    """created, changed, unchanged or removed"""
    words: str | None
    """Its cron expression in words. null: it has none."""
    timezone: str
    next: list[datetime]
    """The next fire times."""


class DefinitionView(msgspec.Struct, frozen=True, kw_only=True):
    """A definition in a text, compared with what is stored."""

    kind: str
    """job, fanout, workflow or chain"""
    id: str
    work: str
    """The kind of work: shell, http, python, agent, gate, fanout, chain; workflow for a workflow. Of one that is
    unreadable, its kind."""
    line: int
    action: DefinitionAction
    owner: str | None
    """Who owns the stored one: api, file, app and so on. null: it is not stored."""
    place: str | None
    """The file and line of the stored one, if a file owns it."""
    revision: int | None
    """The stored revision, of a workflow the version. null: it is not stored."""
    changes: list[FieldChange]
    schedules: list[ScheduleChangeView]
    steps: list[WorkflowStepView]
    """Of a workflow."""
    drawing: Layout | None
    """Of a workflow without errors."""
    stages: list[str]
    """Of a class of chains."""
    items: int | None
    """Of a fanout with a list of items: how many."""
    inputs_from: str | None
    """Of a fanout with a source of items."""


class CheckedText(msgspec.Struct, frozen=True, kw_only=True):
    """What a text defines, and all problems in it."""

    is_valid: bool
    """Whether no problem is an error: the text can be applied, unless a definition is refused."""
    problems: list[ProblemView]
    definitions: list[DefinitionView]


class AppliedText(msgspec.Struct, frozen=True, kw_only=True):
    """What was stored."""

    definitions: list[DefinitionView]
    """With the revisions that they have now."""
    warnings: list[ProblemView]


class DefinitionToml(msgspec.Struct, frozen=True, kw_only=True):
    """A definition as TOML. Applied again, it changes nothing."""

    toml: str
    revision: int
    is_masked: bool
    """Whether it has *** in place of secrets. Applied to the same definition, *** keeps the stored value."""
    place: str | None = None
    """The file and line that define it, if it is a job in the configuration file of this server."""


def view_problem(problem: Problem) -> ProblemView:
    return ProblemView(
        severity=problem.severity,
        line=problem.line,
        column=problem.place.column,
        field=problem.key,
        message=problem.message,
        hint=problem.hint,
    )


def work_of(kind: str, job: JobSpec | None) -> str:
    return kind if job is None else kind_name(job.kind)


def view_steps(workflow: WorkflowSpec | None) -> tuple[list[WorkflowStepView], Layout | None]:
    """Return the steps of a workflow and its drawing. A graph that cannot be drawn has all steps in layer 0."""
    if workflow is None:
        return [], None
    try:
        drawing = layout_of(workflow.steps)
        layers = {name: number for number, layer in enumerate(drawing.layers, start=1) for name in layer}
        return [view_step(step, layers[step.name], False) for step in workflow.steps], drawing
    except (InvalidInput, LookupError, ValueError):
        # A step that follows itself, or one that does not exist: this is among the problems.
        return [view_step(step, 0, False) for step in workflow.steps], None


def view_rule(schedule_id: ScheduleId, spec: ScheduleSpec, action: str, now: Instant) -> ScheduleChangeView:
    return ScheduleChangeView(
        id=schedule_id,
        action=action,
        words=rule_in_words(spec, schedule_id),
        timezone=spec.timezone,
        next=[to_datetime(at) for at in _upcoming(schedule_id, spec, now)],
    )


def _upcoming(schedule_id: ScheduleId, spec: ScheduleSpec, now: Instant) -> Sequence[Instant]:
    try:
        return Timetable(schedule_id, [Revision(1, now, anchored(spec, now))]).upcoming(now, _UPCOMING)
    except InvalidInput:
        return ()


def items_of(job: JobSpec | None) -> int | None:
    items = None if job is None or job.kind != FANOUT else job.spec.get(ITEMS)
    return len(items) if isinstance(items, list) else None


def inputs_of(job: JobSpec | None) -> str | None:
    source = None if job is None or job.kind != FANOUT else job.spec.get("inputs_from")
    return public_value("inputs_from", source) if isinstance(source, str) else None


def stages_of(job: JobSpec | None) -> list[str]:
    return [*job.spec.get("stages", {})] if job is not None and job.kind == "chain" else []
