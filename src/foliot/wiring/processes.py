"""Builds the parts of a process that runs duties: a node, or a worker without a database."""

import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from msgspec import structs

from foliot.adapters.channel import RunAccess, UnixChannel
from foliot.adapters.clock import SystemClock
from foliot.adapters.processes import ProcProcesses
from foliot.adapters.queue.storage import StorageQueue
from foliot.adapters.runners.shell import sweep_processes
from foliot.domain.chain.kind import ChainKind
from foliot.domain.fanout.kind import FanoutKind
from foliot.domain.ids import IdSource
from foliot.domain.schedule.firing import MakeRun
from foliot.domain.schedule.tick_run import make_run
from foliot.domain.tree.kind import TreeKind
from foliot.domain.workflow.kind import WorkflowKind
from foliot.engine.node import Node
from foliot.engine.remote_worker import RemoteParts, RemoteWorker
from foliot.engine.settings import Parts, Settings
from foliot.ports.listeners import Subscription
from foliot.ports.notifier import Notifications
from foliot.ports.resolver import Resolver
from foliot.ports.runner import Runner
from foliot.ports.topic import Topic
from foliot.service.services import Services
from foliot.wiring.runners import build_resolvers

if TYPE_CHECKING:
    from foliot.adapters.work_http.server import Server

_KINDS: Final[tuple[TreeKind, ...]] = (WorkflowKind(), FanoutKind(), ChainKind())

TREES: Final[Mapping[str, TreeKind]] = {kind.name: kind for kind in _KINDS}
"""The kinds of jobs whose runs are opened as trees."""


def build_node(
    services: Services,
    runners: Mapping[str, Runner],
    settings: Settings,
    make_run: MakeRun = make_run,
    subscriptions: Sequence[Subscription] = (),
    resolvers: Mapping[str, Resolver] | None = None,
    notifications: Notifications | None = None,
) -> Node:
    """Build a node on these services. `make_run` makes the runs of ticks.

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
        make_run=make_run,
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
