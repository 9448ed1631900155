"""foliot import crontab: write a configuration that does what a crontab does."""

import os
import sys
from pathlib import Path
from typing import Final

import click

from foliot import cron
from foliot.config.crontab import Imported, write_crontabs
from foliot.domain.crontab import expand_run_parts, parse_crontab
from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.configuration import print_problems
from foliot.interfaces.cli.crontab_sources import (
    Source,
    is_system_crontab,
    list_scripts,
    read_file,
    read_system_crontabs,
    read_user_crontab,
    unused_directories,
)
from foliot.interfaces.cli.output import print_line, print_note, print_warning
from foliot.interfaces.cli.render.text import counted, escaped
from foliot.interfaces.machine import current_account, home_of, machine_timezone

_SECTIONS: Final = {"Sources": {"crontab": "Convert a crontab to a configuration."}}
_HOMES: Final = {"crontab": "import_crontab:crontab"}
_PRIVATE: Final = 0o600


@click.group("import", cls=lazy_group(_SECTIONS, _HOMES))
def command() -> None:
    """Write a configuration for jobs of another scheduler."""


@click.command("crontab")
@click.argument("file", required=False)
@click.option("--user", metavar="NAME", help="The crontab of this account; with FILE: whose crontab it is.")
@click.option(
    "--system", is_flag=True, help="/etc/crontab, /etc/cron.d and their scripts; with FILE: its lines name users."
)
@click.option("--timezone", "--tz", help="Time zone of cron on its machine. Default: that of this machine.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file. Default: standard output.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def crontab(
    file: str | None, user: str | None, system: bool, timezone: str | None, output: Path | None, force: bool
) -> int:
    """Write the jobs of a crontab as a configuration: of FILE, of standard input (-), or of this account.

    What cannot be carried over is reported on standard error, and stays in the output as a comment. The exit code is
    1 if there is such a line.
    """
    if user is not None and system:
        raise InvalidInput("--user and --system are mutually exclusive", hint="Import them one after the other.")
    if output is not None and output.exists() and not force:
        raise FoliotError(f"{output} already exists", hint="Name another file, or overwrite it with --force.")
    sources = _sources(file, user, system)
    imported = _import(sources, _timezone(timezone), expand=system and file is None)
    _write(imported, output)
    print_problems(imported.problems)
    lines = f", {counted(imported.rejected, 'line')} left out" if imported.rejected else ""
    print_note(f"{counted(imported.jobs, 'job')} from {', '.join(escaped(source.file) for source in sources)}{lines}")
    return 1 if imported.rejected else 0


def _sources(file: str | None, user: str | None, system: bool) -> list[Source]:
    owner = None if system else user or current_account()
    if file == "-":
        text = sys.stdin.buffer.read().decode(errors="surrogateescape")
        return [Source("standard input", text, owner)]
    if file is not None:
        path = Path(file)
        return [read_file(path, owner if user is not None or not is_system_crontab(path) else None)]
    if owner is not None:
        return [read_user_crontab(owner)]
    found, skipped = read_system_crontabs()
    for path in skipped:
        hint = f"If your cron reads it: foliot import crontab --system {escaped(path)}"
        print_warning(f"{path} is skipped: most crons ignore files with such a name", hint)
    for path in unused_directories("".join(source.text for source in found)):
        hint = (
            "They stay with what starts them, such as anacron or a systemd timer. Write jobs for them to change that."
        )
        print_warning(f"no line starts the scripts in {path}", hint)
    return found


def _timezone(given: str | None) -> str:
    if given is not None:
        cron.zone(given)
        return given
    found = machine_timezone()
    if found is None:
        print_warning("the time zone of this machine has no known name: UTC is used", "Name it with --timezone.")
    return found or "UTC"


def _import(sources: list[Source], timezone: str, *, expand: bool) -> Imported:
    crontabs = [parse_crontab(source.text, source.file, owner=source.owner) for source in sources]
    if expand:
        crontabs = [expand_run_parts(crontab, list_scripts) for crontab in crontabs]
    is_system = any(source.owner is None for source in sources)
    own = None if is_system else current_account()
    return write_crontabs(crontabs, timezone=timezone, home_of=home_of, own=own)


def _write(imported: Imported, output: Path | None) -> None:
    if output is None:
        print_line(imported.text.rstrip("\n"))
        return
    try:
        # Crontabs are readable by their owner only, and may contain passwords.
        with os.fdopen(os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w", encoding="utf-8") as file:
            file.write(imported.text)
    except OSError as error:
        fault = (error.strerror or str(error)).lower()
        raise FoliotError(f"{output} could not be written: {fault}", hint="Name another file with --output.") from None
    print_line(f"wrote {escaped(output)}")
