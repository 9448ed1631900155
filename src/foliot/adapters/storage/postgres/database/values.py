"""Rows as statements take them and give them: by column, as arrays; and sorted by what they belong to."""

from collections.abc import Iterable, Sequence
from typing import Any


def columns(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """The columns of some rows.

    A column that is empty throughout becomes an empty array: unnest fills it up with NULL, and encoding values is dear.
    """
    return [[] if column.count(None) == len(column) else list(column) for column in zip(*rows, strict=True)]


def shared(arrays: Iterable[Sequence[object]]) -> tuple[list[list[object]], list[object]]:
    """Take out what is the same in all rows: those columns become empty, their value stands beside, else None."""
    kept: list[list[object]] = []
    values: list[object] = []
    for column in arrays:
        is_uniform = len(column) > 0 and column.count(column[0]) == len(column)
        kept.append([] if is_uniform else list(column))
        values.append(column[0] if is_uniform else None)
    return kept, values


def literal(values: Sequence[Any]) -> str:
    """An array as PostgreSQL writes one. The driver would look at each value to see whether it is an array itself."""
    if not isinstance(next((value for value in values if value is not None), None), str):
        return "{" + ",".join(map(str, values)).replace("None", "NULL") + "}"
    if None not in values:
        text = '","'.join(values)
        if "\\" not in text and text.count('"') == 2 * len(values) - 2:
            return '{"' + text + '"}'
    return "{" + ",".join(map(_quoted, values)) + "}"


def _quoted(value: str | None) -> str:
    return "NULL" if value is None else '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def by_uid(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Rows under the uid they begin with, and without it."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1:])
    return found
