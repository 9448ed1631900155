"""foliot reload: apply the configuration to the database."""

import asyncio
from pathlib import Path

import click

from foliot.domain.deploy.deployment import Changes, Declared
from foliot.interfaces.cli.configuration import load_config
from foliot.interfaces.cli.open_storage import opened_storage
from foliot.interfaces.cli.options import json_option, require_config, storage_options
from foliot.interfaces.cli.progress import progress_note
from foliot.interfaces.cli.render.changes import print_changes, print_changes_json


@click.command("reload")
@storage_options
@json_option("one object per job and schedule")
def command(storage: str | None, config: Path | None, as_json: bool) -> None:
    """Apply the configuration: only differences are changed, running work continues.

    It works with and without a running server; a running one sees the change at once. If the file has errors,
    nothing is changed.
    """
    with progress_note("applying the configuration"):
        configuration = load_config(require_config(config))
        changes = asyncio.run(_apply(storage or configuration.storage, configuration.declared))
    print_changes_json(changes) if as_json else print_changes(changes)


async def _apply(url: str, declared: Declared) -> Changes:
    async with opened_storage(url, create=True) as services:
        return await services.deployer.apply(declared)
