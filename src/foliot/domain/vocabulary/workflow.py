"""The options of workflows, their steps and edges."""

from typing import Any, Final

from foliot.domain.vocabulary.field import Field, Schema, only, union, without
from foliot.domain.vocabulary.job import DESCRIPTION, GATE, IDENTITY, OPTIONS, PARTIAL, TIMEOUT
from foliot.domain.vocabulary.kind import FANOUT_FIELDS, INNER_KIND, KIND_FIELDS
from foliot.domain.vocabulary.readers import DOCUMENT, FLAG, TABLES, TEXT, VALUES, WHOLE, Reader, list_of, word_of
from foliot.domain.vocabulary.schedule import PAYLOAD, POLICY, RULE, TIMEZONE, USER
from foliot.domain.workflow.conditions import TRIGGER_RULES, Condition
from foliot.domain.workflow.spec import Answer, StepOverlap
from foliot.errors import InvalidInput, suggest

_CONDITIONS: Final = (*Condition, *TRIGGER_RULES)
_COUNTING_RULES: Final = (
    "one_success",
    "one_failed",
    "one_done",
    "none_failed_min_one_success",
    "all_done_min_one_success",
    "all_done_setup_success",
)
"""Trigger rules of Airflow that no set of conditions can express."""


def _condition(value: Any) -> str:
    word: str = TEXT.read(value)
    if word in _COUNTING_RULES:
        hint = "A step waits for all its parents, each with its own condition: use when."
        raise InvalidInput(f"{word} counts parents, which is not possible here", hint=hint)
    if word not in _CONDITIONS:
        hint = suggest(word, _CONDITIONS, otherwise=f"Use one of: {', '.join(Condition)}.")
        raise InvalidInput(f"condition {word[:40]!a} does not exist", hint=hint)
    return word


CONDITION: Final = Reader("condition", _condition)
EDGE: Final = Schema(
    Field("step", TEXT, "The parent step."),
    Field("when", list_of(CONDITION), "The accepted results of the parent: any of these conditions."),
    Field("exit_code", list_of(WHOLE), "The exit code of the parent must be one of these.", "[]"),
    Field("contains", TEXT, "The output of the parent must contain this text."),
    Field("path", TEXT, "This path must exist in the output of the parent: `files.0.name`."),
    Field("equals", DOCUMENT, "The value at `path`, or the whole output without `path`, must equal this."),
    owner="an edge (after)",
)
APPROVAL: Final = Schema(
    TIMEOUT.means("How long to wait for an answer. `0`: forever."),
    Field("default", word_of(Answer), "The answer after the timeout.", '"reject"'),
    owner="approve",
)
STEP_ONLY: Final = (
    Field("name", TEXT, "The name of the step in the workflow."),
    Field(
        "after",
        TABLES._replace(words="step or list of steps"),
        'The parent steps: `"extract"`, a table as below, or a list of these. The step waits for all of them. A step'
        " without parents starts immediately.",
        "[]",
        is_literal=True,
    ),
    Field("trigger_rule", CONDITION, "The condition for parents without `when`.", '"success"'),
    Field(
        "final", FLAG, "If true, the step runs last, once, after any results of the others. At most one step.", "false"
    ),
    Field(
        "recovers",
        FLAG,
        "If true, the success of the step makes up for the failure of the steps that it follows by `failure` or"
        " `complete`: the execution has not failed because of them.",
        "false",
    ),
    Field("job", TEXT, "The job that the step runs."),
    Field("workflow", TEXT, "The workflow that the step runs as its child. The step ends with that execution."),
    Field("params", VALUES, "The parameters of `workflow`; may hold templates."),
    Field(
        "approve",
        TABLES._replace(words="true or table"),
        "If set, a person approves or rejects the step, see below.",
        "false",
        is_literal=True,
    ),
    Field(
        "overlap",
        word_of(StepOverlap),
        "What happens while an earlier run of the step is not over: it runs concurrently, is skipped, or waits. For a"
        " step with `job`, every run of that job counts; for `queue`, runs outside of workflows count only if the job"
        " has `max_concurrent`. A skipped step is not a success.",
        '"allow"',
    ),
    PAYLOAD.means("The payload of the step."),
)
STEP_WORK: Final = union(
    only(IDENTITY, "kind"),
    only(DESCRIPTION, "description", "category", "owner", "tags"),
    OPTIONS,
    *(schema.fields for schema in KIND_FIELDS.values()),
    without(FANOUT_FIELDS, "job"),
    (*GATE, INNER_KIND, TIMEZONE),
)
"""The options of a step with its own definition: those of a job."""
EXECUTION: Final = (
    TIMEOUT.means("The longest duration of an execution. `0`: no limit."),
    *(
        field.means("How many executions may be running at the same time. `0`: no limit.", "0")
        for field in only(OPTIONS, "max_concurrent")
    ),
    *(
        field.means("No effect: coordinators open executions. Steps have their own queues.")
        for field in only(OPTIONS, "queue")
    ),
    *(field.means("The priority of executions that wait to be opened.") for field in only(OPTIONS, "priority")),
)
"""How the executions of a workflow are handled."""
WORKFLOW_ONLY: Final = (
    Field("id", TEXT, "The permanent id, with the characters of a job id. No job may have the same."),
    *(
        field.means(
            "The former id: versions, executions, schedules and runs of steps move to the new id. May stay in the file."
        )
        for field in only(IDENTITY, "renamed_from")
    ),
    *(field.means("The purpose of the workflow.") for field in only(DESCRIPTION, "description")),
    *only(DESCRIPTION, "owner", "tags"),
    *(
        field.means(
            "If false, ticks of the workflow are skipped with the reason `disabled`. `paused = true` means the same."
        )
        for field in only(IDENTITY, "enabled")
    ),
    *(
        field.means("`[[workflows.schedules]]`, with the keys of `[[jobs.schedules]]` and `user_id`.")
        for field in only(IDENTITY, "schedules")
    ),
    Field(
        "triggers",
        TABLES,
        'Schedules in another notation: a trigger with `type = "schedule_based"` is a schedule. Triggers of other types'
        " are ignored with a warning.",
        is_literal=True,
    ),
    USER,
    Field(
        "params",
        VALUES,
        "The parameters of an execution with their default values. Other parameters are refused.",
        "{}",
    ),
    *EXECUTION,
    PARTIAL.means("What a `partial` run of a step counts as."),
    Field(
        "final_on_cancel",
        FLAG,
        "Whether the final step runs when an execution is cancelled or exceeds its timeout.",
        "false",
    ),
    Field("steps", TABLES, "`[[workflows.steps]]`, see below. At least one.", is_literal=True),
)
WORKFLOW_DEFAULTS: Final = frozenset({"enabled", "owner", "tags", "queue", "priority"} | {key.name for key in POLICY})
"""The options of [defaults] that apply to workflows. Limits of jobs do not: a workflow takes longer than a step."""
WHEN: Final = (*RULE, *POLICY)
