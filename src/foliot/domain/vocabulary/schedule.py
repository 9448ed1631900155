"""The options of a schedule: when a job or a workflow runs."""

from typing import Final, get_args

from foliot.domain.cron import DomDow, Dst
from foliot.domain.instant import SECOND
from foliot.domain.schedule.schedule import MAX_AGE, MAX_JITTER, Catchup, Overlap
from foliot.domain.schedule.tick import JitterMode
from foliot.domain.vocabulary.field import Alias, Field
from foliot.domain.vocabulary.readers import DOCUMENT, FLAG, NEGATED_FLAG, RAW_TEXT, TEXT, WHOLE, one_of, word_of
from foliot.domain.vocabulary.times import EVERY, MOMENT, duration, in_millis

_JITTER: Final = duration(0, MAX_JITTER / SECOND)
OVERLAP: Final = Field(
    "overlap",
    word_of(Overlap),
    "What happens to a tick while an earlier run of its schedule is not over: the run starts anyway, the tick is"
    " skipped, the run waits, or the earlier runs are cancelled.",
    '"skip"',
    aliases=(Alias("overlap_policy"),),
)
CATCHUP: Final = Field(
    "catchup",
    word_of(Catchup, also={"fire_immediately": Catchup.ALL, "skip": Catchup.NONE}),
    "What happens to missed ticks: no run, one run for all, a run for each immediately, or a run for each spread over"
    " `lookahead`. `fire_immediately` means `all`, `skip` means `none`.",
    '"none"',
    aliases=(Alias("catchup_policy"),),
)
JITTER: Final = Field(
    "jitter",
    _JITTER,
    "How far a tick may be moved from its planned time; at most half of the time between two ticks.",
    "0",
    aliases=(Alias("jitter_ms", in_millis(_JITTER)),),
)
CRON: Final = Field(
    "cron",
    TEXT,
    "A [cron expression](cron.md), or `@daily`, `@every 90s`, `@triggered`.",
    aliases=(Alias("schedule"), Alias("cron_expr")),
)
RULE: Final = (
    CRON,
    Field(
        "every",
        EVERY,
        "The time between two ticks, in whole seconds. Summer time has no effect.",
        aliases=(Alias("interval"),),
    ),
    Field("at", MOMENT, "The time of the only tick."),
    Field("manual", FLAG, "If true, it runs only when it is triggered.", "false"),
)
"""A schedule has exactly one of these."""
TIMEZONE: Final = Field("timezone", RAW_TEXT, "The IANA time zone, such as `Europe/Berlin`.", '"UTC"')
POLICY: Final = (
    TIMEZONE,
    Field("start_at", MOMENT, "The schedule has no ticks before this time."),
    Field("end_at", MOMENT, "The schedule has no ticks after this time."),
    JITTER,
    Field(
        "jitter_mode", word_of(JitterMode), "Whether jitter moves ticks in both directions or only later.", '"around"'
    ),
    OVERLAP,
    CATCHUP,
    Field(
        "catchup_max_age",
        duration(0, MAX_AGE / SECOND),
        "The oldest missed tick that is still caught up.",
        aliases=(Alias("catchup_max_age_sec"),),
    ),
    Field(
        "skip_if_successful",
        FLAG,
        "If true, a tick is skipped if the job has succeeded since the planned time before it, for example started by"
        " hand.",
        "false",
    ),
    Field(
        "dst",
        one_of(get_args(Dst)),
        "The rule for clock changes, see [cron](cron.md#when-the-clock-is-changed).",
        '"vixie"',
    ),
    Field(
        "dom_dow",
        one_of(get_args(DomDow)),
        "Whether a day must match one (`or`) or both (`and`) of day-of-month and day-of-week.",
        '"or"',
    ),
)
ENABLED: Final = Field(
    "enabled",
    FLAG,
    "If false, ticks of the schedule are skipped with the reason `disabled`. `paused = true` means the same.",
    "true",
    aliases=(Alias("paused", NEGATED_FLAG),),
)
PAYLOAD: Final = Field("payload", DOCUMENT, "The payload of the runs of this schedule.")
NAME: Final = Field(
    "name", TEXT, "The name, without a colon. The id of the schedule is `<job id>:<name>`.", '"default"'
)
USER: Final = Field(
    "user_id",
    TEXT,
    "The user for whom schedules start it; passed to the launcher of the application. Each schedule may have its own.",
)
TARGET: Final = (
    Field("job_id", TEXT, "The job that it starts."),
    Field("workflow_id", TEXT, "The workflow that it starts."),
    Field("version", WHOLE, "The version of the workflow; without it, the newest one."),
    USER.means("The user for whom it starts the workflow."),
)
"""The job or workflow that a schedule starts, if the schedule is not declared inside it."""
