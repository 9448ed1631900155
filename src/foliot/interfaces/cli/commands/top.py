"""foliot top: a live view of running, queued and upcoming runs."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from foliot.interfaces.cli.open_storage import with_services
from foliot.interfaces.cli.options import json_option, storage_options
from foliot.interfaces.cli.outage import OUTAGES
from foliot.interfaces.cli.output import print_json, print_line
from foliot.interfaces.cli.parse import seconds_within
from foliot.interfaces.cli.render.overview import headline, overview_document, sections
from foliot.interfaces.cli.render.pause import pause_banner
from foliot.interfaces.cli.render.table import console, is_terminal, print_table, rich_table
from foliot.interfaces.cli.render.text import escaped
from foliot.service.operations import Operations
from foliot.service.queries.overview import OverviewPage


@click.command("top")
@storage_options
@click.option("--once", is_flag=True, help="Print the page once and exit. Default if the output is piped.")
@click.option(
    "--every", default=1.0, show_default=True, type=seconds_within(0.1, 3_600), help="Seconds between updates."
)
@json_option("one object, once")
def command(storage: str | None, config: Path | None, once: bool, every: float, as_json: bool) -> None:
    """Watch running, queued and upcoming runs, the workers and the last failures. Exit with q or Ctrl-C."""
    if not (once or as_json) and is_terminal():
        with_services(storage, config, lambda services: _watch(services, every))
        return
    page = with_services(storage, config, lambda services: services.queries.overview.page())
    if as_json:
        print_json(overview_document(page))
    else:
        _print(page)


def _print(page: OverviewPage) -> None:
    print_line(headline(page))
    if page.paused is not None:
        print_line(pause_banner(page.paused))
    for section in sections(page):
        print_line(f"\n{section.title}")
        print_table(section.columns, section.rows)


async def _watch(services: Operations, every: float) -> None:
    from rich.live import Live

    stop = asyncio.Event()
    screen = console()
    with _keys(stop), Live(console=screen, screen=True, auto_refresh=False) as live:
        while not stop.is_set():
            live.update(await _picture(services, screen.width), refresh=True)
            try:
                await asyncio.wait_for(stop.wait(), every)
            except TimeoutError:
                continue


async def _picture(services: Operations, width: int) -> Any:
    from rich.console import Group
    from rich.text import Text

    try:
        page = await services.queries.overview.page()
    except OUTAGES as error:
        # It may be available again at the next update: a view that is open all day survives a restart.
        return Text(escaped(error.message), style="red")
    parts: list[Any] = [Text(headline(page), style="bold")]
    if page.paused is not None:
        parts.append(Text(pause_banner(page.paused), style="bold yellow"))
    for section in sections(page):
        rows = [[escaped(cell) for cell in row] for row in section.rows]
        parts += [Text(f"\n{section.title}", style="bold cyan"), rich_table(section.columns, rows, width=width)]
    return Group(*parts)


@contextmanager
def _keys(stop: asyncio.Event) -> Iterator[None]:
    """Stop on q, without waiting for Enter, if standard input is a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    loop = asyncio.get_running_loop()

    def read_key() -> None:
        if os.read(keyboard, 1) in (b"q", b"Q", b"\x04", b""):
            stop.set()

    # TCSANOW: the default would discard keys that were pressed while this program started.
    tty.setcbreak(keyboard, termios.TCSANOW)
    loop.add_reader(keyboard, read_key)
    try:
        yield
    finally:
        loop.remove_reader(keyboard)
        termios.tcsetattr(keyboard, termios.TCSADRAIN, before)
