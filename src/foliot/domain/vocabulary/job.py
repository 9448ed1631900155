"""The options of a job that do not depend on its kind."""

from typing import Final

from foliot.domain.gate.spec import MAX_WINDOW, Action, WindowKind
from foliot.domain.instant import SECOND
from foliot.domain.job.job import Delivery
from foliot.domain.vocabulary.field import Alias, Field
from foliot.domain.vocabulary.readers import (
    DOCUMENT,
    FLAG,
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
from foliot.domain.vocabulary.times import DURATION, duration
from foliot.errors import InvalidInput

IDENTITY: Final = (
    Field("id", TEXT, "Its name for ever: letters, digits, `_ . : @ -`. The one key that every job needs."),
    Field(
        "renamed_from",
        TEXT,
        "Its former id: history and schedules move to the new id. May stay in the file.",
        former=("was",),
    ),
    Field(
        "kind",
        TEXT,
        "`shell`, `http`, `python`, `agent` (also `claude`), or `workflow` (also `gate`): see [Gates](#gates).",
        '"shell"',
    ),
    Field("enabled", FLAG, "A job that is not enabled keeps its schedules; its ticks are skipped (disabled).", "true"),
    Field("executor", one_of(("local", "worker")), "Choosing workers arrives with a later version.", '"local"'),
    Field("schedules", TABLES, "`[[jobs.schedules]]`, see below.", is_literal=True),
)
DESCRIPTION: Final = (
    Field("name", TEXT, "A title for people.", '""'),
    Field("description", TEXT, "What it is for.", '""'),
    Field("category", TEXT, "For grouping.", '"default"'),
    Field("owner", TEXT, "Whom to ask about it.", '""'),
    Field("tags", TEXTS, "For filters.", "[]"),
    Field("labels", TEXTS, "Choosing workers by labels arrives with a later version.", "[]"),
    Field(
        "payload",
        DOCUMENT,
        "What its runs are given unless a schedule or a caller gives something else.",
        fills="payload_template",
    ),
)

# -- how runs are handled

_DURATION_OR_NONE: Final = or_none(DURATION)
TIMEOUT: Final = Field(
    "timeout",
    _DURATION_OR_NONE,
    "How long one attempt may take. `0`: no limit, for `http` 30 seconds.",
    "0",
    aliases=(Alias("timeout_sec"),),
)
OPTIONS: Final = (
    TIMEOUT,
    Field(
        "max_concurrent",
        or_none(whole(0, 1_000_000)),
        "How many runs of the job at once. `0`: no limit.",
        "1",
        takes_none=True,
    ),
    Field(
        "retries",
        WHOLE,
        "How often a failed run is tried again.",
        "0",
        fills="retry.retries",
        aliases=(Alias("retry_count"),),
    ),
    Field(
        "retry_delay",
        DURATION,
        "The pause before the first retry.",
        "30",
        fills="retry.base",
        aliases=(Alias("retry_delay_sec"),),
    ),
    Field("retry_factor", NUMBER, "By which each further pause is longer.", "2.0", fills="retry.factor"),
    Field("retry_cap", DURATION, "The longest pause.", "1800", fills="retry.cap", former=("retry_cap_sec",)),
    Field("retry_jitter", NUMBER, "By which fraction, 0 to 1, pauses vary.", "0.0", fills="retry.jitter"),
    Field(
        "retry_delays",
        list_of(DURATION),
        "The pauses one by one instead; without `retries`, as many retries as there are pauses.",
        "[]",
        fills="retry.delays",
        former=("retry_delays_sec",),
    ),
    Field("queue", TEXT, "Only workers of this queue take the runs.", '"default"'),
    Field("priority", WHOLE, "-1000 to 1000, higher first.", "0"),
    Field("concurrency_key", TEXT, "Jobs with the same key share a limit.", takes_none=True),
    Field("concurrency_limit", WHOLE, "How many runs with the same key at once.", "1"),
    Field("delivery", word_of(Delivery), "Whether a run whose worker vanished is tried again.", '"at_least_once"'),
    Field("max_lost", WHOLE, "How often a run whose worker vanished is tried again at most.", "3"),
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
    "What a `partial` run of one of them counts as.",
    '"success"',
)
DEPENDS_ON: Final = Field("depends_on", TEXTS, "Jobs or workflows of these files; a step is `<workflow>.<step>`.")
GATE: Final = (
    DEPENDS_ON,
    Field(
        "window",
        _GATE_DURATION._replace(read=_window),
        "How far back a run counts, from the planned moment; with `since_last_success`, until there is a success.",
        "86400",
        aliases=(Alias("window_sec"),),
    ),
    Field(
        "window_kind",
        word_of(WindowKind),
        "Since when a run counts: the last `window`, this job's own last success, or midnight in its `timezone`.",
        '"sliding"',
    ),
    Field(
        "on_missing",
        word_of(Action),
        "What it does when one of them has no run in the window, or was skipped itself.",
        '"skip"',
    ),
    Field(
        "on_dep_fail",
        word_of(Action),
        "What it does when the latest run of one has failed, timed out or was cancelled.",
        '"skip"',
    ),
    Field(
        "wait",
        _GATE_DURATION,
        "How long after its planned moment it waits for one that is due or running.",
        "0",
        former=("wait_sec",),
    ),
    Field(
        "cooldown",
        _GATE_DURATION,
        "How long it does not look again after it has declined.",
        "0",
        aliases=(Alias("cooldown_sec"),),
    ),
    PARTIAL,
)
