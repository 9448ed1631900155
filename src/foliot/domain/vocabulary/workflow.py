"""The options of workflows, their steps and edges."""

from typing import Any, Final

from foliot.domain.vocabulary.field import Field, Schema, only, union
from foliot.domain.vocabulary.job import DESCRIPTION, GATE, IDENTITY, OPTIONS, PARTIAL, TIMEOUT
from foliot.domain.vocabulary.kind import INNER_KIND, KIND_FIELDS
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
    Field("step", TEXT, "The step that is followed."),
    Field("when", list_of(CONDITION), "What the step must have come to: any of these."),
    Field("exit_code", list_of(WHOLE), "And its exit code is one of these.", "[]"),
    Field("contains", TEXT, "And its output has this text somewhere."),
    Field("path", TEXT, "And this leads to something in its output: `files.0.name`."),
    Field("equals", DOCUMENT, "And that is equal to this. Without a path: the whole output."),
    owner="an edge (after)",
)
APPROVAL: Final = Schema(
    TIMEOUT.means("How long to wait for an answer. `0`: for ever."),
    Field("default", word_of(Answer), "What happens without an answer in time.", '"reject"'),
    owner="approve",
)
STEP_ONLY: Final = (
    Field("name", TEXT, "Its name in the workflow."),
    Field(
        "after",
        TABLES._replace(words="step or list of steps"),
        'The steps it follows: `"extract"`, or a table as below, or a list of these. It waits for all of them. Without'
        " any it starts at once.",
        "[]",
        is_literal=True,
    ),
    Field("trigger_rule", CONDITION, "The condition on all parents that have none of their own.", '"success"'),
    Field("final", FLAG, "It runs last, once, whatever the results of the others. One step can.", "false"),
    Field(
        "recovers",
        FLAG,
        "Its success makes up for the failure of the steps that it follows by `failure` or `complete`: the execution"
        " has not failed because of them.",
        "false",
    ),
    Field("job", TEXT, "The job that it runs."),
    Field("approve", TABLES._replace(words="true or table"), "A person decides, see below.", "false", is_literal=True),
    Field(
        "overlap",
        word_of(StepOverlap),
        "What it does while an earlier run of it is not over: run beside it, be skipped, or wait. For a step that names"
        " a `job` every run of that job counts; for `queue`, those outside of workflows only if the job has"
        " `max_concurrent`. A skipped step is no success.",
        '"allow"',
    ),
    PAYLOAD.means("What it is given."),
)
STEP_WORK: Final = union(
    only(IDENTITY, "kind"),
    only(DESCRIPTION, "description", "category", "owner", "tags", "labels"),
    OPTIONS,
    *(schema.fields for schema in KIND_FIELDS.values()),
    (*GATE, INNER_KIND, TIMEZONE),
)
"""The options of a step that is a job of its own: those of a job."""
EXECUTION: Final = (
    TIMEOUT.means("How long an execution may take as a whole. `0`: no limit."),
    *(field.means("How many executions at once. `0`: no limit.", "0") for field in only(OPTIONS, "max_concurrent")),
    *(
        field.means("Not used: coordinators begin executions. Its steps have queues of their own.")
        for field in only(OPTIONS, "queue")
    ),
    *(field.means("Of executions that wait to begin.") for field in only(OPTIONS, "priority")),
)
"""How the executions of a workflow are handled."""
WORKFLOW_ONLY: Final = (
    Field("id", TEXT, "Its name for ever, like that of a job. No job may have the same."),
    *(
        field.means(
            "Its former id: versions, executions, schedules and the runs of its steps move to the new id."
            " May stay in the file."
        )
        for field in only(IDENTITY, "renamed_from")
    ),
    *only(DESCRIPTION, "description", "owner", "tags"),
    *(field.means("Whether its ticks start executions.") for field in only(IDENTITY, "enabled")),
    *(
        field.means("`[[workflows.schedules]]`, with the keys of `[[jobs.schedules]]` and `user_id`.")
        for field in only(IDENTITY, "schedules")
    ),
    Field(
        "triggers",
        TABLES,
        'Schedules by another name: a trigger with `type = "schedule_based"` is a schedule. A trigger of another type'
        " is ignored with a warning.",
        is_literal=True,
    ),
    USER,
    Field("params", VALUES, "The parameters of an execution, with their defaults. Others are refused.", "{}"),
    *EXECUTION,
    PARTIAL.means("What a `partial` run of a step counts as."),
    Field(
        "final_on_cancel",
        FLAG,
        "Whether the final step runs when an execution is cancelled or its time is up.",
        "false",
    ),
    Field("steps", TABLES, "`[[workflows.steps]]`, see below. At least one.", is_literal=True),
)
WORKFLOW_DEFAULTS: Final = frozenset({"enabled", "owner", "tags", "queue", "priority"} | {key.name for key in POLICY})
"""The options of [defaults] that hold for a workflow. Limits of jobs do not: a workflow takes longer than a step."""
WHEN: Final = (*RULE, *POLICY)
