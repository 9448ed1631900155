"""foliot doctor: what is wrong with this installation, and what to do."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

import foliot
from foliot.config import Loaded, written_secrets
from foliot.domain.defaults import DEFAULT_STORAGE
from foliot.domain.file_url import parse_file_url
from foliot.errors import FoliotError, InvalidInput, Severity
from foliot.interfaces.cli.configuration import read_config
from foliot.interfaces.cli.open_storage import on_server, opened_storage
from foliot.interfaces.cli.options import find_config, json_option, storage_options
from foliot.interfaces.cli.output import print_json, print_line
from foliot.interfaces.cli.place import given_server
from foliot.interfaces.cli.progress import progress_note
from foliot.interfaces.cli.render.doctor import OK, report_document, report_lines
from foliot.interfaces.cli.render.text import escaped
from foliot.service.queries.doctor.host import ConfigFacts
from foliot.service.queries.doctor.report import Doctor, Report
from foliot.service.services import Services
from foliot.wiring.machine import build_host

_CODES: Final[Mapping[str, int]] = {OK: 0, Severity.WARNING: 1, Severity.ERROR: 2}


@click.command("doctor")
@storage_options
@json_option("one object")
def command(storage: str | None, config: Path | None, as_json: bool) -> int:
    """Check this installation: the configuration, the database, the server, clocks and this machine.

    It works with and without a running server, and changes nothing except one row that shows whether the database can
    be written. With --url, the server checks its own installation.

    The exit code is 0 if no problems are found, 1 if there are warnings, 2 if there are errors.
    """
    with progress_note("examining the installation"):
        document = _document(storage, config)
    if as_json:
        print_json(document)
    else:
        for line in report_lines(document):
            print_line(escaped(line))
    return _CODES[document["severity"]]


def _document(storage: str | None, config: Path | None) -> dict[str, Any]:
    server = given_server()
    if server is not None:
        return on_server(server, lambda remote: remote.client.server.doctor())
    path = find_config(config)
    loaded = None if path is None else read_config(path)
    url = storage or DEFAULT_STORAGE if loaded is None else storage or loaded.storage
    return report_document(_examine(url, _facts(path, loaded)), foliot.__version__)


def _examine(url: str | None, config: ConfigFacts) -> Report:
    doctor = Doctor(build_host(), config, _database_file(url))

    async def examine(url: str) -> Report:
        async with opened_storage(url) as services:
            return await services.queries.examined_by(doctor)

    try:
        if url is None:
            raise FoliotError("the configuration does not name a valid storage", hint="Correct it, or use --storage.")
        return asyncio.run(examine(url))
    except InvalidInput:
        raise
    except FoliotError as error:
        return doctor.without_storage(error, datetime.now(UTC))


async def examine_services(services: Services, path: Path | None, loaded: Loaded | None) -> dict[str, Any]:
    """Return the report about open services as a document."""
    url = None if loaded is None else loaded.storage
    doctor = Doctor(build_host(), _facts(path, loaded), _database_file(url))
    return report_document(await services.queries.examined_by(doctor), foliot.__version__)


def _facts(path: Path | None, loaded: Loaded | None) -> ConfigFacts:
    if loaded is None or path is None:
        return ConfigFacts()
    settings = loaded.settings
    files = (path,) if settings is None else settings.files or (path,)
    return ConfigFacts(
        problems=loaded.problems,
        secrets={str(file): written_secrets(file) for file in files},
        slots=0 if settings is None else settings.server.slots,
        is_guard_off=(
            settings is not None and settings.server.mode == "production" and not settings.outbound.block_private
        ),
    )


def _database_file(url: str | None) -> str | None:
    """Return the path of a SQLite database, or None."""
    if url is None or not url.startswith("sqlite:"):
        return None
    try:
        return parse_file_url(url)[0]
    except InvalidInput:
        return None
