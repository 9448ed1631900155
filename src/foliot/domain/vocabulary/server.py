"""The sections of a configuration file that say how a server behaves."""

from typing import Final, Literal, get_args

from foliot.domain.vocabulary.field import Alias, Field, Schema
from foliot.domain.vocabulary.readers import COUNT, FLAG, MODULE, TEXT, TEXTS, list_of, one_of, whole
from foliot.domain.vocabulary.schedule import CATCHUP, JITTER, OVERLAP
from foliot.domain.vocabulary.times import AGE, duration, in_millis

Mode = Literal["production", "development"]
LogFormat = Literal["auto", "text", "json"]
EventLoop = Literal["auto", "asyncio", "uvloop"]
LogLevel = Literal["debug", "info", "warning", "error"]

ROLES: Final = ("scheduler", "coordinator", "worker")
_DAY: Final = 86_400
_TICK: Final = duration(0.01, 60)
_LOOKAHEAD: Final = duration(0, _DAY)

NODE: Final = (
    Field(
        "name",
        TEXT,
        "What this process is called in listings; empty: host and process id.",
        '""',
        aliases=(Alias("label"),),
    ),
    Field(
        "mode",
        one_of(get_args(Mode)),
        "In production requests of jobs to private addresses are blocked.",
        '"development"',
    ),
    Field(
        "roles",
        list_of(one_of(ROLES)),
        "What this process does. A scheduler is always a coordinator, too.",
        '["scheduler", "coordinator", "worker"]',
    ),
    Field("queues", TEXTS, "The queues it works on.", '["default"]'),
    Field("concurrency", whole(1, 100_000), "How many runs at once.", "100", fills="slots", former=("slots",)),
    Field(
        "lease",
        duration(1, _DAY),
        "After this long a silent worker counts as gone, and its runs are tried again.",
        "60",
        former=("lease_sec",),
    ),
    Field("poll", duration(0.01, 3_600), "The longest rest of a loop that waits for work.", "1", former=("poll_sec",)),
    Field(
        "drain",
        duration(0, _DAY),
        "How long running work may go on when the server is stopped.",
        "30",
        former=("drain_sec",),
    ),
    Field(
        "allow_users",
        TEXTS,
        "The accounts that jobs may name as `user`; without it any that the worker can run as, with `[]` none.",
    ),
    Field(
        "allow_modules",
        list_of(MODULE),
        "The modules that `call` of a Python job may name, each with all that is inside it; without it any.",
    ),
    Field("watch", FLAG, "Whether to reload when a file changes.", "false"),
    Field(
        "loop",
        one_of(get_args(EventLoop)),
        "The event loop. `auto`: uvloop where it is installed (`pip install 'foliot[uvloop]'`), which needs less"
        " processor time for each run.",
        '"auto"',
    ),
    Field("log_format", one_of(get_args(LogFormat)), "`auto`: text at a terminal, else JSON.", '"auto"'),
    Field(
        "log_level",
        one_of(get_args(LogLevel)),
        "The least that the server logs. The logs of runs have `info` and above in any case.",
        '"info"',
    ),
    Field(
        "echo",
        FLAG,
        "Whether the server also prints what functions in its process print and log.",
        "false",
    ),
)
SCHEDULER: Final = (
    Field("tick", _TICK, "The longest sleep of the scheduler.", "1", aliases=(Alias("tick_ms", in_millis(_TICK)),)),
    Field(
        "lookahead",
        _LOOKAHEAD,
        'Over how long `catchup = "spread"` spreads.',
        "60",
        aliases=(Alias("lookahead_ms", in_millis(_LOOKAHEAD)),),
    ),
    Field(
        "misfire_grace",
        duration(0, _DAY),
        "A tick that is late by less is on time.",
        "5",
        fills="grace",
        former=("grace_sec", "misfire_grace_sec"),
    ),
    Field(
        "max_catchup_per_tick",
        whole(1, 100_000),
        "How many missed ticks of one schedule one round makes up for; the rest follows.",
        "100",
    ),
    Field(
        "max_waiting",
        whole(1, 100_000),
        'How many runs of one schedule with `overlap = "queue"` may wait.',
        "1000",
    ),
)


def _for_all(field: Field, alias: Alias) -> Field:
    """Return an option of schedules as the default of the server."""
    doc = f"The same as `{field.name}` in `[defaults]`, which has precedence."
    return Field(f"default_{field.name}", field.read, doc, field.default, fills=field.name, aliases=(alias,))


SERVER_DEFAULTS: Final = (
    _for_all(OVERLAP, Alias("default_overlap_policy")),
    _for_all(CATCHUP, Alias("default_catchup_policy")),
    _for_all(JITTER, Alias("default_jitter_ms", in_millis(JITTER.read))),
)
WEB: Final = (
    Field("host", TEXT, "For the HTTP server, which arrives with a later version.", '"127.0.0.1"'),
    Field("port", whole(0, 65_535), "For the HTTP server.", "7070"),
    Field("admin_token", TEXT, "For the HTTP server.", '""'),
    Field("session_secret", TEXT, "For the HTTP server.", '""'),
)
SERVER: Final = Schema(*NODE, *SCHEDULER, *SERVER_DEFAULTS, *WEB, owner="[server]")
STORAGE: Final = Schema(
    Field(
        "url",
        TEXT,
        "`sqlite:///relative.db`, `sqlite:////absolute.db` or `postgresql://user@host/database`.",
        '"sqlite:///foliot.db"',
    ),
    Field("data_dir", TEXT, "A directory: the database is `foliot.db` in it."),
    Field("db_path", TEXT, "The file of the database."),
    Field("log_dir", TEXT, "Ignored with a warning: logs are in the database."),
    owner="[storage]",
)
QUEUE: Final = Schema(
    Field(
        "url",
        TEXT,
        "`storage`: workers are notified by the database. Others arrive with a later version.",
        '"storage"',
    ),
    owner="[queue]",
)
RETENTION: Final = Schema(
    Field("runs", AGE, "Finished runs.", '"90d"', fills="runs_age"),
    Field(
        "runs_per_job",
        COUNT,
        "The newest so many finished runs of each job; those that are not over do not count.",
        "10000",
    ),
    Field("logs", AGE, "What runs printed.", '"30d"', fills="logs_age"),
    Field(
        "ticks",
        AGE,
        "The ledger of planned moments. A schedule that was deleted so long ago, or fired for the last time, is"
        " removed with the last of its ticks and runs.",
        '"400d"',
        fills="ticks_age",
    ),
    Field("events", AGE, "The stream of events.", '"7d"', fills="events_age"),
    Field("executions_per_workflow", COUNT, "The newest so many finished executions of each workflow.", "100"),
    Field(
        "executions",
        AGE,
        "Finished executions so long, with the runs of their steps; fewer of them where the count above says so.",
        '"never"',
        fills="executions_age",
    ),
    owner="[retention]",
)
OUTBOUND: Final = Schema(
    Field(
        "block_private",
        FLAG,
        "Whether requests to addresses outside the public internet are blocked; `true` in production mode.",
        "false",
    ),
    Field("allow", TEXTS, "Networks and hosts that pass: `10.1.0.0/16`, `intranet.example`, `10.1.2.3:8080`.", "[]"),
    owner="[outbound]",
)
