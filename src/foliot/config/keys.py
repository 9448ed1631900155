"""Every key of a configuration file: a table for each section, for jobs and for their schedules."""

from collections.abc import Mapping
from typing import Final, get_args

from foliot.config.readers import (
    AGE,
    CONDITION,
    COUNT,
    DOCUMENT,
    FLAG,
    MASK,
    MODULE,
    MOMENT,
    NUMBER,
    PAIRS,
    SECONDS,
    SIZE,
    SPAN,
    TABLE,
    TABLES,
    TEXT,
    TEXTS,
    VALUES,
    WHOLE,
    Reader,
    list_of,
    one_of,
    span,
    whole,
)
from foliot.config.schema import Key, Schema
from foliot.config.settings import ROLES, EventLoop, LogFormat, LogLevel, Mode
from foliot.domain.cron import DomDow, Dst
from foliot.domain.gate.spec import MAX_WINDOW, Action, WindowKind
from foliot.domain.instant import SECOND
from foliot.domain.job.job import Delivery
from foliot.domain.job.kinds.http import read_statuses
from foliot.domain.run.output import OutputMode
from foliot.domain.schedule.schedule import Catchup, Overlap
from foliot.domain.schedule.tick import JitterMode
from foliot.domain.workflow.spec import Answer, StepOverlap

_DAY: Final = 86_400
_CATCHUP: Final = one_of((*Catchup, "fire_immediately", "skip"))
_OVERLAP: Final = one_of(tuple(Overlap))
_PAUSED: Final = {"paused": "Pausing is not part of a definition. Use: foliot pause, foliot resume."}

# -- sections

SCHEDULER: Final = (
    Key("tick_ms", whole(10, 60_000), "tick"),
    Key("lookahead_ms", whole(0, _DAY * 1_000), "lookahead"),
    Key("grace_sec", span(0, _DAY), "grace", aliases=("misfire_grace_sec",)),
    Key("max_catchup_per_tick", whole(1, 100_000)),
    Key("max_waiting", whole(1, 100_000)),
)
WEB: Final = (
    Key("host", TEXT),
    Key("port", whole(0, 65_535)),
    Key("admin_token", TEXT),
    Key("session_secret", TEXT),
)
SERVER_DEFAULTS: Final = (
    Key("default_overlap_policy", _OVERLAP, "overlap"),
    Key("default_catchup_policy", _CATCHUP, "catchup"),
    Key("default_jitter_ms", WHOLE, "jitter_ms"),
)
NODE: Final = (
    Key("name", TEXT, aliases=("label",)),
    Key("mode", one_of(get_args(Mode))),
    Key("roles", list_of(one_of(ROLES))),
    Key("queues", TEXTS),
    Key("slots", whole(1, 100_000)),
    Key("lease_sec", span(1, _DAY), "lease"),
    Key("poll_sec", span(0.01, 3_600), "poll"),
    Key("drain_sec", span(0, _DAY), "drain"),
    Key("allow_users", TEXTS),
    Key("allow_modules", list_of(MODULE)),
    Key("watch", FLAG),
    Key("loop", one_of(get_args(EventLoop))),
    Key("log_format", one_of(get_args(LogFormat))),
    Key("log_level", one_of(get_args(LogLevel))),
)
SERVER: Final = Schema(*NODE, *SCHEDULER, *SERVER_DEFAULTS, *WEB)
STORAGE: Final = Schema(Key("url", TEXT), Key("data_dir", TEXT), Key("db_path", TEXT), Key("log_dir", TEXT))
QUEUE: Final = Schema(Key("url", TEXT))
RETENTION: Final = Schema(
    Key("runs", AGE, "runs_age"),
    Key("runs_per_job", COUNT),
    Key("logs", AGE, "logs_age"),
    Key("ticks", AGE, "ticks_age"),
    Key("events", AGE, "events_age"),
    Key("executions_per_workflow", COUNT),
    Key("executions", AGE, "executions_age"),
)
OUTBOUND: Final = Schema(Key("block_private", FLAG), Key("allow", TEXTS))

# -- schedules

RULE: Final = (
    Key("schedule", TEXT, "cron_expr", aliases=("cron", "cron_expr")),
    Key("every", SPAN, "interval", aliases=("interval",)),
    Key("at", MOMENT),
    Key("manual", FLAG),
)
POLICY: Final = (
    Key("timezone", TEXT),
    Key("start_at", MOMENT),
    Key("end_at", MOMENT),
    Key("jitter_ms", WHOLE),
    Key("jitter_mode", one_of(tuple(JitterMode))),
    Key("overlap", _OVERLAP, "overlap_policy", aliases=("overlap_policy",)),
    Key("catchup", _CATCHUP, "catchup_policy", aliases=("catchup_policy",)),
    Key("catchup_max_age_sec", SPAN),
    Key("dst", one_of(get_args(Dst))),
    Key("dom_dow", one_of(get_args(DomDow))),
)
PAYLOAD: Final = Key("payload", DOCUMENT)
SCHEDULE: Final = Schema(Key("name", TEXT), *RULE, *POLICY, PAYLOAD, hints=_PAUSED)

# -- jobs

IDENTITY: Final = (
    Key("id", TEXT),
    Key("was", TEXT),
    Key("kind", TEXT),
    Key("enabled", FLAG),
    Key("executor", one_of(("local", "worker"))),
    Key("schedules", TABLES, is_literal=True),
)
DESCRIPTION: Final = (
    Key("name", TEXT),
    Key("description", TEXT),
    Key("category", TEXT),
    Key("owner", TEXT),
    Key("tags", TEXTS),
    Key("labels", TEXTS),
    Key("payload", DOCUMENT, "payload_template"),
)
OPTIONS: Final = (
    Key("timeout_sec", SPAN, "timeout"),
    Key("max_concurrent", whole(0, 1_000_000)),
    Key("retry_count", WHOLE, "retries"),
    Key("retry_delay_sec", SPAN, "retry_delay"),
    Key("retry_factor", NUMBER),
    Key("retry_cap_sec", SPAN, "retry_cap"),
    Key("retry_jitter", NUMBER),
    Key("retry_delays_sec", list_of(SPAN), "retry_delays"),
    Key("queue", TEXT),
    Key("priority", WHOLE),
    Key("concurrency_key", TEXT),
    Key("concurrency_limit", WHOLE),
    Key("delivery", one_of(tuple(Delivery))),
    Key("max_lost", WHOLE),
)
LIMITS: Final = Schema(
    Key("memory", SIZE),
    Key("cpu_sec", WHOLE),
    Key("files", WHOLE),
    Key("processes", WHOLE),
    Key("file_size", SIZE),
    Key("core", SIZE),
)
NOTICES: Final = (Key("webhook_url", TEXT), Key("slack_webhook_url", TEXT))
ARGS: Final = Schema(
    Key("model", TEXT), Key("permission_mode", TEXT), Key("bare", FLAG), Key("extra_args", TEXTS), *NOTICES
)

# -- what each kind of job says

_COMMAND: Final = Key("command", TEXT, is_literal=True)
_ARGS: Final = Key("args", TABLE, is_merged=True, table=ARGS)
_OUTPUT_CAP: Final = Key("output_cap", SIZE)
_STDIN: Final = Key("stdin", TEXT, is_literal=True)
_OUTPUT: Final = Key("output", one_of(get_args(OutputMode)))
PROCESS: Final = (
    Key("env", PAIRS, is_merged=True),
    Key("working_dir", TEXT),
    Key("user", TEXT),
    Key("umask", MASK),
    Key("limits", TABLE, is_merged=True, table=LIMITS),
    Key("grace_sec", SECONDS, "grace"),
    _OUTPUT_CAP,
)
KIND_KEYS: Final[Mapping[str, Schema]] = {
    "shell": Schema(_COMMAND, Key("argv", TEXTS, is_literal=True), _STDIN, _ARGS, _OUTPUT, *PROCESS),
    "http": Schema(
        _COMMAND,
        Key("url", TEXT),
        Key("method", TEXT),
        Key("headers", PAIRS, is_merged=True),
        Key("body", TEXT),
        Key("json", DOCUMENT),
        Key("expect_status", Reader("status, range or list of them", read_statuses)),
        Key("follow", FLAG),
        Key("max_redirects", WHOLE),
        Key("verify", FLAG),
        _ARGS,
        _OUTPUT_CAP,
        _OUTPUT,
    ),
    "python": Schema(_COMMAND, Key("call", TEXT), _ARGS, *PROCESS),
    "agent": Schema(
        _COMMAND,
        Key("prompt", TEXT, is_literal=True),
        Key("cli", TEXTS),
        Key("prompt_args", TEXTS),
        _STDIN,
        _ARGS,
        _OUTPUT,
        *PROCESS,
    ),
}
REDUCER: Final = Schema(
    Key("command", TEXT, is_literal=True), Key("run_on", one_of(("success", "always", "any_success")))
)
LATER_KINDS: Final[Mapping[str, Schema]] = {
    "fanout": Schema(
        Key("inputs_from", TEXT),
        Key("concurrency", WHOLE),
        Key("per_item_timeout_sec", SPAN),
        Key("partial_tolerance", NUMBER),
        Key("item_var", TEXT),
        Key("reducer", TABLE, table=REDUCER),
    ),
}
GATE_KIND: Final = "workflow"
"""A job of this kind is a gate by name; what it does is said by the keys of another kind."""
GATE_ALIAS: Final = "gate"
INNER_KIND: Final = Key("inner_kind", TEXT)
HOMES: Final[Mapping[str, Schema]] = {**KIND_KEYS, GATE_KIND: Schema(INNER_KIND), **LATER_KINDS}
"""Which keys belong to which kind."""

# -- gates: what any job may ask of others

_ACTION: Final = one_of(tuple(Action))
_WINDOW: Final = span(0, MAX_WINDOW / SECOND)
PARTIAL: Final = Key("partial_counts_as", one_of(("success", "failed")))
GATE: Final = (
    Key("depends_on", TEXTS),
    Key("window", one_of(tuple(WindowKind)), "window_kind"),
    Key("window_sec", _WINDOW, "window"),
    Key("on_missing", _ACTION),
    Key("on_dep_fail", _ACTION),
    Key("wait_sec", _WINDOW, "wait"),
    Key("cooldown_sec", _WINDOW, "cooldown"),
    PARTIAL,
)


def _union(*groups: tuple[Key, ...]) -> tuple[Key, ...]:
    """Each key once."""
    return tuple({key.name: key for group in groups for key in group}.values())


OF_KINDS: Final = _union(*(schema.keys for schema in HOMES.values()))
_JOB: Final = _union(IDENTITY, DESCRIPTION, OPTIONS, RULE, POLICY, GATE, OF_KINDS)
_EACH_ITS_OWN: Final = frozenset(
    {"id", "was", "name", "description", "schedules", "command", "argv", "url", "call", "prompt"}
    | {"depends_on", "inner_kind"}
)
JOB: Final = Schema(*_JOB, hints=_PAUSED)
DEFAULTS: Final = Schema(*(key for key in _JOB if key.name not in _EACH_ITS_OWN and key not in RULE), hints=_PAUSED)

# -- workflows


def _only(keys: tuple[Key, ...], *names: str) -> tuple[Key, ...]:
    return tuple(key for key in keys if key.name in names)


EXECUTION: Final = _only(OPTIONS, "timeout_sec", "max_concurrent", "queue", "priority")
"""How the executions of a workflow are handled."""
FOR_WHOM: Final = Key("user_id", TEXT)
WORKFLOW_SCHEDULE: Final = Schema(*SCHEDULE, FOR_WHOM, hints=_PAUSED)
TRIGGER: Final = Schema(Key("type", TEXT), *WORKFLOW_SCHEDULE, hints=_PAUSED)
"""A schedule by the name that a graph from elsewhere has for it."""
SCHEDULE_BASED: Final = "schedule_based"
WORKFLOW: Final = Schema(
    *_only(IDENTITY, "id", "was", "enabled", "schedules"),
    *_only(DESCRIPTION, "description", "owner", "tags"),
    Key("triggers", TABLES, is_literal=True),
    FOR_WHOM,
    Key("params", VALUES),
    *EXECUTION,
    PARTIAL,
    Key("final_on_cancel", FLAG),
    Key("steps", TABLES, is_literal=True),
    *RULE,
    *POLICY,
    hints={**_PAUSED, "payload": "Use params."},
)
WORKFLOW_DEFAULTS: Final = frozenset({"enabled", "owner", "tags", "queue", "priority"} | {key.name for key in POLICY})
"""What of [defaults] holds for a workflow. Bounds of jobs are for its steps: it lasts longer than any of them."""
EDGE: Final = Schema(
    Key("step", TEXT),
    Key("when", list_of(CONDITION)),
    Key("exit_code", list_of(WHOLE)),
    Key("contains", TEXT),
    Key("path", TEXT),
    Key("equals", DOCUMENT),
)
APPROVAL: Final = Schema(Key("timeout_sec", SPAN, "timeout"), Key("default", one_of(tuple(Answer))))
_AS_IT_IS: Final = TABLES.read
STEP_ONLY: Final = (
    Key("name", TEXT),
    Key("after", Reader("step or list of steps", _AS_IT_IS), is_literal=True),
    Key("trigger_rule", CONDITION),
    Key("final", FLAG),
    Key("job", TEXT),
    Key("approve", Reader("true or table", _AS_IT_IS), is_literal=True),
    Key("overlap", one_of(tuple(StepOverlap))),
    PAYLOAD,
)
STEP_WORK: Final = _union(
    _only(IDENTITY, "kind"),
    _only(DESCRIPTION, "description", "category", "owner", "tags", "labels"),
    OPTIONS,
    *(schema.keys for schema in KIND_KEYS.values()),
    (*GATE, INNER_KIND, *_only(POLICY, "timezone")),
)
"""What a step says that does something of its own: the keys of a job."""
STEP: Final = Schema(*STEP_ONLY, *STEP_WORK, hints={"id": "Use name."})

# -- the file

SECTIONS: Final[Mapping[str, Schema]] = {
    "server": SERVER,
    "storage": STORAGE,
    "queue": QUEUE,
    "defaults": DEFAULTS,
    "retention": RETENTION,
    "outbound": OUTBOUND,
}
LATER_SECTIONS: Final = ("chains", "github", "grimoire")
ROOT: Final = Schema(
    *(Key(name, TABLES, is_literal=True) for name in ("include", "jobs", "workflows", *SECTIONS, *LATER_SECTIONS)),
)
