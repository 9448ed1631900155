"""The options of the sections of a configuration file: server, storage, queue, retention, outbound and fanout."""

import re
from typing import Final, Literal, get_args

from foliot.domain.vocabulary.field import Alias, Field, Schema
from foliot.domain.vocabulary.notification import WEB_ADDRESS
from foliot.domain.vocabulary.readers import COUNT, FLAG, MODULE, TEXT, TEXTS, list_of, one_of, whole
from foliot.domain.vocabulary.schedule import CATCHUP, JITTER, OVERLAP
from foliot.domain.vocabulary.times import AGE, duration, in_millis
from foliot.errors import InvalidInput

Mode = Literal["production", "development"]
LogFormat = Literal["auto", "text", "json"]
EventLoop = Literal["auto", "asyncio", "uvloop"]
LogLevel = Literal["debug", "info", "warning", "error"]

ROLES: Final = ("scheduler", "coordinator", "worker", "api")
_DAY: Final = 86_400
_BASE_PATH: Final = re.compile(r"(/[A-Za-z0-9_.-]+)*")


def _base_path(value: object) -> str:
    path = str(TEXT.read(value)).rstrip("/")
    if not _BASE_PATH.fullmatch(path) or "/." in path:
        raise InvalidInput(f"{value!a} is not a path", hint='Begin with a slash: "/foliot".')
    return path


BASE_PATH: Final = TEXT._replace(read=_base_path)
_TICK: Final = duration(0.01, 60)
_LOOKAHEAD: Final = duration(0, _DAY)

NODE: Final = (
    Field(
        "name",
        TEXT,
        "The name of this process in lists; by default host and process id.",
        '""',
        aliases=(Alias("label"),),
    ),
    Field(
        "mode",
        one_of(get_args(Mode)),
        "In production, every API request needs credentials, and requests of jobs to private addresses are blocked.",
        '"development"',
    ),
    Field(
        "roles",
        list_of(one_of(ROLES)),
        "The roles of this process. A scheduler is always a coordinator too. `api`: it serves the HTTP API.",
        '["scheduler", "coordinator", "worker", "api"]',
    ),
    Field("queues", TEXTS, "The queues of the worker.", '["default"]'),
    Field(
        "concurrency",
        whole(1, 100_000),
        "How many runs may be running at the same time.",
        "100",
        fills="slots",
        former=("slots",),
    ),
    Field(
        "lease",
        duration(1, _DAY),
        "How long after its last heartbeat a worker is considered lost, and its runs are retried.",
        "60",
        former=("lease_sec",),
    ),
    Field(
        "poll",
        duration(0.01, 3_600),
        "How often loops check the storage if no signal arrives.",
        "1",
        former=("poll_sec",),
    ),
    Field(
        "drain",
        duration(0, _DAY),
        "How long running attempts may continue when the server stops.",
        "30",
        former=("drain_sec",),
    ),
    Field(
        "allow_users",
        TEXTS,
        "The accounts that jobs may use as `user`; by default any that the worker can use. `[]`: no account.",
    ),
    Field(
        "allow_modules",
        list_of(MODULE),
        "The modules that `call` of Python jobs may name, with their submodules; by default any.",
    ),
    Field(
        "public_url",
        WEB_ADDRESS,
        "The address of this server for people, such as `https://foliot.example.org`. Links in notifications begin"
        " with it, and the HTTP API then refuses requests for other hosts.",
        '""',
    ),
    Field("watch", FLAG, "Whether to reload when a file changes.", "false"),
    Field(
        "loop",
        one_of(get_args(EventLoop)),
        "The event loop. `auto`: uvloop if it is installed (`pip install 'foliot[uvloop]'`), which needs less processor"
        " time per run.",
        '"auto"',
    ),
    Field(
        "log_format",
        one_of(get_args(LogFormat)),
        "The format of the log. `auto`: text on a terminal, otherwise JSON.",
        '"auto"',
    ),
    Field(
        "log_level",
        one_of(get_args(LogLevel)),
        "The lowest level that the server logs. The logs of runs contain `info` and above in any case.",
        '"info"',
    ),
    Field("echo", FLAG, "Whether the server also prints what functions in its process print and log.", "false"),
)
SCHEDULER: Final = (
    Field(
        "tick",
        _TICK,
        "How often the scheduler checks for due schedules if no signal arrives.",
        "1",
        fills="poll",
        aliases=(Alias("tick_ms", in_millis(_TICK)),),
    ),
    Field(
        "lookahead",
        _LOOKAHEAD,
        'The time over which `catchup = "spread"` distributes missed ticks.',
        "60",
        aliases=(Alias("lookahead_ms", in_millis(_LOOKAHEAD)),),
    ),
    Field(
        "misfire_grace",
        duration(0, _DAY),
        "How late a tick may be and still be on time.",
        "5",
        fills="grace",
        former=("grace_sec", "misfire_grace_sec"),
    ),
    Field(
        "max_catchup_per_tick",
        whole(1, 100_000),
        "How many missed ticks of one schedule are caught up in one round; the rest follows in later rounds.",
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
    Field(
        "host",
        TEXT,
        "The address that the HTTP API listens on. An address that other machines can reach needs credentials.",
        '"127.0.0.1"',
    ),
    Field(
        "port",
        whole(0, 65_535),
        "The port of the HTTP API, by default 7070. `0`: any free one. If the default is in use, the server starts"
        " without the API.",
    ),
    Field("base_path", BASE_PATH, "A prefix of all paths of the HTTP API, such as `/foliot`, behind a proxy.", '""'),
    Field("tls_cert", TEXT, "The file with the certificate of the HTTP API, in PEM. Without it: no TLS.", '""'),
    Field("tls_key", TEXT, "The file with the key of the certificate.", '""'),
    Field(
        "tls_client_ca", TEXT, "The file with the certificates that must have signed those of clients, in PEM.", '""'
    ),
    Field("admin_token", TEXT, "The token of the administrator.", '""', has_effect=False),
    Field("session_secret", TEXT, "The secret that signs sessions.", '""', has_effect=False),
)
SERVER: Final = Schema(*NODE, *SCHEDULER, *SERVER_DEFAULTS, *WEB, owner="[server]")
STORAGE: Final = Schema(
    Field(
        "url",
        TEXT,
        "`sqlite:///relative.db`, `sqlite:////absolute.db` or `postgresql://user@host/database`.",
        '"sqlite:///foliot.db"',
    ),
    Field("data_dir", TEXT, "A directory. The database is the file `foliot.db` in it."),
    Field("db_path", TEXT, "The path of the database file."),
    Field("log_dir", TEXT, "Ignored: logs are stored in the database.", has_effect=False),
    owner="[storage]",
)
QUEUE: Final = Schema(
    Field("url", TEXT, "`storage`, the only value: the database notifies workers.", '"storage"'),
    owner="[queue]",
)
RETENTION: Final = Schema(
    Field("runs", AGE, "How long finished runs are kept.", '"90d"', fills="runs_age"),
    Field(
        "runs_per_job",
        COUNT,
        "How many finished runs of each job are kept, newest first. Runs that are not over do not count.",
        "10000",
    ),
    Field("logs", AGE, "How long the output of runs is kept.", '"30d"', fills="logs_age"),
    Field(
        "ticks",
        AGE,
        "How long ticks are kept. A deleted or finished schedule is removed with the last of its ticks and runs.",
        '"400d"',
        fills="ticks_age",
    ),
    Field(
        "events",
        AGE,
        "How long events are kept, and notifications that were delivered or have failed.",
        '"7d"',
        fills="events_age",
    ),
    Field(
        "executions_per_workflow",
        COUNT,
        "How many finished executions of each workflow are kept, newest first. Older ones are removed when one ends.",
        "100",
    ),
    Field(
        "executions_total",
        COUNT,
        "How many finished executions of all workflows are kept, newest first. Older ones are removed when one ends.",
        '"never"',
    ),
    Field(
        "executions",
        AGE,
        "How long finished executions are kept, with the runs of their steps. All limits apply.",
        '"never"',
        fills="executions_age",
    ),
    Field(
        "audit",
        AGE,
        "How long the audit trail is kept. Pages show who did something only as long.",
        '"400d"',
        fills="audit_age",
    ),
    owner="[retention]",
)
OUTBOUND: Final = Schema(
    Field(
        "block_private",
        FLAG,
        "Whether requests to addresses outside the public internet are blocked. `true` in production mode.",
        "false",
    ),
    Field(
        "allow", TEXTS, "Networks and hosts that are allowed: `10.1.0.0/16`, `intranet.example`, `10.1.2.3:8080`.", "[]"
    ),
    owner="[outbound]",
)
FANOUT: Final = Schema(
    Field(
        "file_roots",
        TEXTS,
        "The directories that `file://` may read; by default any that the coordinator can read. `[]`: none.",
    ),
    Field(
        "inputs_timeout",
        duration(1, _DAY),
        "How long reading the items of a fanout may take, in `sql://` also the query.",
        "300",
    ),
    owner="[fanout]",
)
