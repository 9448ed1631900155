"""foliot backup and migrate: copy the database, and bring it to the version of this program."""

import asyncio
from pathlib import Path

import click

from foliot.domain.secrets import public_url
from foliot.interfaces.cli.open_storage import copy_storage, opened_storage, storage_url
from foliot.interfaces.cli.options import database_options, json_option
from foliot.interfaces.cli.output import print_json, print_line
from foliot.interfaces.cli.place import refuse_server
from foliot.interfaces.cli.progress import ProgressLine, progress_note
from foliot.interfaces.cli.render.text import escaped


@click.command("backup")
@click.argument("path", type=click.Path(path_type=Path))
@database_options
@json_option("one object")
def backup(path: Path, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Copy a consistent snapshot of a SQLite database to PATH, and of the output of its jobs to PATH-logs.

    If PATH is a directory, the copy in it is named after the database and the time. Servers may keep running. Existing
    files are not overwritten.
    """
    refuse_server()
    url = storage_url(storage, config)
    with ProgressLine() as line:
        made = copy_storage(url, path, lambda done, of: line.show(f"copied {done} of {of} pages ..."))
    sizes = {file: file.stat().st_size for file in made}
    if as_json:
        files = [{"path": str(file), "bytes": size} for file, size in sizes.items()]
        print_json({"storage": public_url(url), "files": files})
        return
    for file, size in sizes.items():
        print_line(f"{escaped(file)}  {size} bytes")


@click.command("migrate")
@database_options
@json_option("one object")
def migrate(storage: str | None, config: Path | None, as_json: bool) -> None:
    """Create the database, or upgrade it to this version. `foliot serve` does this when it starts."""
    refuse_server()
    url = storage_url(storage, config)
    with progress_note("bringing the database up to date"):
        asyncio.run(_migrate(url))
    if as_json:
        print_json({"storage": public_url(url), "is_current": True})
    else:
        print_line(f"{escaped(public_url(url))} is up to date")


async def _migrate(url: str) -> None:
    """Open the storage: that applies each missing migration once, also when several processes do it."""
    async with opened_storage(url, create=True):
        pass
