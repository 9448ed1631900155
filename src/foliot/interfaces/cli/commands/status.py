"""foliot status: whether all is well, on one screen and as an exit code."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from foliot.errors import FoliotError, InvalidInput
from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.output import print_json, print_line
from foliot.interfaces.cli.render.pause import pause_banner
from foliot.interfaces.cli.render.status import fields, headline, notice_hint, notice_text, status_document
from foliot.interfaces.cli.render.table import print_fields
from foliot.interfaces.cli.render.text import escaped
from foliot.service.queries.notice import State
from foliot.service.queries.status import StatusPage, unreachable_page

_CODES: Final[Mapping[State, int]] = {State.WELL: 0, State.ATTENTION: 1, State.DOWN: 2}


@click.command("status")
@storage_options
@json_option("one object")
def command(storage: str | None, config: Path | None, as_json: bool) -> int:
    """Show whether Foliot is working and what needs attention.

    The exit code is 0 if all is well, 1 if something needs attention, 2 if no scheduler or
    no worker is alive, or the database cannot be reached.
    """
    page = _page(storage, config)
    if as_json:
        print_json(status_document(page))
    else:
        _print(page)
    return _CODES[page.state]


def _page(storage: str | None, config: Path | None) -> StatusPage:
    try:
        return with_services(storage, config, lambda services: services.queries.status.page())
    except InvalidInput:
        raise
    except FoliotError as error:
        return unreachable_page(error.message, error.hint, datetime.now(UTC))


def _print(page: StatusPage) -> None:
    print_line(headline(page))
    if page.paused is not None:
        print_line(pause_banner(page.paused))
    for notice in page.notices:
        print_line(f"\n{notice.state}: {escaped(notice_text(notice))}")
        print_line(f"  {escaped(notice_hint(notice))}")
    if shown := fields(page):
        print_line()
        print_fields(shown)
