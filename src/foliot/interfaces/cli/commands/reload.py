"""foliot reload: apply the configuration to the database."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from foliot.config import ServerSettings
from foliot.domain.deploy.deployment import Changes, Declared
from foliot.domain.run.lane import TREES_QUEUE
from foliot.interfaces.cli.configuration import load_config
from foliot.interfaces.cli.login import deploying_actor
from foliot.interfaces.cli.open_storage import opened_storage
from foliot.interfaces.cli.options import database_options, json_option, require_config
from foliot.interfaces.cli.output import print_warning
from foliot.interfaces.cli.place import refuse_server
from foliot.interfaces.cli.progress import progress_note
from foliot.interfaces.cli.render.changes import print_changes, print_changes_json
from foliot.service.queries.worker_view import WorkerView

_RESTART: Final = "Settings are read when a process starts. Restart it, unless an option of its command sets this."


@click.command("reload")
@database_options
@json_option("one object per job and schedule")
def command(storage: str | None, config: Path | None, as_json: bool) -> None:
    """Apply the configuration: only differences are changed, running work continues.

    It works with and without a running server; a running one sees the change at once. If the file has errors,
    nothing is changed. Settings of [server] apply when a process starts; settings that need a restart are reported.
    """
    refuse_server()
    with progress_note("applying the configuration"):
        path = require_config(config)
        configuration = load_config(path)
        changes, workers = asyncio.run(_apply(storage or configuration.storage, configuration.declared, path))
    print_changes_json(changes) if as_json else print_changes(changes)
    for difference in _differences(configuration.server, workers):
        print_warning(f"restart_needed: {difference}", _RESTART, code="restart_needed")


async def _apply(url: str, declared: Declared, path: Path) -> tuple[Changes, list[WorkerView]]:
    async with opened_storage(url, create=True) as services:
        changes = await services.acting_as(deploying_actor(path)).deployer.apply(declared)
        return changes, (await services.queries.overview.page()).workers


def _differences(server: ServerSettings, workers: list[WorkerView]) -> Iterator[str]:
    """Yield the settings of running workers on this machine that the file has changed, as far as workers report them.

    Workers of other machines may have their own configuration.
    """
    for worker in workers:
        is_ours = worker.name == server.name or worker.name.startswith(f"{socket.gethostname()}:")
        if not worker.is_alive or not is_ours or worker.queues == (TREES_QUEUE,):
            continue
        if worker.slots != server.slots:
            yield f'worker "{worker.name}" has {worker.slots} slots, the file has concurrency = {server.slots}'
        if set(worker.queues) != set(server.queues):
            yield f'worker "{worker.name}" works on {", ".join(worker.queues)}, the file on {", ".join(server.queues)}'
