"""Running a worker that uses a server instead of a database, until a signal stops it."""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from foliot.app import Foliot
from foliot.config import Configuration
from foliot.domain.instant import SECOND, Millis
from foliot.engine.settings import Role, Settings
from foliot.errors import InvalidInput, RequestRefused
from foliot.interfaces.cli.configuration import read_config, require_valid
from foliot.interfaces.cli.server.event_loop import run_on
from foliot.interfaces.cli.server.load_app import load_app
from foliot.interfaces.cli.server.process import (
    NOT_STARTED,
    flush_lines,
    leave_stuck_functions,
    on_signal,
    policy_of,
    stop_node,
    tune_garbage_collector,
    warn_of_few_descriptors,
)
from foliot.interfaces.cli.server.settings import node_settings
from foliot.interfaces.cli.server.systemd import Systemd
from foliot.interfaces.line_writer import LineWriter
from foliot.interfaces.logs import configure_logging
from foliot.wiring.processes import find_server, remote_worker

log = logging.getLogger("foliot")

POLL: Final = Millis(15 * SECOND)
"""How often runs are looked for without a signal. The server answers a waiting request when runs are ready."""
_CREDENTIALS: Final = (
    "Set FOLIOT_WORKER_ID and FOLIOT_WORKER_SECRET, or FOLIOT_TOKEN. Create them on the server with: "
    "foliot worker register NAME, or foliot token create --role worker"
)
SECRETS: Final = ("FOLIOT_WORKER_SECRET", "FOLIOT_TOKEN")


def run_remote(
    target: str | None, url: str, config: Path | None, labels: Sequence[str], options: Mapping[str, Any]
) -> None:
    """Execute runs of the server at `url` until a signal stops the process."""
    if options["storage"]:
        raise InvalidInput(
            "--server and --storage are mutually exclusive", hint="A remote worker needs no database.", field="server"
        )
    systemd = Systemd(os.environ)
    tls = {name: options[name] or "" for name in ("tls_ca", "tls_cert", "tls_key")}
    server = find_server(url, os.environ, allow_http=options["allow_http"], **tls)
    for name in SECRETS:
        # Jobs that Foliot starts do not inherit them anyway; functions in this process should not see them either.
        os.environ.pop(name, None)
    configuration = Configuration() if config is None else require_valid(config, read_config(config), hint=NOT_STARTED)
    settings = node_settings(configuration, {"poll": POLL / SECOND, **_given(options)}, [Role.WORKER])
    own = configuration.server
    style, level = options["log_format"] or own.log_format, options["log_level"] or own.log_level
    lines = configure_logging(style, level, echo=settings.echo, hidden=())
    warn_of_few_descriptors(settings)
    app = Foliot() if target is None else load_app(target)
    runners = app.runners(settings, policy_of(config, configuration))
    try:
        run_on(
            options["loop"] or own.loop,
            partial(_serve, server, runners, settings, lines, systemd, labels=labels or None),
        )
    except RequestRefused as error:
        if error.status == HTTPStatus.UNAUTHORIZED:
            error.hint = _CREDENTIALS
        raise
    finally:
        flush_lines(lines)


async def _serve(
    server: Any,
    runners: Mapping[str, Any],
    settings: Settings,
    lines: LineWriter,
    systemd: Systemd,
    *,
    labels: Sequence[str] | None,
) -> None:
    stop: asyncio.Event = on_signal()
    async with systemd.watchdog(), remote_worker(server, runners, settings, labels) as worker:
        worker.on_failure = worker.on_drained = stop.set
        await worker.start()
        tune_garbage_collector()
        systemd.started()
        log.info("node_started", extra={"label": settings.label, "server": server.url, "pid": os.getpid()})
        await stop.wait()
        systemd.stopping(settings.drain)
        await stop_node(worker, settings, lines)
    if worker.failure is not None:
        raise worker.failure
    if worker.abandoned:
        leave_stuck_functions(worker.abandoned)


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options, without an interval that was not given."""
    return {name: value for name, value in options.items() if name != "poll" or value is not None}
