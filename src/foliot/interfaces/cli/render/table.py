"""Tables and lists of fields: coloured and fitted on a terminal, aligned plain text elsewhere."""

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from foliot.domain.ids import ID_LENGTH
from foliot.interfaces.cli.output import print_line
from foliot.interfaces.cli.render.text import escaped

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
    "unreadable": "bold red",
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
"""First word of a cell -> style."""
_GAP: Final = "  "
_LONGEST_WORD: Final = 16
"""Longer words are broken before a column is dropped."""


class Column(NamedTuple):
    """`is_whole`: not wrapped if there is room, because people copy it. `stays`: never dropped, see `layout`."""

    title: str
    is_whole: bool = False
    stays: bool = False


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under their titles; nothing if there are no rows."""
    texts = [[escaped(cell) for cell in row] for row in rows]
    if not texts:
        return
    if is_terminal():
        _print_rich(columns, texts)
        return
    print_line("\n".join(aligned([[column.title for column in columns], *texts])))


def print_fields(fields: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one pair per line, without those whose value is None."""
    pairs = [(name, escaped(value)) for name, value in fields if value is not None]
    if is_terminal():
        _print_rich([Column("", is_whole=True), Column("", stays=True)], pairs, heading=False)
        return
    if pairs:
        print_line("\n".join(aligned(pairs)))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return each row as a line, each column as wide as its longest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [_GAP.join(map(str.ljust, row, widths)).rstrip() for row in rows]


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def style_of(cell: str) -> str:
    return STYLES.get(cell.partition(" ")[0], "")


def print_section(title: str, columns: Sequence[Column], rows: Sequence[Sequence[object]]) -> None:
    """Print a table after an empty line; nothing if there are no rows."""
    if rows:
        print_line(f"\n{title}" if title else "")
        print_table(columns, rows)


def layout(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> dict[int, int]:
    """Return the columns that fit into a line of this width, with their widths.

    Text is wrapped first, then names longer than the id of a run; then columns are dropped, from the right. The first
    column and those with `stays` are kept: if they do not fit either, words are broken.
    """
    least = [_least_width(column, cells) for column, cells in _by_column(columns, rows)]
    kept = list(range(len(columns)))
    if _total_width(least) > width:
        least = [min(need, ID_LENGTH) for need in least]
    for at in reversed(kept[1:]):
        if _total_width([least[one] for one in kept]) > width and not columns[at].stays:
            kept.remove(at)
    wanted = [_longest([column.title, *cells]) for column, cells in _by_column(columns, rows)]
    return _distributed({at: least[at] for at in kept}, wanted, width)


def _by_column(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> Iterable[tuple[Column, Sequence[str]]]:
    return zip(columns, zip(*rows, strict=True), strict=True)


def _least_width(column: Column, cells: Iterable[str]) -> int:
    """Return the smallest width at which a column can be read."""
    if column.is_whole:
        return _longest([column.title, *cells])
    words = [word for cell in cells for word in cell.split()]
    return max(_longest([column.title]), min(_LONGEST_WORD, _longest(words)))


def _longest(texts: Iterable[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)


def _total_width(widths: Collection[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _distributed(widths: dict[int, int], wanted: Sequence[int], width: int) -> dict[int, int]:
    """Distribute free width from the left; take missing width from the widest column."""
    while (missing := _total_width(widths.values()) - width) > 0 and max(widths.values()) > 1:
        widest = max(widths, key=lambda at: widths[at])
        others = [one for at, one in widths.items() if at != widest]
        widths[widest] = max(1, max(others, default=1) - 1, widths[widest] - missing)
    for at in widths:
        widths[at] += max(0, min(wanted[at] - widths[at], width - _total_width(widths.values())))
    return widths


def _print_rich(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, heading: bool = True) -> None:
    screen = console()
    screen.print(rich_table(columns, rows, width=screen.width, heading=heading))


def rich_table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, width: int, heading: bool = True) -> Any:
    """Return a table for a terminal of this width."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=heading, header_style="bold", padding=(0, len(_GAP), 0, 0))
    widths = layout(columns, rows, width)
    for at in widths:
        title = columns[at].title
        table.add_column(title, width=widths[at], overflow="fold", style="dim" if not title else "")
    for row in rows:
        table.add_row(*(Text(row[at], style=style_of(row[at])) for at in widths))
    return table


def console() -> Any:
    """Return a console that does not interpret markup in texts."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=False)
