"""foliot reload: make the database say what the configuration says."""

import asyncio
from pathlib import Path

import click

from foliot.domain.deploy.deployment import Changes, Declared
from foliot.interfaces.cli.config_file import require_config
from foliot.interfaces.cli.configuration import usable_config
from foliot.interfaces.cli.deployment_lines import print_changes, print_json
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.patience import patiently
from foliot.interfaces.cli.place import opened


@click.command("reload")
@storage_options
@json_option("one object per job and schedule")
def command(storage: str | None, config: Path | None, as_json: bool) -> None:
    """Apply the configuration: only what differs is changed, running work is left alone.

    It works with and without a running server; a running one sees the change at once. When something in the file is
    wrong, nothing is changed.
    """
    with patiently("applying the configuration"):
        configuration = usable_config(require_config(config))
        changes = asyncio.run(_apply(storage or configuration.storage, configuration.declared))
    print_json(changes) if as_json else print_changes(changes)


async def _apply(url: str, declared: Declared) -> Changes:
    async with opened(url, create=True) as services:
        return await services.deployer.apply(declared)
