"""Tables and lists of fields: coloured and fitted on a terminal, aligned plain text everywhere else."""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from foliot.interfaces.cli.speaking import tell
from foliot.interfaces.cli.text import shown

STYLES: Final = {
    "running": "cyan",
    "cancelling": "yellow",
    "success": "green",
    "partial": "yellow",
    "failed": "red",
    "failure": "red",
    "timeout": "red",
    "cancelled": "yellow",
    "skipped": "dim",
    "scheduled": "dim",
    "pending": "dim",
    "met": "green",
    "missing": "yellow",
    "queued": "blue",
    "ran": "green",
    "missed": "red",
    "coalesced": "yellow",
    "paused": "yellow",
    "disabled": "dim",
    "on": "green",
    "created": "green",
    "changed": "yellow",
    "renamed": "yellow",
    "removed": "red",
    "refused": "red",
    "unchanged": "dim",
    "error": "bold red",
    "warning": "yellow",
}
"""Words that have a colour wherever they begin a cell."""


class Column(NamedTuple):
    """`is_whole`: never shortened on a narrow terminal, because people copy it."""

    title: str
    is_whole: bool = False


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their titles. Nothing at all is printed for no rows."""
    texts = [[shown(cell) for cell in row] for row in rows]
    if not texts:
        return
    if is_terminal():
        _print_rich(columns, texts)
        return
    for line in aligned([[column.title for column in columns], *texts]):
        tell(line)


def print_fields(fields: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one pair on a line; None is left out."""
    pairs = [(name, shown(value)) for name, value in fields if value is not None]
    if is_terminal():
        _print_rich([Column("", is_whole=True), Column("")], pairs, heading=False)
        return
    for line in aligned(pairs):
        tell(line)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Each row as a line, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()


def style_of(cell: str) -> str:
    return STYLES.get(cell.partition(" ")[0], "")


def moment(at: datetime | None) -> str:
    """A moment for people: in the zone of this machine, and saying which."""
    if at is None:
        return "-"
    text = at.astimezone().isoformat(" ", "seconds")
    return f"{text.removesuffix('+00:00')}Z" if text.endswith("+00:00") else text


def span(length: float | None) -> str:
    """Seconds in their two largest units: 350ms, 12.3s, 4m05s, 3h20m, 2d04h."""
    if length is None:
        return "-"
    if length < 1:
        return f"{round(length * 1_000)}ms"
    if length < 60:
        return f"{length:.1f}s"
    minutes, seconds = divmod(int(length), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days}d{hours:02}h"
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{seconds:02}s"


def _print_rich(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, heading: bool = True) -> None:
    console().print(rich_table(columns, rows, heading=heading))


def rich_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, heading: bool = True) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=heading, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(
            column.title, no_wrap=column.is_whole, overflow="fold", style="dim" if not column.title else ""
        )
    for row in rows:
        table.add_row(*(Text(cell, style=style_of(cell)) for cell in row))
    return table


def console() -> Any:
    """A rich console that takes no text for markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
