"""Running a node in the foreground until a signal ends it."""

import asyncio
import gc
import logging
import os
import signal
from collections.abc import Callable, Sequence
from typing import Any, Final

import click

from foliot.domain.firing import Tempo
from foliot.domain.instant import SECOND, Millis
from foliot.engine.node import Node, Role, Settings
from foliot.interfaces.cli.target import load_app
from foliot.interfaces.logs import configure_logging
from foliot.wiring import node_label

log = logging.getLogger("foliot")

_LEVELS: Final = ("debug", "info", "warning", "error")


def node_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options that serve and worker share. Times are seconds and may have fractions."""
    seconds = click.FloatRange(min=0.01)
    for option in (
        click.option("--slots", default=100, show_default=True, type=click.IntRange(1, 100_000), help="Runs at once."),
        click.option("--queue", "queues", multiple=True, default=["default"], show_default=True, help="May repeat."),
        click.option("--lease", default=60.0, show_default=True, type=seconds, help="Seconds a silent worker lives."),
        click.option("--poll", default=1.0, show_default=True, type=seconds, help="Longest rest of a loop."),
        click.option("--grace", default=5.0, show_default=True, type=seconds, help="Seconds a tick may be late."),
        click.option("--drain", default=30.0, show_default=True, type=click.FloatRange(min=0), help="Seconds to stop."),
        click.option("--name", default=None, help="Label of this process, host:pid by default."),
        click.option("--log-format", type=click.Choice(["auto", "text", "json"]), default="auto", show_default=True),
        click.option("--log-level", type=click.Choice(_LEVELS), default="info", show_default=True),
    ):
        function = option(function)
    return function


def run_node(target: str, roles: Sequence[Role], **options: Any) -> None:
    configure_logging(options["log_format"], options["log_level"])
    app = load_app(target)
    settings = Settings(
        label=options["name"] or node_label(),
        roles=roles,
        queues=tuple(options["queues"]),
        slots=options["slots"],
        tempo=Tempo(tick=_millis(options["poll"]), grace=_millis(options["grace"])),
        lease=_millis(options["lease"]),
        poll=_millis(options["poll"]),
        drain=_millis(options["drain"]),
    )
    asyncio.run(_serve(app, settings))


async def _serve(app: Any, settings: Settings) -> None:
    async with app:
        node = await app.node(settings)
        await node.start()
        _calm_collector()
        log.info("node_started", extra={"label": settings.label, "roles": list(settings.roles), "pid": os.getpid()})
        await _until_signalled()
        await _stop(node)
    if node.abandoned:
        _leave_stuck_functions(node.abandoned)


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


async def _until_signalled() -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    await stop.wait()


async def _stop(node: Node) -> None:
    """Stop in good order; a second signal ends the process at once."""
    log.info("node_stopping", extra={"hint": "signal again to stop at once"})
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, os._exit, 130)
    await node.stop()


def _millis(seconds: float) -> Millis:
    return Millis(max(1, round(seconds * SECOND)))
