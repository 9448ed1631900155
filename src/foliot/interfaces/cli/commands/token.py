"""foliot token: tokens of programs that use the HTTP API."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from foliot.domain.access.role import CREDENTIAL_ROLES
from foliot.errors import InvalidInput
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.id_completion import complete_ids
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note, print_result
from foliot.interfaces.cli.parse import parse_future
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.commands.tokens import TokenView
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json as document_of

_COLUMNS: Final = (
    Column("NAME", is_whole=True, stays=True),
    Column("MAY", stays=True),
    Column("STATE", stays=True),
    Column("EXPIRES"),
    Column("LAST USED"),
    Column("CREATED"),
    Column("BY"),
    Column("ID", is_whole=True),
)
_SECTIONS: Final = {
    "Commands": {
        "create": "Create a token and print it once.",
        "list": "List tokens.",
        "revoke": "Revoke tokens.",
    }
}
_HOMES: Final = {"create": "token:create", "list": "token:list_all", "revoke": "token:revoke"}


@click.group("token", cls=lazy_group(_SECTIONS, _HOMES))
def command() -> None:
    """Manage the tokens of programs that use the HTTP API."""


@click.command("create")
@storage_options
@click.option(
    "--role",
    type=click.Choice([role.value for role in CREDENTIAL_ROLES]),
    help="What the token may do. Each role includes those before it, except worker, which only executes runs.",
)
@click.option("--job", help="Instead of a role: the only job or workflow that the token may start.",
              shell_complete=complete_ids("job"))  # fmt: skip
@click.option("--name", help="A name for lists and the audit trail.")
@click.option("--expires", help="When it expires: 90d, 12h, or a time in ISO 8601. By default never.")
@json_option("one object")
def create(
    storage: str | None,
    config: Path | None,
    role: str | None,
    job: str | None,
    name: str | None,
    expires: str | None,
    as_json: bool,
) -> None:
    """Create a token with a role, or one that may start one job and nothing else.

    The token is printed once and cannot be shown again: only a digest of it is stored.
    Without tokens and users, a server on 127.0.0.1 needs no credentials; with the first one, every request needs them.
    """
    if (role is None) == (job is None):
        raise InvalidInput("a token has either a role or a job", hint="Give --role or --job.", field="role")
    until = None if expires is None else parse_future(expires, datetime.now(UTC))
    created = with_services(
        storage,
        config,
        lambda services: services.tokens.create(role=role, job=job, name=name, expires=until),
        create=True,
    )
    print_result(created.secret, {**document_of(created.token), "token": created.secret}, as_json=as_json)
    if not as_json:
        print_note(f'token "{created.token.name}" ({_may(created.token)}): store it now, it cannot be shown again')


@click.command("list")
@storage_options
@click.option("--revoked", is_flag=True, help="Also list revoked tokens.")
@json_option("one object per line")
def list_all(storage: str | None, config: Path | None, revoked: bool, as_json: bool) -> None:
    """List tokens, oldest first. The tokens themselves are not stored."""

    async def read(services: Operations) -> list[TokenView]:
        return [token async for token in services.tokens.all(revoked=revoked)]

    found = with_services(storage, config, read)
    if as_json:
        print_json_lines(document_of(token) for token in found)
        return
    print_table(_COLUMNS, [_row(token) for token in found])
    if not found:
        print_note("no tokens; create one with: foliot token create --role admin")


@click.command("revoke")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per token")
def revoke(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Revoke tokens, given by name or id. Requests with them are refused from now on."""

    async def run(services: Operations, name: str) -> Result:
        token = await services.tokens.revoke(name)
        return {"name": token.name, "id": token.id, "done": "revoked", "text": f"revoked {token.name}"}

    return run_batch(storage, config, names, run, as_json=as_json)


def _row(token: TokenView) -> tuple[str, ...]:
    expires = "never" if token.expires_at is None else moment(token.expires_at)
    times = expires, moment(token.last_used_at), moment(token.created_at)
    return token.name, _may(token), token.state, *times, token.created_by, token.id


def _may(token: TokenView) -> str:
    return token.role or ", ".join(token.scopes)
