"""Where each option can be given: in a file, in a document, in a call."""

from collections.abc import Mapping
from typing import Final

from foliot.domain.vocabulary.access import AUTH
from foliot.domain.vocabulary.chain import CEILINGS, CHAIN, STAGE
from foliot.domain.vocabulary.field import Field, Schema, only, union, without
from foliot.domain.vocabulary.job import DESCRIPTION, GATE, IDENTITY, OPTIONS
from foliot.domain.vocabulary.kind import AGENT_ARGS, FANOUT_FIELDS, HOMES, KIND_FIELDS
from foliot.domain.vocabulary.notification import NOTIFICATIONS, NOTIFY
from foliot.domain.vocabulary.readers import TABLES, TEXT, TEXTS
from foliot.domain.vocabulary.schedule import ENABLED, NAME, PAYLOAD, POLICY, RULE, TARGET, TIMEZONE, USER
from foliot.domain.vocabulary.server import FANOUT, OUTBOUND, QUEUE, RETENTION, SERVER, SERVER_DEFAULTS, STORAGE
from foliot.domain.vocabulary.workflow import STEP_ONLY, STEP_WORK, WHEN, WORKFLOW_ONLY

# -- files and documents

OF_KINDS: Final = union(*(schema.fields for schema in HOMES.values()))
_JOB: Final = union(IDENTITY, DESCRIPTION, NOTIFY, OPTIONS, RULE, POLICY, GATE, OF_KINDS)
_EACH_ITS_OWN: Final = (
    *("id", "renamed_from", "name", "description", "schedules", "command", "argv", "url", "call", "prompt"),
    *("depends_on", "inner_kind"),
    *(field.name for field in RULE),
    *(field.name for field in NOTIFY),
)
OPTIONS_OF_OTHER_TOOLS: Final = {
    **dict.fromkeys(("script", "run", "shell", "exec", "exec_start"), "Use command, or argv without a shell."),
    **dict.fromkeys(("function", "func", "task"), 'Use kind = "python" and call.'),
    **dict.fromkeys(("max_instances", "max_parallel", "parallelism", "max_runs"), "Use max_concurrent."),
    **dict.fromkeys(("time_limit", "soft_time_limit"), "Use timeout."),
    **dict.fromkeys(("needs", "requires", "deps"), "Use depends_on, or the steps of a workflow."),
    **dict.fromkeys(("misfire_grace_time", "coalesce"), "Use catchup."),
    **dict.fromkeys(("when", "minute", "hour", "day"), "Use cron, every or at."),
    **dict.fromkeys(("on_failure", "on_success", "mailto"), "Use notify_on, with the targets of [notifications]."),
    "cwd": "Use working_dir.",
    "environment": "Use env.",
    "tz": "Use timezone.",
    "entrypoint": "Use argv.",
    "countdown": "Use at, or foliot trigger --delay.",
    "backoff": "Use retry_delay and retry_factor.",
}
"""Options of cron, systemd, Celery, APScheduler and others that have no similar name here, or one that misleads."""
JOB: Final = Schema(*_JOB, owner="[[jobs]]", hints=OPTIONS_OF_OTHER_TOOLS)
DEFAULTS: Final = Schema(
    *without(_JOB, *_EACH_ITS_OWN),
    owner="[defaults]",
    hints={field.name: f"Use [notifications] {field.name}." for field in NOTIFY},
)
_SCHEDULE: Final = (NAME, ENABLED, *RULE, *POLICY, PAYLOAD)
SCHEDULE: Final = Schema(*_SCHEDULE, *OPTIONS, owner="[[jobs.schedules]]")
WORKFLOW: Final = Schema(*WORKFLOW_ONLY, *WHEN, owner="[[workflows]]", hints={"payload": "Use params."})
WORKFLOW_SCHEDULE: Final = Schema(*_SCHEDULE, USER, owner="[[workflows.schedules]]")
TRIGGER: Final = Schema(
    Field("type", TEXT, "The type of the trigger."), *WORKFLOW_SCHEDULE, owner="[[workflows.triggers]]"
)
"""A schedule in the notation of workflow documents of other systems."""
SCHEDULE_BASED: Final = "schedule_based"
STEP: Final = Schema(*union(STEP_WORK, STEP_ONLY), owner="[[workflows.steps]]", hints={"id": "Use name."})
SECTIONS: Final[Mapping[str, Schema]] = {
    "server": SERVER,
    "storage": STORAGE,
    "queue": QUEUE,
    "defaults": DEFAULTS,
    "retention": RETENTION,
    "outbound": OUTBOUND,
    "fanout": FANOUT,
    "chain_ceilings": CEILINGS,
    "notifications": NOTIFICATIONS,
    "auth": AUTH,
}
DSN_SECTION: Final = "dsn"
"""A section whose keys are names: the databases that fanouts may read."""
LATER_SECTIONS: Final = ("github", "grimoire")
_IN_FILE: Final = {
    "include": "Patterns of further files: `*`, `?`, `**`. They are read in alphabetical order and may contain only"
    " `[[jobs]]`, `[[workflows]]`, `[[chains]]` and `include`.",
    "server": "Settings of the server.",
    "storage": "The database.",
    "queue": "How workers are notified of runs.",
    "defaults": "Default options of all jobs.",
    "retention": "How long history is kept.",
    "outbound": "The addresses that jobs may call.",
    "fanout": "Where the items of fanouts may come from.",
    "chain_ceilings": "What no class of chains may exceed.",
    "notifications": "Who is told about failed runs and alerts.",
    "auth": "How programs prove who they are.",
    DSN_SECTION: 'The databases that `sql://` may read, each as `name = "DSN"`. They are not stored in the database.',
    "jobs": "The jobs.",
    "workflows": "The workflows.",
    "chains": "The classes of chains.",
    **dict.fromkeys(LATER_SECTIONS, "Ignored in this version."),
}
INCLUDE: Final = Schema(Field("include", TEXTS, _IN_FILE["include"], "[]"))
ROOT: Final = Schema(
    *(
        Field(name, TABLES, doc, is_literal=True, has_effect=name not in LATER_SECTIONS)
        for name, doc in _IN_FILE.items()
    ),
    owner="the file",
)
FILE_PLACES: Final = (
    *(JOB, SCHEDULE, WORKFLOW, STEP, CHAIN, STAGE, SERVER, STORAGE, RETENTION, OUTBOUND, FANOUT, NOTIFICATIONS),
    AUTH,
)

# -- calls

APPLICATION_CALL: Final = Schema(*SERVER_DEFAULTS, owner="an application")
"""`Foliot`"""
_JOB_CALL: Final = (*DESCRIPTION, *NOTIFY, *only(IDENTITY, "enabled"), *OPTIONS, *GATE, TIMEZONE)
RUN_CALL: Final = Schema(*OPTIONS, owner="a run")
"""`app.enqueue`, and `Workflow` for its executions."""
JOB_CALL: Final = Schema(*_JOB_CALL, owner="a job")
"""`app.job`"""
_NAMED_BY_ARGUMENT: Final = ("command", "argv", "url", "method", "call", "prompt", "args")
KIND_CALLS: Final[Mapping[str, Schema]] = {
    kind: Schema(
        *_JOB_CALL,
        *without(schema, *_NAMED_BY_ARGUMENT),
        *(AGENT_ARGS if kind == "agent" else ()),
        owner=f"a job of kind {kind}",
    )
    for kind, schema in KIND_FIELDS.items()
}
"""`app.shell`, `app.http`, `app.call`, `app.agent`"""
_SCHEDULE_CALL: Final = (*RULE, *POLICY, PAYLOAD, *OPTIONS)
SCHEDULE_CALL: Final = Schema(*_SCHEDULE_CALL, ENABLED, owner="a schedule")
"""`app.schedule`"""
UPSERT_CALL: Final = Schema(*_SCHEDULE_CALL, *TARGET, owner="a schedule")
"""`app.schedules.upsert`, which has its own arguments `paused` and `enabled`."""
STEP_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "shell": ("shell", "command"),
    "argv": ("shell", "argv"),
    "call": ("python", "call"),
    "http": ("http", "command"),
    "agent": ("agent", "prompt"),
}
"""Argument of a step in Python -> kind of job, and its field."""
_STEP_DOES: Final = (
    Field("shell", TEXT, "A command line for `/bin/sh`."),
    Field("argv", TEXTS, "A program and its arguments, without a shell."),
    Field("call", TEXT, "`module:function`, called in its own process."),
    Field("http", TEXT, "A URL, `POST https://...`, or a request as a JSON object."),
    Field("agent", TEXT, "A prompt for a command-line assistant."),
)
STEP_SPEC: Final = (
    *("env", "working_dir", "stdin", "headers", "body", "limits", "user", "output_cap", "output"),
    *("umask", "kill_after"),
)
"""The fields of a job that a step in Python may have in addition to the options."""
STEP_CALL: Final = Schema(*_STEP_DOES, *only(OF_KINDS, *STEP_SPEC), *OPTIONS, *GATE, TIMEZONE, owner="a step")
"""`Workflow.step`"""
_MAPPED: Final = ("concurrency", "partial_tolerance", "per_item_timeout")
MAP_CALL: Final = Schema(
    *only(FANOUT_FIELDS, *_MAPPED, "max_items", "max_item_size", "max_input_size"), owner="a fanout"
)
"""`app.map`"""
CALL_PLACES: Final = (JOB_CALL, *KIND_CALLS.values(), SCHEDULE_CALL, UPSERT_CALL, STEP_CALL, MAP_CALL)
