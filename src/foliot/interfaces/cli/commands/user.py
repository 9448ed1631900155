"""foliot user: people who log in with a password."""

import sys
from pathlib import Path
from typing import Final

import click

from foliot.domain.access.login import LONGEST_PASSWORD, check_password
from foliot.domain.access.role import PEOPLE
from foliot.errors import InvalidInput
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note, print_result
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json as document_of

_COLUMNS: Final = (
    Column("NAME", is_whole=True, stays=True),
    Column("ROLE", stays=True),
    Column("CREATED"),
    Column("BY"),
    Column("PASSWORD SET"),
)
_SECTIONS: Final = {
    "Commands": {
        "add": "Add a user.",
        "list": "List users.",
        "passwd": "Set the password of a user.",
        "remove": "Remove users.",
    }
}
_HOMES: Final = {"add": "user:add", "list": "user:list_all", "passwd": "user:passwd", "remove": "user:remove"}

password_option = click.option(
    "--password-stdin", "from_stdin", is_flag=True, help="Read the password from standard input instead of asking."
)


@click.group("user", cls=lazy_group(_SECTIONS, _HOMES))
def command() -> None:
    """Manage the people who log in to the web page with a password."""


@click.command("add")
@click.argument("name")
@storage_options
@click.option("--role", type=click.Choice([role.value for role in PEOPLE]), required=True, help="What the user may do.")
@password_option
@json_option("one object")
def add(name: str, storage: str | None, config: Path | None, role: str, from_stdin: bool, as_json: bool) -> None:
    """Add the user NAME. The password is asked for, and only a digest of it is stored."""
    password = _read_password(from_stdin)
    user = with_services(storage, config, lambda services: services.users.add(name, password, role=role), create=True)
    print_result(f"added {user.name} ({user.role})", document_of(user), as_json=as_json)


@click.command("list")
@storage_options
@json_option("one object per line")
def list_all(storage: str | None, config: Path | None, as_json: bool) -> None:
    """List users by name."""
    found = with_services(storage, config, lambda services: services.users.all())
    if as_json:
        print_json_lines(document_of(user) for user in found)
        return
    print_table(
        _COLUMNS,
        [(one.name, one.role, moment(one.created_at), one.created_by, moment(one.changed_at)) for one in found],
    )
    if not found:
        print_note("no users; add one with: foliot user add NAME --role admin")


@click.command("passwd")
@click.argument("name")
@storage_options
@password_option
@json_option("one object")
def passwd(name: str, storage: str | None, config: Path | None, from_stdin: bool, as_json: bool) -> None:
    """Set the password of the user NAME. All sessions of the user end."""
    password = _read_password(from_stdin)
    with_services(storage, config, lambda services: services.users.set_password(name, password))
    print_result(f"changed the password of {name}", {"name": name, "done": "changed"}, as_json=as_json)


@click.command("remove")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per user")
def remove(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Remove users. All their sessions end."""

    async def run(services: Operations, name: str) -> Result:
        await services.users.remove(name)
        return {"name": name, "done": "removed", "text": f"removed {name}"}

    return run_batch(storage, config, names, run, as_json=as_json)


def _read_password(from_stdin: bool) -> str:
    if from_stdin:
        return check_password(sys.stdin.read(LONGEST_PASSWORD + 2).rstrip("\r\n"))
    if not sys.stdin.isatty():
        hint = "Write it to standard input, and add --password-stdin."
        raise InvalidInput("there is no terminal to ask for the password", hint=hint, field="password")
    asked = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return check_password(str(asked))
