"""Running a node in the foreground until a signal ends it.

APP          the functions of an application, and what its code declares
--config     the jobs and schedules of a file, applied when the server starts and whenever it is reloaded
"""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from foliot.app import Foliot
from foliot.config import Configuration, Loaded
from foliot.domain.deploy.deployment import Changes
from foliot.domain.outbound.policy import OutboundPolicy
from foliot.engine.node import Node
from foliot.engine.settings import Role, Settings
from foliot.errors import JobInUse
from foliot.interfaces.cli.at_rest import QUIET, AtRest, Fingerprint, is_young, places_of, read_at_rest
from foliot.interfaces.cli.config_file import require_config
from foliot.interfaces.cli.configuration import sound
from foliot.interfaces.cli.greeting import greeting
from foliot.interfaces.cli.loops import run_on
from foliot.interfaces.cli.reloading import Reloader, log_changes, log_problems
from foliot.interfaces.cli.settings import settings_of
from foliot.interfaces.cli.signals import EARLY, STOPS, EarlyStop
from foliot.interfaces.cli.target import load_app
from foliot.interfaces.line_writer import LineWriter
from foliot.interfaces.logs import configure_logging
from foliot.service.services import Services
from foliot.wiring import RunnerPolicy, open_services, take_descriptors

log = logging.getLogger("foliot")

_SAME_SIGNAL: Final = 0.1
"""Seconds in which a second signal is still the first: `timeout` sends one to the process and one to its group."""
_ALMOST_OPEN: Final = 0.5
"""Seconds that a process which is to stop waits for its storage to open: that is closed in better order."""
_LAST_WORDS: Final = 0.2
"""Seconds that a process which is to end at once has for its last lines."""
_NOTHING: Final = AtRest(Loaded(Configuration()), places_of(Configuration()), frozenset())


@dataclass(frozen=True, slots=True)
class Served:
    """What a process serves: an application, a configuration, or both."""

    app: Foliot
    storage: str | None
    """Where, unless the application says it."""
    path: Path | None
    """The configuration file, if there is one."""
    configuration: Configuration
    seen: Fingerprint
    """What its files were like when they were read."""

    @property
    def policy(self) -> RunnerPolicy:
        """What jobs may use. Without a configuration nothing is forbidden."""
        if self.path is None:
            return RunnerPolicy()
        said = self.configuration.outbound
        outbound = OutboundPolicy.of(block_private=said.block_private, allow=said.allow)
        places = [self.path.absolute().parent]
        return RunnerPolicy(outbound, places, self.configuration.server.sandbox_policy)


def run_node(target: str | None, config: Path | None, roles: Sequence[Role], *, applies: bool, **options: Any) -> None:
    """Serve until a signal comes. `applies`: make the storage say what the configuration says."""
    path = require_config(config) if target is None or config is not None else None
    loaded, _, seen = _NOTHING if path is None else asyncio.run(_read(path))
    said = sound(path, loaded)
    settings = settings_of(said, options, roles)
    lines = configure_logging(
        options["log_format"] or said.server.log_format, options["log_level"] or said.server.log_level
    )
    log_problems(loaded.problems)
    _take_descriptors(settings)
    storage = options["storage"]
    if path is not None:
        # The environment speaks for a configuration, not over what the code of an application says.
        storage = storage or os.environ.get("FOLIOT_STORAGE") or said.storage
    app = Foliot(storage) if target is None else load_app(target)
    served = Served(app, storage, path, said, seen)
    try:
        run_on(options["loop"] or said.server.loop, partial(_serve, served, settings, lines, applies=applies))
    finally:
        # Before whatever is said about its end.
        _flush(lines)


def _flush(lines: LineWriter) -> None:
    try:
        lines.flush()
    except BaseException:  # a signal: whoever sends a second one does not want to wait, not here nor later
        lines.flush(longest=_LAST_WORDS)
        raise


async def _read(path: Path) -> AtRest:
    """What the files say when nobody writes them: whoever starts a server may just have begun to."""

    async def rest(seen: Fingerprint) -> None:
        if is_young(seen):
            await asyncio.sleep(QUIET / 1_000)

    return await read_at_rest(path, places_of(Configuration(files=(path,))), rest)


def _take_descriptors(settings: Settings) -> None:
    """As many as there are; and say at once if those are too few for the slots."""
    found = take_descriptors(settings.slots)
    if Role.WORKER in settings.roles and found.allowed < found.wanted:
        hint = (
            f"Allow {found.wanted} open files (ulimit -Hn, LimitNOFILE= of systemd), or use --concurrency "
            f"{max(found.slots, 1)}. Runs that find none free wait for others to end."
        )
        log.warning("few_descriptors", extra={"allowed": found.allowed, "slots": settings.slots, "hint": hint})


async def _serve(served: Served, settings: Settings, lines: LineWriter, *, applies: bool) -> None:
    stop = _on_signal()
    services = await _opened(served, stop, lines)
    async with served.app:
        changes = refusal = None
        if applies and served.path is not None:
            changes, refusal = await _apply(served, services)
        node = await served.app.node(settings, served.policy)
        async with _reloading(served, services, applies=applies, refusal=refusal):
            node.on_failure = stop.set
            await node.start()
            _calm_collector()
            log.info("node_started", extra={"label": settings.label, "roles": list(settings.roles), "pid": os.getpid()})
            if sys.stderr.isatty():
                _say(lines, await greeting(services, settings, served.path, served.storage, changes))
            await stop.wait()
        await _stop(node, lines)
    if node.failure is not None:
        raise node.failure
    if node.abandoned:
        _leave_stuck_functions(node.abandoned)


async def _apply(served: Served, services: Services) -> tuple[Changes | None, JobInUse | None]:
    """Apply the configuration. A renamed job that is in use refuses it: what uses the job ends only while a server
    runs, so the server starts with the definitions that are stored."""
    try:
        changes = await services.deployer.apply(served.configuration.declared)
    except JobInUse as error:
        return None, error
    log_changes(changes)
    return changes, None


async def _opened(served: Served, stop: asyncio.Event, lines: LineWriter) -> Services:
    """The storage, open. Who is asked to stop before anything has begun need not wait for a server that is silent."""
    opening = asyncio.create_task(_open(served))
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


async def _open(served: Served) -> Services:
    return await served.app.open(None if served.storage is None else await open_services(served.storage))


def _say(lines: LineWriter, greeting: Iterable[str]) -> None:
    for line in greeting:
        lines.put(line)


@asynccontextmanager
async def _reloading(
    served: Served, services: Services, *, applies: bool, refusal: JobInUse | None = None
) -> AsyncIterator[None]:
    """Reload on SIGHUP, until a configuration that was refused at the start is accepted, and, where the configuration
    wants it, when its files change."""
    loop = asyncio.get_running_loop()
    if served.path is None or not applies:
        loop.add_signal_handler(signal.SIGHUP, log.warning, "nothing_to_reload")
        yield
        return
    reloader = Reloader(served.path, services, served.configuration, served.seen)
    loop.add_signal_handler(signal.SIGHUP, reloader.request)
    if refusal is not None:
        reloader.retry(refusal)
    if EARLY.take_reload():
        reloader.request()
    duties = [reloader.run(), *([reloader.watch()] if served.configuration.server.watch else [])]
    async with _beside(duties):
        yield


@asynccontextmanager
async def _beside(duties: Sequence[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """What goes on at the same time, and ends with the block. One that fails says so, and stands in nobody's way."""
    tasks = [asyncio.create_task(_carried_out(duty)) for duty in duties]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _carried_out(duty: Coroutine[Any, Any, None]) -> None:
    try:
        await duty
    except Exception:
        # The node does its work without it, and is to be stopped in good order.
        hint = "The server works without it. Restart it to have files and signals reload the configuration again."
        log.exception("reloading_ended", extra={"hint": hint})


def _leave_stuck_functions(count: int) -> None:
    """End the process although functions of jobs do not return: the interpreter would wait for them for ever."""
    log.warning("left_functions_running", extra={"count": count})
    logging.shutdown()
    os._exit(0)


def _calm_collector() -> None:
    """Leave out of every collection what has been loaded for good, and collect less often.

    A batch is thousands of small objects that die with it: at the default pace the collector looks through all that
    lives again and again, for a sixth of the processor time of a burst.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 100)


def _on_signal() -> asyncio.Event:
    """What is set when the process is asked to stop. From the beginning: whatever has started by then is stopped."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in STOPS:
        loop.add_signal_handler(number, stop.set)
    return stop


async def _stop(node: Node, lines: LineWriter) -> None:
    """Stop in good order; a second signal ends the process at once."""
    log.info("node_stopping", extra={"hint": "signal again to stop at once"})
    asyncio.get_running_loop().call_later(_SAME_SIGNAL, _end_at_the_next_signal, lines)
    await node.stop()


def _end_at_the_next_signal(lines: LineWriter) -> None:
    loop = asyncio.get_running_loop()
    for number in STOPS:
        loop.add_signal_handler(number, _end_at_once, lines)


def _end_at_once(lines: LineWriter) -> None:
    lines.flush(longest=_LAST_WORDS)
    os._exit(130)
