"""foliot worker register, invite, join, list, disable, enable, remove: which workers may connect over HTTP."""

import json
import ssl
import sys
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import click

from foliot.errors import InvalidInput, JoinRefused, ServerUnavailable
from foliot.interfaces.cli.batch import Result, run_batch
from foliot.interfaces.cli.configuration import server_of
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import find_config, json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines, print_note, print_result
from foliot.interfaces.cli.place import given_server
from foliot.interfaces.cli.render.format import moment
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.operations import Operations
from foliot.service.queries.documents import as_json as document_of

_COLUMNS: Final = (
    Column("NAME", is_whole=True, stays=True),
    Column("STATE", stays=True),
    Column("LABELS", stays=True),
    Column("KINDS"),
    Column("LAST USED"),
    Column("CREATED"),
    Column("BY"),
    Column("ID", is_whole=True),
)
_OWN_ADDRESSES: Final = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})  # noqa: S104 - only compared
_TIMEOUT: Final = 30

Decorated = Callable[..., Any]


def _enrolment_options(function: Decorated) -> Decorated:
    label = click.option("--label", "labels", multiple=True, help="A label that it may use; may be repeated.")
    kinds = click.option("--kind", "kinds", multiple=True, help="A kind of jobs that it may execute. Default: all.")
    return label(kinds(function))


@click.command("register")
@click.argument("name")
@storage_options
@_enrolment_options
@click.option(
    "--server", help="URL of the server, for the printed environment. Default: that of --url or of the configuration."
)
@json_option("one object")
def register(
    name: str,
    storage: str | None,
    config: Path | None,
    labels: tuple[str, ...],
    kinds: tuple[str, ...],
    server: str | None,
    as_json: bool,
) -> None:
    """Enrol a worker, and print the environment that it needs. The secret cannot be shown again."""
    view, secret = with_services(
        storage, config, lambda services: services.enrolments.register(name, labels=labels, kinds=kinds), create=True
    )
    url = server or given_server() or server_of(find_config(config))
    _print_environment(url, view.id, secret, as_json=as_json)
    if not as_json and urlsplit(url).hostname in _OWN_ADDRESSES:
        print_note("FOLIOT_SERVER is an address for workers on this machine: give another one with --server")


@click.command("invite")
@click.argument("name")
@storage_options
@_enrolment_options
@click.option("--valid", default="10m", help="How long the token is valid, at most 1h. Default: 10m.")
@json_option("one object")
def invite(
    name: str,
    storage: str | None,
    config: Path | None,
    labels: tuple[str, ...],
    kinds: tuple[str, ...],
    valid: str,
    as_json: bool,
) -> None:
    """Print a join token, with which one worker gets its own secret, once: foliot worker join."""
    view, token = with_services(
        storage,
        config,
        lambda services: services.enrolments.invite(name, labels=labels, kinds=kinds, valid=valid),
        create=True,
    )
    print_result(token, {**document_of(view), "token": token}, as_json=as_json)
    if not as_json:
        print_note(f"valid once, until {moment(view.invited_until)}: foliot worker join --server URL < FILE")


@click.command("join")
@click.option("--server", required=True, envvar="FOLIOT_SERVER", help="URL of the server; also FOLIOT_SERVER.")
@json_option("one object")
def join(server: str, as_json: bool) -> None:
    """Get the secret of an invited worker. The join token is asked for, or read from standard input."""
    if sys.stdin.isatty():
        token = str(click.prompt("join token (not shown)", hide_input=True, err=True)).strip()
    else:
        token = sys.stdin.read(1_024).strip()
    joined = _post(f"{_checked(server)}/api/workers/join", {"token": token})
    _print_environment(server, str(joined["worker_id"]), str(joined["secret"]), as_json=as_json)


@click.command("list")
@storage_options
@json_option("one object per line")
def list_all(storage: str | None, config: Path | None, as_json: bool) -> None:
    """List the enrolments by name. Workers that are connected are in: foliot status."""
    found = with_services(storage, config, lambda services: services.enrolments.all())
    if as_json:
        print_json_lines(document_of(one) for one in found)
        return
    rows = [
        (
            one.name,
            one.state,
            ", ".join(one.labels),
            ", ".join(one.kinds) or "all",
            moment(one.last_used_at),
            moment(one.created_at),
            one.created_by,
            one.id,
        )
        for one in found
    ]
    print_table(_COLUMNS, rows)
    if not found:
        print_note("no enrolments; add one with: foliot worker register NAME")


@click.command("disable")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per worker")
def disable(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Refuse the requests of workers from now on. What they run is given to others when their leases run out."""

    async def run(services: Operations, name: str) -> Result:
        await services.enrolments.disable(name)
        return {"name": name, "done": "disabled", "text": f"disabled {name}"}

    return run_batch(storage, config, names, run, as_json=as_json)


@click.command("enable")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per worker")
def enable(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Accept the requests of disabled workers again."""

    async def run(services: Operations, name: str) -> Result:
        await services.enrolments.enable(name)
        return {"name": name, "done": "enabled", "text": f"enabled {name}"}

    return run_batch(storage, config, names, run, as_json=as_json)


@click.command("remove")
@click.argument("names", nargs=-1, required=True)
@storage_options
@json_option("one object per worker")
def remove(names: tuple[str, ...], storage: str | None, config: Path | None, as_json: bool) -> int:
    """Remove enrolments. Requests with their secrets are refused from now on."""

    async def run(services: Operations, name: str) -> Result:
        await services.enrolments.remove(name)
        return {"name": name, "done": "removed", "text": f"removed {name}"}

    return run_batch(storage, config, names, run, as_json=as_json)


def _print_environment(server: str, worker_id: str, secret: str, *, as_json: bool) -> None:
    facts = {"FOLIOT_SERVER": server, "FOLIOT_WORKER_ID": worker_id, "FOLIOT_WORKER_SECRET": secret}
    print_result("\n".join(f"{name}={value}" for name, value in facts.items()), facts, as_json=as_json)
    if not as_json:
        print_note("store it now: the secret cannot be shown again. Start the worker with: foliot worker")


def _checked(server: str) -> str:
    if urlsplit(server).scheme not in ("http", "https"):
        raise InvalidInput(
            "the address of the server is not a URL", hint="Write for example https://foliot.example.", field="server"
        )
    return server.rstrip("/")


def _post(url: str, body: dict[str, str]) -> dict[str, Any]:
    """Send one request. The URL has the scheme http or https."""
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    try:
        with urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310
            found: dict[str, Any] = json.load(answer)
            return found
    except HTTPError as error:
        if error.code == HTTPStatus.UNAUTHORIZED:
            raise JoinRefused from None
        fact = f"status {error.code}"
    except (URLError, ssl.SSLError, OSError, ValueError) as error:
        fact = str(getattr(error, "reason", error))[:200]
    raise ServerUnavailable(f"the server could not be used: {fact}", hint="Check the address, and that it runs.")
