"""A configuration as values: what has been read, checked and is ready for use."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from foliot.domain.access.claims import ClaimPolicy
from foliot.domain.access.role import Role
from foliot.domain.chain.spec import Ceilings
from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.deploy.deployment import Declared
from foliot.domain.instant import DAY, MINUTE, SECOND, Millis
from foliot.domain.job.job import DEFAULT_QUEUE
from foliot.domain.job.sandbox_policy import SandboxPolicy
from foliot.domain.notification.settings import NOT_CONFIGURED, NotificationSettings
from foliot.domain.schedule.defaults import BUILT_IN, ScheduleDefaults
from foliot.domain.schedule.firing import SchedulerSettings
from foliot.domain.vocabulary.server import ROLES, Mode
from foliot.domain.vocabulary.server import EventLoop as EventLoop
from foliot.domain.vocabulary.server import LogFormat as LogFormat
from foliot.domain.vocabulary.server import LogLevel as LogLevel
from foliot.errors import Problem, Severity


class ServerSettings(Struct, frozen=True, kw_only=True):
    """How the process behaves that serves this configuration."""

    name: str = ""
    """Its label; empty: host and process id."""
    mode: Mode = "development"
    roles: tuple[str, ...] = ROLES
    queues: tuple[str, ...] = (DEFAULT_QUEUE,)
    slots: int = 100
    scheduler: SchedulerSettings = SchedulerSettings()
    lease: Millis = MINUTE
    poll: Millis = SECOND
    drain: Millis = Millis(30 * SECOND)
    allow_users: tuple[str, ...] | None = None
    """Accounts that jobs may run as. None: any that the worker can."""
    allow_modules: tuple[str, ...] | None = None
    """Modules that jobs may call. None: any."""
    public_url: str = ""
    """The address of this server for people."""
    watch: bool = False
    """Whether to apply the configuration again when one of its files changes."""
    loop: EventLoop = "auto"
    """The event loop. `auto`: uvloop where it is installed."""
    log_format: LogFormat = "auto"
    log_level: LogLevel = "info"
    echo: bool = False
    """Whether the process prints what functions that run in it print and log."""
    host: str = "127.0.0.1"
    port: int | None = None
    """None: the default port, which another process may have."""
    base_path: str = ""
    tls_cert: str = ""
    tls_key: str = ""
    tls_client_ca: str = ""
    admin_token: str = ""
    session_secret: str = ""

    @property
    def sandbox_policy(self) -> SandboxPolicy:
        return SandboxPolicy.of(users=self.allow_users, modules=self.allow_modules)


class QueueSettings(Struct, frozen=True, kw_only=True):
    """How workers are notified of work. `storage`: by the database itself."""

    url: str = "storage"


class RetentionSettings(NamedTuple):
    """How long finished things are kept, in the order of `ports.upkeep.Retention`. None: for ever."""

    runs_age: Millis | None = Millis(90 * DAY)
    runs_per_job: int | None = 10_000
    logs_age: Millis | None = Millis(30 * DAY)
    ticks_age: Millis | None = Millis(400 * DAY)
    events_age: Millis | None = Millis(7 * DAY)
    executions_per_workflow: int | None = 100
    executions_age: Millis | None = None
    executions_total: int | None = None
    audit_age: Millis | None = Millis(400 * DAY)


class OutboundSettings(Struct, frozen=True, kw_only=True):
    """Which addresses requests of jobs may reach."""

    block_private: bool = False
    allow: tuple[str, ...] = ()
    """Networks and names that pass although they are private."""


class FanoutSettings(Struct, frozen=True, kw_only=True):
    """Where the items of fanouts may come from."""

    file_roots: tuple[Path, ...] | None = None
    """The directories of files that may be read. None: any."""
    inputs_timeout: Millis = Millis(300 * SECOND)
    """How long reading the items of a fanout may take."""


class AuthSettings(Struct, frozen=True, kw_only=True):
    """How programs prove who they are, apart from stored tokens."""

    claims: ClaimPolicy | None = None
    """What signed tokens must claim. None: there is no key for them."""
    jwt_secret: str | None = None
    jwt_key: Path | None = None
    jwks: Path | None = None
    certificates: Mapping[str, Role] = field(default_factory=dict)
    """Subject of a client certificate -> role."""


class Configuration(Struct, frozen=True, kw_only=True):
    """Everything in a file and its includes, with the environment over it."""

    server: ServerSettings = ServerSettings()
    storage: str = DEFAULT_STORAGE
    """A URL; a relative path of SQLite has been taken from the directory of the file."""
    queue: QueueSettings = QueueSettings()
    retention: RetentionSettings = RetentionSettings()
    outbound: OutboundSettings = OutboundSettings()
    schedule_defaults: ScheduleDefaults = BUILT_IN
    """For schedules that programs create while the server runs."""
    fanout: FanoutSettings = FanoutSettings()
    notifications: NotificationSettings = NOT_CONFIGURED
    auth: AuthSettings = AuthSettings()
    ceilings: Ceilings = Ceilings()
    """What no class of chains may exceed."""
    dsns: Mapping[str, str] = field(default_factory=dict)
    """The databases that fanouts may read, by name. The texts may contain passwords."""
    declared: Declared = Declared()
    files: tuple[Path, ...] = ()
    """Every file that was read, the main one first."""
    blank: tuple[Path, ...] = ()
    """Those of them that were empty."""
    watched: tuple[Path, ...] = ()
    """The directories in which files may appear that an include would find, as patterns."""


class Loaded(NamedTuple):
    """The result of reading a configuration. It is None if one of the problems is an error."""

    configuration: Configuration | None
    problems: tuple[Problem, ...] = ()
    storage: str | None = None
    """The URL of the database if it is known, also where the rest has errors."""
    settings: Configuration | None = None
    """The configuration without its jobs and workflows. None: there are errors elsewhere too."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.WARNING)
