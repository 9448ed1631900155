"""foliot alert: try out where notifications go."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from foliot.config import Configuration
from foliot.errors import FoliotError
from foliot.interfaces.cli.command_group import lazy_group
from foliot.interfaces.cli.configuration import load_config
from foliot.interfaces.cli.open_storage import on_server, send_test_messages, storage_url
from foliot.interfaces.cli.options import find_config, json_option, storage_options
from foliot.interfaces.cli.output import print_json_lines
from foliot.interfaces.cli.place import given_server
from foliot.interfaces.cli.render.table import Column, print_table
from foliot.service.answers import SampleAnswer
from foliot.service.queries.documents import as_json as document_of

_SECTIONS: Final = {"Commands": {"test": "Send a test message to the configured targets."}}
_HOMES: Final = {"test": "alert:test"}
_COLUMNS: Final = (Column("TARGET"), Column("PLACE"), Column("ACCEPTED"), Column("ANSWER"))


@click.group("alert", cls=lazy_group(_SECTIONS, _HOMES))
def command() -> None:
    """Try out where notifications go."""


@click.command("test")
@click.option("--job", metavar="ID", help="Use the targets of this job. Default: those of [notifications].")
@storage_options
@json_option("one object per target")
def test(job: str | None, storage: str | None, config: Path | None, as_json: bool) -> int:
    """Send a test message to the configured targets, and print what each of them answers.

    The message is sent once, from this machine, with --url from that of the server. The exit code is 1 if a target
    does not accept it.
    """
    results = _send(job, storage, config)
    if not results:
        raise FoliotError(
            "no target is configured" if job is None else f'job "{job}" has no target',
            hint="Set webhook_url or slack_webhook_url in [notifications], or of a job: foliot alert test --job ID",
        )
    if as_json:
        print_json_lines(map(document_of, results))
    else:
        rows = [(one.target, one.place, "yes" if one.is_accepted else "no", one.answer) for one in results]
        print_table(_COLUMNS, rows)
    return 0 if all(result.is_accepted for result in results) else 1


def _send(job: str | None, storage: str | None, config: Path | None) -> Sequence[SampleAnswer]:
    server = given_server()
    if server is not None:
        return on_server(server, lambda remote: remote.client.server.test_alerts(job))
    path = find_config(config)
    configuration = Configuration() if path is None else load_config(path)
    url = storage_url(storage, config) if job is not None else None
    return asyncio.run(send_test_messages(url, configuration, job))
