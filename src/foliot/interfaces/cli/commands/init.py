"""foliot init: write a starter configuration."""

from pathlib import Path

import click

from foliot.config import STARTER
from foliot.errors import FoliotError
from foliot.interfaces.cli.options import CONFIG
from foliot.interfaces.cli.output import print_line, print_note
from foliot.interfaces.cli.render.text import escaped


@click.command("init")
@click.argument("file", type=click.Path(path_type=Path), default=CONFIG)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def command(file: Path, force: bool) -> None:
    """Write a commented starter configuration to FILE, foliot.toml by default."""
    if file.exists() and not force:
        raise FoliotError(f"{file} already exists", hint="Overwrite it with: foliot init --force")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(STARTER)
    except OSError as error:
        raise FoliotError(
            f"{file} could not be written: {error.strerror}", hint="Name another file: foliot init FILE"
        ) from None
    print_line(f"wrote {escaped(file)}")
    if file == Path(CONFIG):
        print_note("Edit it, then: foliot check; foliot serve")
    else:
        print_note(f"Edit it, then: foliot check {escaped(file)}; foliot serve --config {escaped(file)}")
