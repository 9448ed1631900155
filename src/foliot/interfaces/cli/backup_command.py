"""foliot backup: a copy of the database, while it is used."""

from pathlib import Path

import click

from foliot.domain.secrets import public_url
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.patience import ProgressLine
from foliot.interfaces.cli.place import copy_storage, storage_url
from foliot.interfaces.cli.speaking import tell, tell_json
from foliot.interfaces.cli.text import shown


@click.command("backup")
@click.argument("path", type=click.Path(path_type=Path))
@storage_options
@json_option("one object")
def command(path: Path, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Copy a SQLite database to PATH as it is at one moment, and what its jobs have printed to PATH-logs.

    Servers may go on meanwhile. Nothing is overwritten.
    """
    url = storage_url(storage, config)
    with ProgressLine() as line:
        made = copy_storage(url, path, lambda done, of: line.show(f"copied {done} of {of} pages ..."))
    sizes = {file: file.stat().st_size for file in made}
    if as_json:
        files = [{"path": str(file), "bytes": size} for file, size in sizes.items()]
        tell_json({"storage": public_url(url), "files": files})
        return
    for file, size in sizes.items():
        tell(f"{shown(file)}  {size} bytes")
