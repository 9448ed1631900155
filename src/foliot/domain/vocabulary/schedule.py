"""The options of a schedule: when a job or a workflow runs."""

from typing import Final, get_args

from foliot.domain.cron import DomDow, Dst
from foliot.domain.instant import SECOND
from foliot.domain.schedule.schedule import MAX_AGE, MAX_JITTER, Catchup, Overlap
from foliot.domain.schedule.tick import JitterMode
from foliot.domain.vocabulary.field import Alias, Field
from foliot.domain.vocabulary.readers import DOCUMENT, FLAG, RAW_TEXT, TEXT, WHOLE, one_of, word_of
from foliot.domain.vocabulary.times import EVERY, MOMENT, duration, in_millis

_JITTER: Final = duration(0, MAX_JITTER / SECOND)
OVERLAP: Final = Field(
    "overlap",
    word_of(Overlap),
    "What a tick does while a run of its schedule is under way.",
    '"skip"',
    aliases=(Alias("overlap_policy"),),
)
CATCHUP: Final = Field(
    "catchup",
    word_of(Catchup, also={"fire_immediately": Catchup.ALL, "skip": Catchup.NONE}),
    "What happens to missed ticks: nothing, one run for all, or a run for each, at once or spread out."
    " `fire_immediately` is `all`, `skip` is `none`.",
    '"none"',
    aliases=(Alias("catchup_policy"),),
)
JITTER: Final = Field(
    "jitter",
    _JITTER,
    "How far a tick may be beside its planned moment; at most half of the time between two ticks.",
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
        "The time between two runs, in whole seconds; changes of the clocks do not matter.",
        aliases=(Alias("interval"),),
    ),
    Field("at", MOMENT, "The moment of the only run."),
    Field("manual", FLAG, "Whether it runs only when it is triggered.", "false"),
)
"""One of them says when a schedule fires."""
TIMEZONE: Final = Field("timezone", RAW_TEXT, "An IANA name: `Europe/Berlin`.", '"UTC"')
POLICY: Final = (
    TIMEZONE,
    Field("start_at", MOMENT, "Nothing is planned before this moment."),
    Field("end_at", MOMENT, "Nothing is planned after this moment."),
    JITTER,
    Field("jitter_mode", word_of(JitterMode), "Before or after the planned moment, or only after.", '"around"'),
    OVERLAP,
    CATCHUP,
    Field(
        "catchup_max_age",
        duration(0, MAX_AGE / SECOND),
        "How old a missed tick may be to be made up for.",
        aliases=(Alias("catchup_max_age_sec"),),
    ),
    Field("dst", one_of(get_args(Dst)), "What a change of the clocks does, see [cron](cron.md).", '"vixie"'),
    Field(
        "dom_dow",
        one_of(get_args(DomDow)),
        "Whether a day must match one or both of day-of-month and day-of-week.",
        '"or"',
    ),
)
PAYLOAD: Final = Field("payload", DOCUMENT, "What the runs of this schedule are given.")
NAME: Final = Field("name", TEXT, "Without a colon. The schedule's id is `<job id>:<name>`.", '"default"')
USER: Final = Field(
    "user_id",
    TEXT,
    "For whom its schedules start it; passed to the launcher of the application. Each schedule may have its own.",
)
TARGET: Final = (
    Field("job_id", TEXT, "The job that it starts."),
    Field("workflow_id", TEXT, "The workflow that it starts."),
    Field("version", WHOLE, "The version of the workflow; without it, the newest one."),
    USER.means("For whom it starts the workflow."),
)
"""What a schedule starts, where that is not the job or workflow it is written in."""
