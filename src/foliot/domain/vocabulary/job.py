"""The options of a job that do not depend on its kind."""

from typing import Final

from foliot.domain.gate.spec import MAX_WINDOW, Action, WindowKind
from foliot.domain.instant import SECOND
from foliot.domain.job.job import MAX_FAILURES, Delivery
from foliot.domain.run.lane import Executor
from foliot.domain.vocabulary.field import Alias, Field
from foliot.domain.vocabulary.readers import (
    DOCUMENT,
    NUMBER,
    TABLES,
    TEXT,
    TEXTS,
    WHOLE,
    list_of,
    one_of,
    or_none,
    whole,
    word_of,
)
from foliot.domain.vocabulary.schedule import ENABLED
from foliot.domain.vocabulary.times import DURATION, duration
from foliot.errors import InvalidInput

IDENTITY: Final = (
    Field("id", TEXT, "The permanent id: letters, digits, `_ . : @ -`. The only required key."),
    Field(
        "renamed_from",
        TEXT,
        "The former id: history and schedules move to the new id. May stay in the file.",
        former=("was",),
    ),
    Field(
        "kind",
        TEXT,
        "`shell`, `http`, `python`, `agent` (also `claude`), `fanout`, or `workflow` (also `gate`): see"
        " [Gates](#gates).",
        '"shell"',
    ),
    ENABLED.means("If false, ticks of the job are skipped with the reason `disabled`. `paused = true` means the same."),
    Field("schedules", TABLES, "`[[jobs.schedules]]`, see below.", is_literal=True),
)
DESCRIPTION: Final = (
    Field("name", TEXT, "A display name.", '""'),
    Field("description", TEXT, "The purpose of the job.", '""'),
    Field("category", TEXT, "A group for lists.", '"default"'),
    Field("owner", TEXT, "The person or team that is responsible.", '""'),
    Field("tags", TEXTS, "Words to filter by.", "[]"),
    Field(
        "pause_after_failures",
        or_none(whole(0, MAX_FAILURES)),
        "After so many failed runs in a row the schedules of the job are paused. `0`: never.",
        "0",
        takes_none=True,
    ),
    Field(
        "payload",
        DOCUMENT,
        "The payload of runs, unless a schedule or a caller gives another one.",
        fills="payload_template",
    ),
)

# -- how runs are handled

_DURATION_OR_NONE: Final = or_none(DURATION)
TIMEOUT: Final = Field(
    "timeout",
    _DURATION_OR_NONE,
    "The longest duration of one attempt. `0`: no limit; for `http`, 30 seconds.",
    "0",
    aliases=(Alias("timeout_sec"),),
)
OPTIONS: Final = (
    TIMEOUT,
    Field(
        "max_concurrent",
        or_none(whole(0, 1_000_000)),
        "How many runs of the job may be running at the same time. `0`: no limit.",
        "1",
        takes_none=True,
    ),
    Field(
        "retries",
        WHOLE,
        "How often a failed run is retried.",
        "0",
        fills="retry.retries",
        aliases=(Alias("retry_count"),),
    ),
    Field(
        "retry_delay",
        DURATION,
        "The delay before the first retry.",
        "30",
        fills="retry.base",
        aliases=(Alias("retry_delay_sec"),),
    ),
    Field("retry_factor", NUMBER, "The factor by which each further delay grows.", "2.0", fills="retry.factor"),
    Field("retry_cap", DURATION, "The longest delay.", "1800", fills="retry.cap", former=("retry_cap_sec",)),
    Field("retry_jitter", NUMBER, "The fraction, 0 to 1, by which delays vary at random.", "0.0", fills="retry.jitter"),
    Field(
        "retry_delays",
        list_of(DURATION),
        "A list of delays instead. Without `retries`, there are as many retries as delays.",
        "[]",
        fills="retry.delays",
        former=("retry_delays_sec",),
    ),
    Field("queue", TEXT, "The queue of the runs. Only workers of this queue execute them.", '"default"'),
    Field(
        "executor",
        word_of(Executor),
        "Which workers execute the runs: `local` those with the database, `worker` only remote ones.",
        '"any"',
    ),
    Field(
        "labels",
        TEXTS,
        "A worker needs all these labels to get the runs. Those that begin with `github:` choose no worker.",
        "[]",
    ),
    Field("priority", WHOLE, "-1000 to 1000; higher priorities go first.", "0"),
    Field("concurrency_key", TEXT, "Jobs with the same key share a limit.", takes_none=True),
    Field("concurrency_limit", WHOLE, "How many runs with the same key may be running at the same time.", "1"),
    Field("delivery", word_of(Delivery), "Whether a run is retried after its worker was lost.", '"at_least_once"'),
    Field("max_lost", WHOLE, "How often a run is retried after its worker was lost.", "3"),
)

# -- gates

_LONGEST: Final = MAX_WINDOW / SECOND
_GATE_DURATION: Final = duration(0, _LONGEST)
_KINDS: Final = tuple(kind.value for kind in WindowKind)


def _window(value: object) -> object:
    if value in _KINDS:
        raise InvalidInput(f"{value!a} is not a duration", hint=f'Use window_kind = "{value}".')
    return _GATE_DURATION.read(value)


PARTIAL: Final = Field(
    "partial_counts_as",
    one_of(("success", "failed")),
    "What a `partial` run of a dependency counts as.",
    '"success"',
)
DEPENDS_ON: Final = Field(
    "depends_on", TEXTS, "The dependencies: jobs or workflows of these files, or steps as `<workflow>.<step>`."
)
GATE: Final = (
    DEPENDS_ON,
    Field(
        "window",
        _GATE_DURATION._replace(read=_window),
        "How far before the planned time runs of dependencies count; with `since_last_success`, only before the first"
        " success.",
        "86400",
        aliases=(Alias("window_sec"),),
    ),
    Field(
        "window_kind",
        word_of(WindowKind),
        "Where the window starts: `window` before the planned time, at the last success of this job, or at midnight in"
        " its `timezone`.",
        '"sliding"',
    ),
    Field(
        "on_missing",
        word_of(Action),
        "What happens if a dependency has no run in the window, or its latest run was skipped.",
        '"skip"',
    ),
    Field(
        "on_dep_fail",
        word_of(Action),
        "What happens if the latest run of a dependency failed, timed out or was cancelled.",
        '"skip"',
    ),
    Field(
        "wait",
        _GATE_DURATION,
        "How long after its planned time the job waits for a dependency that is due or running.",
        "0",
        former=("wait_sec",),
    ),
    Field(
        "cooldown",
        _GATE_DURATION,
        "For how long after a declined run further runs are skipped.",
        "0",
        aliases=(Alias("cooldown_sec"),),
    ),
    PARTIAL,
)
