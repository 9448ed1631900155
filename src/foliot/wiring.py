"""Connects all parts. The only module that knows every adapter: a new adapter is a new line in a table here.

Adapters are imported on first use: a program that uses SQLite never loads another driver.
"""

import os
import platform
import secrets
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from msgspec import structs

from foliot.adapters.channel import RunAccess, UnixChannel
from foliot.adapters.clock import SystemClock
from foliot.adapters.jwt import JwtVerifier, read_key_set, read_public_key, secret_key
from foliot.adapters.notifiers.all import all_notifiers
from foliot.adapters.passwords import Argon2Passwords
from foliot.adapters.processes import ProcProcesses
from foliot.adapters.queue.storage import StorageQueue
from foliot.adapters.resolvers.file import FileResolver
from foliot.adapters.resolvers.http import HttpResolver
from foliot.adapters.resolvers.job import JobResolver
from foliot.adapters.resolvers.plugins import WithPlugins
from foliot.adapters.resolvers.sql.resolver import SqlResolver
from foliot.adapters.resolvers.time_limit import SECONDS
from foliot.adapters.runners.agent import AgentRunner
from foliot.adapters.runners.approval import ApprovalRunner
from foliot.adapters.runners.function import Handler
from foliot.adapters.runners.host import ThisHost
from foliot.adapters.runners.http import HttpRunner
from foliot.adapters.runners.isolated.calls import IsolatedCalls
from foliot.adapters.runners.launcher import LaunchRunner
from foliot.adapters.runners.process.limits.descriptors import (
    DESCRIPTORS_PER_RUN,
    WORKER_DESCRIPTORS,
    raise_limit,
    runs_for,
)
from foliot.adapters.runners.python import PythonRunner
from foliot.adapters.runners.shell import ShellRunner, sweep_processes
from foliot.adapters.secrets import KeyStore
from foliot.domain.access.actor import APP, Actor
from foliot.domain.access.login import FailureLimit
from foliot.domain.chain.kind import ChainKind
from foliot.domain.fanout.kind import FanoutKind
from foliot.domain.file_url import parse_file_url
from foliot.domain.ids import IdSource, JobId, ScheduleId
from foliot.domain.input.words import text
from foliot.domain.instant import Instant
from foliot.domain.job.document import JobDocument
from foliot.domain.job.job import JobSpec
from foliot.domain.job.sandbox_policy import ANYTHING, SandboxPolicy
from foliot.domain.notification.settings import NOT_CONFIGURED, NotificationSettings
from foliot.domain.outbound.policy import OPEN, OutboundPolicy
from foliot.domain.schedule.defaults import ScheduleDefaults
from foliot.domain.schedule.firing import Launcher
from foliot.domain.schedule.schedule import ScheduleSpec
from foliot.domain.schedule.tick_run import launch_job
from foliot.domain.secrets import public_url
from foliot.domain.tree.kind import TreeKind
from foliot.domain.workflow.document import WorkflowDocument
from foliot.domain.workflow.kind import WorkflowKind
from foliot.domain.workflow.plan import APPROVAL_KIND
from foliot.domain.workflow.spec import WorkflowSpec
from foliot.engine.node import Node
from foliot.engine.remote_worker import RemoteParts, RemoteWorker
from foliot.engine.settings import Parts, Settings
from foliot.errors import DriverMissing, InvalidInput, InvalidWorkflow, suggest
from foliot.ports.clock import Clock
from foliot.ports.host import Host
from foliot.ports.launcher import RunLauncher
from foliot.ports.listeners import Subscription
from foliot.ports.notifier import LISTENER, Notifications, Notifier
from foliot.ports.resolver import Resolver
from foliot.ports.runner import Runner
from foliot.ports.secrets import Secrets
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.service.build import ServiceParts, build_services_on
from foliot.service.commands.documents import Document
from foliot.service.commands.dsns import ConfiguredDsns
from foliot.service.commands.schedules import DefaultLayers
from foliot.service.commands.texts import ParsedText, Schedules, TextToml
from foliot.service.commands.users import PasswordCheck
from foliot.service.notifications.planner import NotificationPlanner
from foliot.service.notifications.targets import Targets
from foliot.service.services import Services

if TYPE_CHECKING:
    from foliot.adapters.work_http.server import Server
    from foliot.config.settings import AuthSettings


class Adapter(NamedTuple):
    """Where an adapter lives, and the optional package it needs."""

    path: str
    package: str = ""
    extra: str = ""


STORAGES: Final[Mapping[str, Adapter]] = {
    "sqlite": Adapter("foliot.adapters.storage.sqlite.storage:open_url"),
    "postgresql": Adapter("foliot.adapters.storage.postgres.storage:open_url", "asyncpg", "postgres"),
    "postgres": Adapter("foliot.adapters.storage.postgres.storage:open_url", "asyncpg", "postgres"),
}

BACKUPS: Final[Mapping[str, Adapter]] = {"sqlite": Adapter("foliot.adapters.storage.sqlite.backup:back_up")}
"""Databases that `foliot backup` can copy; a database server has its own tools."""

_KINDS: Final[tuple[TreeKind, ...]] = (WorkflowKind(), FanoutKind(), ChainKind())
TREES: Final[Mapping[str, TreeKind]] = {kind.name: kind for kind in _KINDS}
"""The kinds of jobs whose runs are opened as trees."""

OpenStorage = Callable[..., Awaitable[Storage]]

_LOADING: Final = threading.Lock()
_SQLITE: Final = "foliot.adapters.storage.sqlite.database.connection"


def _before_fork() -> None:
    """Wait for an import in another thread: a child forked during an import finds the module locked for ever.

    A module that was loaded during the wait registered its own hook too late, so it is called here.
    """
    _LOADING.acquire()
    if late := sys.modules.get(_SQLITE):
        late.before_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_LOADING.release, after_in_child=_LOADING.release)
BackUp = Callable[[str, Path, Callable[[int, int], None]], Awaitable[list[Path]]]


class RunnerPolicy(NamedTuple):
    """What jobs are allowed to use."""

    outbound: OutboundPolicy = OPEN
    """The addresses that http jobs may call."""
    places: Sequence[Path] | None = None
    """The first directories on the module path of isolated Python jobs; None: the current directory."""
    sandbox_policy: SandboxPolicy = ANYTHING
    """The accounts and modules that jobs may name."""
    file_roots: Sequence[Path] | None = None
    """The directories whose files fanouts may read; None: any."""
    dsns: Mapping[str, str] = {}
    """The databases of the configuration that fanouts may read, in addition to those that are stored."""
    inputs_seconds: float = SECONDS
    """How long reading the items of a fanout may take."""


UNRESTRICTED: Final = RunnerPolicy()


async def open_services(url: str, clock: Clock | None = None, *, create: bool = True, actor: Actor = APP) -> Services:
    """Open the storage at a URL, and build the services of an actor."""
    storage = await open_storage(url, clock or SystemClock(), create=create)
    # Random bits come from the system each time: a forked child must not repeat the ids of its parent.
    keys = KeyStore(os.environ, _key_file(url))
    services = build_services(storage, storage.clock, IdSource(lambda: secrets.randbits(80)), keys)
    return services.acting_as(actor)


def _key_file(url: str) -> Path | None:
    """Return the file with the key for secrets, beside the database; None for a database on a server."""
    return Path(f"{Path(parse_file_url(url).path).resolve()}-key") if url.startswith("sqlite:") else None


def build_services(storage: Storage, clock: Clock, ids: IdSource, keys: Secrets | None = None) -> Services:
    """Build every service on an open storage. Without `keys`, the environment must name a key to store secrets."""
    parts = ServiceParts(
        clock=clock,
        ids=ids,
        keys=keys or KeyStore(os.environ),
        documents=JsonDocuments(),
        texts=TomlTexts(),
        passwords=PasswordCheck(Argon2Passwords()),
        default_layers=DefaultLayers(),
        failures=FailureLimit(),
    )
    return build_services_on(storage, parts)


class JsonDocuments:
    """Jobs and workflows as JSON documents. Their readers are imported on first use: most programs read none."""

    def open(self, document: Document) -> dict[str, Any]:
        from foliot.config.json_document import open_document

        return open_document(document)

    def job_names(self, tree: Mapping[str, Any]) -> set[JobId]:
        from foliot.config.workflow_json import names_in

        return names_in(tree)

    def read(
        self, tree: Mapping[str, Any], jobs: Mapping[JobId, JobSpec], now: Instant, defaults: ScheduleDefaults
    ) -> WorkflowDocument:
        from foliot.config.workflow_json import read_workflow

        return read_workflow(tree, jobs, now, defaults)

    def write(
        self, workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any]:
        from foliot.config.workflow_writing import write_workflow

        return write_workflow(workflow_id, spec, schedules)

    def write_public(
        self, workflow_id: str, spec: WorkflowSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any] | None:
        from foliot.config.workflow_writing import public_workflow, write_workflow

        try:
            return public_workflow(write_workflow(workflow_id, spec.as_written, schedules))
        except InvalidWorkflow:
            return None

    def read_job(self, tree: Mapping[str, Any], now: Instant, defaults: ScheduleDefaults) -> JobDocument:
        from foliot.config.job_json import read_job

        return read_job(tree, now, defaults)

    def write_job(
        self, job_id: JobId, spec: JobSpec, schedules: Mapping[ScheduleId, ScheduleSpec]
    ) -> dict[str, Any] | None:
        from foliot.config.job_writing import write_job

        return write_job(job_id, spec, schedules)

    def public_job(self, document: dict[str, Any]) -> dict[str, Any]:
        from foliot.config.job_writing import public_job

        return public_job(document)

    def restore_hidden(self, tree: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
        from foliot.config.job_json import restore_hidden

        restored: dict[str, Any] = restore_hidden(tree, stored)
        return restored


class TomlTexts:
    """Definitions as TOML. Their reader is imported on first use: most programs read none."""

    def parse(self, text: str) -> ParsedText:
        from foliot.config.definition_text import open_text

        return open_text(text)

    def secret_job(self, job_id: JobId, job: JobSpec, schedules: Schedules) -> Mapping[str, Any]:
        from foliot.config.definition_writing import secret_tree

        return secret_tree(job_id, job, schedules)

    def secret_workflow(self, workflow_id: str, spec: WorkflowSpec, schedules: Schedules) -> Mapping[str, Any]:
        from foliot.config.definition_writing import secret_workflow_tree

        return secret_workflow_tree(workflow_id, spec, schedules)

    def write_job(self, job_id: JobId, job: JobSpec, schedules: Schedules) -> TextToml:
        from foliot.config.definition_writing import write_job_text

        return TextToml(*write_job_text(job_id, job, schedules))

    def write_workflow(self, workflow_id: str, spec: WorkflowSpec, schedules: Schedules) -> TextToml:
        from foliot.config.definition_writing import write_workflow_text

        return TextToml(*write_workflow_text(workflow_id, spec, schedules))


async def open_storage(url: str, clock: Clock, *, create: bool = True) -> Storage:
    """Open the database at a URL: sqlite:///relative.db, sqlite:////absolute.db or postgresql://...

    A missing database is created, and an old schema is upgraded. Without `create`, both are refused.
    """
    opener = cast(OpenStorage, _load(*_adapter(url)))
    return await opener(url, clock=clock, faults=fault_points(), create=create)


def _adapter(url: str) -> tuple[str, Adapter]:
    """Return the scheme of a URL and the adapter for it."""
    text(url, "storage", InvalidInput)
    scheme = url.partition("://")[0]
    adapter = STORAGES.get(scheme) if "://" in url else None
    if adapter is None:
        raise InvalidInput(
            f"storage {public_url(url)[:128]!a} is not a supported database",
            hint=suggest(scheme, STORAGES, otherwise="Use sqlite:///foliot.db or postgresql://user@host/database."),
            field="storage",
        )
    return scheme, adapter


async def back_up(url: str, target: Path, progress: Callable[[int, int], None]) -> list[Path]:
    """Copy the database at a URL in one consistent state and return the new files. Never overwrites a file."""
    scheme, _ = _adapter(url)
    if scheme not in BACKUPS:
        raise InvalidInput(
            f"foliot backup copies files, but {scheme} is a server",
            hint="Use its own tools: pg_dump and pg_restore.",
            field="storage",
        )
    return await cast(BackUp, _load(scheme, BACKUPS[scheme]))(url, target, progress)


def build_node(
    services: Services,
    runners: Mapping[str, Runner],
    settings: Settings,
    launcher: Launcher = launch_job,
    subscriptions: Sequence[Subscription] = (),
    resolvers: Mapping[str, Resolver] | None = None,
    notifications: Notifications | None = None,
) -> Node:
    """Build a node on these services. `launcher` makes the runs of ticks.

    `resolvers` read the inputs of fanouts. None: those of `build_resolvers`, without restrictions.
    """
    parts = Parts(
        storage=services.storage,
        queue=StorageQueue(services.storage),
        tree_queue=StorageQueue(services.storage, Topic.TREES),
        trees=TREES,
        clock=services.clock,
        ids=services.ids,
        runners=runners,
        resolvers=build_resolvers(services) if resolvers is None else resolvers,
        launcher=launcher,
        subscriptions=subscriptions,
        sweep=sweep_processes,
        processes=ProcProcesses(services.clock.boot_id),
        channel=UnixChannel(RunAccess(settings.api_url, services.channel.token_of) if settings.api_url else None),
        notifications=notifications,
    )
    return Node(parts, settings)


@asynccontextmanager
async def remote_worker(
    server: "Server", runners: Mapping[str, Runner], settings: Settings, labels: Sequence[str] | None = None
) -> AsyncIterator[RemoteWorker]:
    """Build a worker that uses a server instead of a database, and close its connections after the block."""
    # Imported here: other processes need no HTTP client.
    from foliot.adapters.work_http.connection import Connection
    from foliot.adapters.work_http.work import HttpWork

    settings = replace(settings, facts=structs.replace(settings.facts, is_remote=True))
    work = HttpWork(Connection(server), labels=None if labels is None else tuple(labels))
    parts = RemoteParts(
        work=work,
        queue=StorageQueue(work),
        clock=SystemClock(),
        ids=IdSource(lambda: secrets.randbits(80)),
        runners=runners,
        sweep=sweep_processes,
        channel=UnixChannel(),
    )
    try:
        yield RemoteWorker(parts, settings)
    finally:
        await work.close()


def find_server(url: str, environ: Mapping[str, str], *, allow_http: bool, **tls: str) -> "Server":
    """Return the server at a URL, with the credentials of the environment. They are taken out of `environ` by the
    caller, so that jobs do not inherit them."""
    from foliot.adapters.work_http.server import Server, check_server

    server = Server(
        url=url,
        worker_id=environ.get("FOLIOT_WORKER_ID", ""),
        secret=environ.get("FOLIOT_WORKER_SECRET", ""),
        token=environ.get("FOLIOT_TOKEN", ""),
        **tls,
    )
    return check_server(server, allow_http=allow_http)


def build_runners(
    functions: Mapping[str, Callable[..., Any]],
    launcher: RunLauncher,
    threads: int,
    policy: RunnerPolicy = UNRESTRICTED,
    *,
    echo: bool = False,
) -> dict[str, Runner]:
    """Build a runner for each kind of job. `echo`: functions in this process print to its own streams as well."""
    handlers = {name: Handler.of(function) for name, function in functions.items()}
    sandbox_policy = policy.sandbox_policy
    isolated = IsolatedCalls(places=policy.places, sandbox_policy=sandbox_policy)
    return {
        "python": PythonRunner(handlers, threads=threads, isolated=isolated, echo=echo),
        "shell": ShellRunner(sandbox_policy=sandbox_policy),
        "agent": AgentRunner(sandbox_policy=sandbox_policy),
        "http": HttpRunner(policy.outbound),
        "launch": LaunchRunner(launcher),
        APPROVAL_KIND: ApprovalRunner(),
    }


def build_resolvers(services: Services, policy: RunnerPolicy = UNRESTRICTED) -> Mapping[str, Resolver]:
    """Build a resolver for each scheme of `inputs_from`, those of installed plug-ins included."""
    seconds = policy.inputs_seconds
    http = HttpResolver(policy.outbound, seconds=seconds)
    dsns = ConfiguredDsns(policy.dsns, services.dsns)
    built_in: dict[str, Resolver] = {
        "file": FileResolver(policy.file_roots, seconds=seconds),
        "http": http,
        "https": http,
        "sql": SqlResolver(dsns, seconds=seconds),
        "job": JobResolver(services.storage.queries, seconds=seconds),
    }
    return WithPlugins(built_in, seconds=seconds)


def build_notifications(
    services: Services, settings: NotificationSettings = NOT_CONFIGURED, policy: RunnerPolicy = UNRESTRICTED
) -> Notifications:
    """Build what a scheduler needs to notify."""
    targets = Targets(services.storage, settings, services.urls)
    planner = NotificationPlanner(services.storage, settings, targets)
    notifiers = build_notifiers(settings, policy.outbound)
    return Notifications(Subscription(LISTENER, planner), notifiers, targets, settings.is_configured)


def build_notifiers(settings: NotificationSettings, policy: OutboundPolicy) -> dict[str, Notifier]:
    """Build a notifier for each kind of target."""
    return all_notifiers(settings, policy, SystemClock())


def build_jwt_verifier(settings: "AuthSettings") -> JwtVerifier | None:
    """Build the check of signed tokens of other services. None: [auth] has no key for them."""
    if settings.claims is None:
        return None
    if settings.jwt_secret is not None:
        keys = [secret_key(settings.jwt_secret)]
    elif settings.jwt_key is not None:
        keys = [read_public_key(settings.jwt_key)]
    else:
        keys = [] if settings.jwks is None else read_key_set(settings.jwks)
    return JwtVerifier(keys, settings.claims)


class Descriptors(NamedTuple):
    """How many files this process may have open, and how many it needs."""

    allowed: int
    wanted: int
    slots: int
    """How many concurrent runs the allowed number is enough for."""


def take_descriptors(slots: int) -> Descriptors:
    """Raise the limit of open files of this process to the system's maximum. Processes of jobs keep the old limit."""
    allowed = raise_limit()
    return Descriptors(
        allowed,
        WORKER_DESCRIPTORS + DESCRIPTORS_PER_RUN * slots,
        runs_for(allowed),
    )


def build_host() -> Host:
    """Build what `foliot doctor` examines this machine with."""
    return ThisHost(ProcProcesses(SystemClock().boot_id))


def environment() -> str:
    """Return where this process runs, for people."""
    python = platform.python_implementation() + " " + platform.python_version()
    return f"{python}, {platform.system()} {platform.machine()}, {socket.gethostname()}"


def node_label() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def fault_points() -> Callable[[str], None]:
    """Return the fault points for tests, set by FOLIOT_FAULT. Refused if FOLIOT_ENV is production."""
    if "FOLIOT_FAULT" not in os.environ:
        return lambda name: None
    module = import_module("foliot.adapters.faults")
    return cast(Callable[[str], None], module.from_environment(os.environ))


def _load(name: str, adapter: Adapter) -> Any:
    module, _, attribute = adapter.path.partition(":")
    try:
        with _LOADING:
            return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if adapter.package and error.name == adapter.package:
            raise DriverMissing(name, adapter.package, adapter.extra) from None
        raise
