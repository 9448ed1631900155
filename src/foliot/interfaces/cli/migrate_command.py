"""foliot migrate: the database, brought to the version of this program."""

import asyncio
from pathlib import Path

import click

from foliot.domain.secrets import public_url
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.patience import patiently
from foliot.interfaces.cli.place import opened, storage_url
from foliot.interfaces.cli.speaking import tell, tell_json
from foliot.interfaces.cli.text import shown


@click.command("migrate")
@storage_options
@json_option("one object")
def command(storage: str | None, config: Path | None, as_json: bool) -> None:
    """Create the database, or bring it up to date. `foliot serve` does this by itself when it starts."""
    url = storage_url(storage, config)
    with patiently("bringing the database up to date"):
        asyncio.run(_migrate(url))
    if as_json:
        tell_json({"storage": public_url(url), "is_current": True})
    else:
        tell(f"{shown(public_url(url))} is up to date")


async def _migrate(url: str) -> None:
    """Opening is migrating: it applies what is missing, once, whoever else opens at the same time."""
    async with opened(url, create=True):
        pass
