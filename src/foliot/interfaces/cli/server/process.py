"""Running a node in the foreground until a signal stops it.

APP          the functions and declarations of an application
--config     the jobs and schedules of a file, applied when the server starts and when it reloads
"""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from foliot.app import Foliot
from foliot.config import Configuration, Loaded
from foliot.domain.deploy.deployment import Changes
from foliot.domain.instant import SECOND
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.engine.node import Node
from foliot.engine.remote_worker import RemoteWorker
from foliot.engine.settings import Role, Settings
from foliot.errors import JobInUse
from foliot.interfaces.cli.configuration import require_valid
from foliot.interfaces.cli.login import deploying_actor
from foliot.interfaces.cli.options import require_config
from foliot.interfaces.cli.server.api import Api, bind_api
from foliot.interfaces.cli.server.banner import banner
from foliot.interfaces.cli.server.event_loop import run_on
from foliot.interfaces.cli.server.fallback import has_fallback, log_fallback, storage_url
from foliot.interfaces.cli.server.load_app import load_app
from foliot.interfaces.cli.server.reloader import Reloader, log_changes, log_problems
from foliot.interfaces.cli.server.settings import node_settings
from foliot.interfaces.cli.server.signals import EARLY, STOPS, EarlyStop
from foliot.interfaces.cli.server.stable_read import (
    QUIET,
    Fingerprint,
    StableRead,
    is_recent,
    read_stable,
    watched_paths,
)
from foliot.interfaces.cli.server.systemd import Systemd
from foliot.interfaces.line_writer import LineWriter
from foliot.interfaces.logs import configure_logging
from foliot.service.services import Services
from foliot.wiring.machine import take_descriptors
from foliot.wiring.runners import RunnerPolicy
from foliot.wiring.services import open_services

if TYPE_CHECKING:
    from foliot.interfaces.api.listener import Listener

log = logging.getLogger("foliot")

_SAME_SIGNAL: Final = 0.1
"""Seconds during which a second signal is ignored: `timeout` sends one to the process and one to its group."""
_ALMOST_OPEN: Final = 0.5
"""Seconds that a stopping process waits for its storage to open: an open storage can be closed in order."""
NOT_STARTED: Final = "Nothing was started. Correct the file, and check it with: foliot check"
_STOP_HINT: Final = "Runs that have not ended by then are given back. A second signal (Ctrl-C) stops at once."
_LAST_LINES: Final = 0.2
"""Seconds for the last log lines of a process that ends at once."""
_NOTHING: Final = StableRead(Loaded(Configuration()), watched_paths(Configuration()), frozenset())


@dataclass(frozen=True, slots=True)
class Served:
    """What a process serves: an application, a configuration, or both."""

    app: Foliot
    storage: str | None
    """None: that of the application."""
    path: Path | None
    """The configuration file. None: there is none."""
    configuration: Configuration
    seen: Fingerprint
    """The state of its files when they were read."""
    refused: str = ""
    """Why the file is not applied, if only its settings are used, with the stored definitions."""
    systemd: Systemd = field(default_factory=lambda: Systemd({}))
    listener: "Listener | None" = None
    """The socket of the HTTP API. None: this process does not serve it."""

    @property
    def policy(self) -> RunnerPolicy:
        return policy_of(self.path, self.configuration)


def policy_of(path: Path | None, configuration: Configuration) -> RunnerPolicy:
    """Return what jobs are allowed to use. Without a configuration there are no restrictions."""
    if path is None:
        return RunnerPolicy()
    outbound, fanout = configuration.outbound, configuration.fanout
    return RunnerPolicy(
        outbound=OutboundPolicy.of(block_private=outbound.block_private, allow=outbound.allow),
        places=[path.absolute().parent],
        sandbox_policy=configuration.server.sandbox_policy,
        file_roots=fanout.file_roots,
        dsns=configuration.dsns,
        inputs_seconds=fanout.inputs_timeout / SECOND,
    )


def run_node(target: str | None, config: Path | None, roles: Sequence[Role], *, applies: bool, **options: Any) -> None:
    """Serve until a signal stops the process. `applies`: apply the configuration to the storage.

    A configuration with errors is refused. Without `strict` a server starts with the stored jobs, if there are any.
    """
    systemd = Systemd(os.environ)
    path = require_config(config) if target is None or config is not None else None
    loaded, _, seen = _NOTHING if path is None else asyncio.run(_read(path))
    falls_back = applies and not options.pop("strict") and has_fallback(loaded, options["storage"])
    configuration = (loaded.settings if falls_back else None) or require_valid(path, loaded, hint=NOT_STARTED)
    settings = node_settings(configuration, options, roles)
    server = configuration.server
    style, level = options["log_format"] or server.log_format, options["log_level"] or server.log_level
    # In a process with a worker, a tick that ran is followed by the start of its run.
    hidden = {"tick_ran"} if settings.is_worker else ()
    lines = configure_logging(style, level, echo=settings.echo, hidden=hidden)
    log_problems(loaded.warnings)
    refused = log_fallback(path, loaded) if falls_back and path is not None else ""
    warn_of_few_descriptors(settings)
    storage = options["storage"]
    if path is not None:
        # FOLIOT_STORAGE replaces the storage of a configuration, not the one that the code of an application names.
        storage = storage_url(storage, configuration)
    app = Foliot(storage) if target is None else load_app(target)
    listener = bind_api(configuration, options) if Role.API in settings.roles else None
    if listener is not None:
        settings = replace(settings, api_url=server.public_url or listener.url)
    served = Served(app, storage, path, configuration, seen, refused, systemd, listener)
    try:
        run_on(options["loop"] or server.loop, partial(_serve, served, settings, lines, applies=applies))
    finally:
        if listener is not None:
            listener.close()
        # Before an error is printed.
        flush_lines(lines)


def flush_lines(lines: LineWriter) -> None:
    try:
        lines.flush()
    except BaseException:  # a signal during the flush: this wait and later ones become short
        lines.flush(longest=_LAST_LINES)
        raise


async def _read(path: Path) -> StableRead:
    """Read the configuration. Files that changed recently may still be written: wait until they are stable."""

    async def rest(seen: Fingerprint) -> None:
        if is_recent(seen):
            await asyncio.sleep(QUIET / 1_000)

    return await read_stable(path, watched_paths(Configuration(files=(path,))), rest)


def warn_of_few_descriptors(settings: Settings) -> None:
    """Raise the limit of open files as far as possible, and warn if it is too low for the slots."""
    found = take_descriptors(settings.slots)
    if Role.WORKER in settings.roles and found.allowed < found.wanted:
        hint = (
            f"Allow {found.wanted} open files (ulimit -Hn, LimitNOFILE= of systemd), or use --concurrency "
            f"{max(found.slots, 1)}. Without a free one, a run waits until another run ends."
        )
        log.warning("few_descriptors", extra={"allowed": found.allowed, "slots": settings.slots, "hint": hint})


async def _serve(served: Served, settings: Settings, lines: LineWriter, *, applies: bool) -> None:
    stop = on_signal()
    services = await _opened(served, stop, lines)
    async with served.app, served.systemd.watchdog():
        changes = refusal = None
        if applies and served.path is not None and not served.refused:
            changes, refusal = await _apply(served, services)
        api = Api(served.listener, services, served.configuration, served.path)
        await api.check()
        node = await served.app.node(settings, served.policy, served.configuration.notifications)
        async with _reloading(served, services, applies=applies, refusal=refusal):
            node.on_failure = stop.set
            if list(settings.roles) == [Role.WORKER]:
                node.on_drained = stop.set
            await node.start()
            tune_garbage_collector()
            served.systemd.started(served.refused if refusal is None else refusal.message)
            log.info("node_started", extra={"label": settings.label, "roles": list(settings.roles), "pid": os.getpid()})
            async with api.serving(lambda: node.worker_ids):
                if sys.stderr.isatty():
                    url = None if served.listener is None else served.listener.url
                    facts = banner(services, settings, served.path, served.storage, changes, served.refused, url)
                    _print_banner(lines, await facts)
                await stop.wait()
        served.systemd.stopping(settings.drain)
        await stop_node(node, settings, lines)
    if node.failure is not None:
        raise node.failure
    if node.abandoned:
        leave_stuck_functions(node.abandoned)


async def _apply(served: Served, services: Services) -> tuple[Changes | None, JobInUse | None]:
    """Apply the configuration, or return the error if it renames a job that is in use.

    What uses the job can only end while a server runs, so the server starts with the stored definitions.
    """
    try:
        deployer = services.acting_as(deploying_actor(served.path)).deployer
        changes = await deployer.apply(served.configuration.declared)
    except JobInUse as error:
        return None, error
    log_changes(changes)
    return changes, None


async def _opened(served: Served, stop: asyncio.Event, lines: LineWriter) -> Services:
    """Open the storage. A signal to stop ends the waiting for a database that does not answer."""
    opening = asyncio.create_task(open_served(served))
    asked = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((opening, asked), return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait((opening,), timeout=_ALMOST_OPEN)
        if not opening.done():
            asyncio.get_running_loop().call_later(_SAME_SIGNAL, _end_at_the_next_signal, lines)
            raise EarlyStop(0)
        return opening.result()
    finally:
        opening.cancel()
        asked.cancel()
        await asyncio.gather(opening, asked, return_exceptions=True)


async def open_served(served: Served) -> Services:
    """Open the application with the settings of the configuration that its services need."""
    services = await served.app.open(None if served.storage is None else await open_services(served.storage))
    services.schedules.default_layers.file = served.configuration.schedule_defaults
    services.schedules.default_layers.ceilings = served.configuration.ceilings
    return services


def _print_banner(lines: LineWriter, banner_lines: Iterable[str]) -> None:
    for line in banner_lines:
        lines.put(line)


@asynccontextmanager
async def _reloading(
    served: Served, services: Services, *, applies: bool, refusal: JobInUse | None = None
) -> AsyncIterator[None]:
    """Reload on SIGHUP, and with `watch` when a file changes.

    A configuration that was refused at the start is tried again until it is accepted: at intervals if a job is in use,
    when a file changes if the files have errors.
    """
    loop = asyncio.get_running_loop()
    if served.path is None or not applies:
        loop.add_signal_handler(signal.SIGHUP, log.warning, "nothing_to_reload")
        yield
        return
    reloader = Reloader(served.path, services, served.configuration, served.seen, served.systemd)
    loop.add_signal_handler(signal.SIGHUP, reloader.request)
    if refusal is not None:
        reloader.retry(refusal)
    if EARLY.take_reload():
        reloader.request()
    duties = [reloader.run()]
    if served.configuration.server.watch:
        duties.append(reloader.watch())
    elif served.refused:
        duties.append(reloader.watch_until_applied())
    async with _beside(duties):
        yield


@asynccontextmanager
async def _beside(duties: Sequence[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run tasks during the block and cancel them at its end. One that fails is logged, and nothing else ends."""
    tasks = [asyncio.create_task(_logged_if_it_fails(duty)) for duty in duties]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _logged_if_it_fails(duty: Coroutine[Any, Any, None]) -> None:
    try:
        await duty
    except Exception:
        # The node works without it, and must be stopped in order.
        hint = "The server works without it. Restart it to have files and signals reload the configuration again."
        log.exception("reloading_ended", extra={"hint": hint})


def leave_stuck_functions(count: int) -> None:
    """End the process while functions of jobs are still running: the interpreter would wait for them forever."""
    log.warning("left_functions_running", extra={"count": count})
    logging.shutdown()
    os._exit(0)


def tune_garbage_collector() -> None:
    """Exclude the loaded modules from garbage collection, and collect less often.

    A batch creates thousands of small objects that die with it. With the default thresholds the collector scans all
    live objects again and again, which takes a sixth of the processor time of a burst.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def on_signal() -> asyncio.Event:
    """Return an event that is set by a signal to stop. Called first, so that whatever has started is stopped."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in STOPS:
        loop.add_signal_handler(number, stop.set)
    return stop


async def stop_node(node: Node | RemoteWorker, settings: Settings, lines: LineWriter) -> None:
    """Stop in order; a second signal ends the process at once."""
    until = datetime.now(UTC) + timedelta(milliseconds=settings.drain)
    facts = {"running": node.running_count, "until": until.isoformat(timespec="seconds").replace("+00:00", "Z")}
    log.info("node_stopping", extra={**facts, "hint": _STOP_HINT})
    asyncio.get_running_loop().call_later(_SAME_SIGNAL, _end_at_the_next_signal, lines)
    await node.stop()


def _end_at_the_next_signal(lines: LineWriter) -> None:
    loop = asyncio.get_running_loop()
    for number in STOPS:
        loop.add_signal_handler(number, _end_at_once, lines)


def _end_at_once(lines: LineWriter) -> None:
    lines.flush(longest=_LAST_LINES)
    os._exit(130)
