"""foliot dsn: the databases that fanouts may read."""

import sys
from pathlib import Path
from typing import Final

import click

from foliot.domain.fanout.inputs import check_dsn_name
from foliot.errors import InvalidInput
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note, print_result
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.operations import Operations

_COLUMNS: Final = (Column("NAME", is_whole=True), Column("DATABASE"), Column("CHANGED"))
_SECTIONS: Final = {
    "Commands": {
        "add": "Store a DSN, or replace it.",
        "list": "List the names of the DSNs.",
        "remove": "Remove DSNs.",
    }
}
_HOMES: Final = {"add": "dsn:add", "list": "dsn:list_all", "remove": "dsn:remove"}
_LONGEST: Final = 8_192


@click.group("dsn", cls=lazy_group(_SECTIONS, _HOMES))
def command() -> None:
    """Register the databases that fanouts may read with sql://NAME?SELECT ..."""


@click.command("add", context_settings={"allow_extra_args": True})
@click.argument("name")
@storage_options
@json_option("one object")
@click.pass_context
def add(context: click.Context, name: str, storage: str | None, config: Path | None, as_json: bool) -> None:
    """Store a DSN under NAME, encrypted. A DSN with this name is replaced.

    The DSN is asked for, or read from standard input: sqlite:////srv/shop.db or postgresql://user:password@host/shop.
    """
    if context.args:
        # click would print it, and it may contain a password.
        hint = "Arguments are visible to others. Write it to standard input: foliot dsn add NAME < FILE."
        raise InvalidInput("the DSN must not be an argument", hint=hint)
    checked, dsn = check_dsn_name(name), _read_dsn()
    is_new = with_services(storage, config, lambda services: services.dsns.add(checked, dsn), create=True)
    done = "added" if is_new else "replaced"
    print_result(f"{done} {name}", {"name": name, "done": done}, as_json=as_json)


@click.command("list")
@storage_options
@json_option("one object per line")
def list_all(storage: str | None, config: Path | None, as_json: bool) -> None:
    """List the stored DSNs by name. The DSNs themselves are not shown. DSNs in a configuration file are not listed."""
    found = with_services(storage, config, lambda services: services.dsns.all())
    if as_json:
        print_json_lines(one._asdict() for one in found)
        return
    print_table(_COLUMNS, [(one.name, one.engine, moment(one.updated_at)) for one in found])
    if not found:
        print_note("no DSNs")


@click.command("remove")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per name")
def remove(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Remove DSNs. Fanouts that use one of them fail."""

    async def run(services: Operations, name: str) -> Result:
        await services.dsns.remove(name)
        return {"name": name, "done": "removed", "text": f"removed {name}"}

    return run_batch(storage, config, names, run, as_json=as_json)


def _read_dsn() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("DSN (not shown)", hide_input=True, err=True)).strip()
    dsn = sys.stdin.read(_LONGEST).strip()
    if not dsn:
        raise InvalidInput("there is no DSN on standard input", hint="Write it there: foliot dsn add NAME < FILE")
    return dsn
