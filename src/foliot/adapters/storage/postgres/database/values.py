"""Converts values for statements: rows to columns, arrays to text, and texts that PostgreSQL cannot store.

PostgreSQL text cannot contain NUL, so no row has such a name.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

Text = TypeVar("Text", bound=str)


def columns(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """Return the columns of some rows.

    A column with only None becomes an empty array: unnest fills it with NULL, and encoding values is expensive.
    """
    return [[] if column.count(None) == len(column) else list(column) for column in zip(*rows, strict=True)]


def shared(arrays: Iterable[Sequence[object]]) -> tuple[list[list[object]], list[object]]:
    """Return arrays and values: a column with the same value in all rows becomes an empty array and that value, other
    columns keep their array and get None."""
    kept: list[list[object]] = []
    values: list[object] = []
    for column in arrays:
        is_uniform = len(column) > 0 and column.count(column[0]) == len(column)
        kept.append([] if is_uniform else list(column))
        values.append(column[0] if is_uniform else None)
    return kept, values


def literal(values: Sequence[Any]) -> str:
    """Return an array in PostgreSQL's text format. The driver would inspect each value for nested arrays."""
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
    """Group rows by their first column, and remove it."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1:])
    return found


def is_storable(name: str) -> bool:
    return "\0" not in name


def storable_names(names: Iterable[Text]) -> list[Text]:
    return [name for name in names if is_storable(name)]


def without_unstorable(values: Sequence[object]) -> tuple[object, ...] | None:
    """Return values that a reading statement can be given, or None if one of them can match no row.

    In a list such a text becomes NULL, which equals nothing: lists may belong together, item by item.
    """
    if not all(is_storable(value) for value in values if isinstance(value, str)):
        return None
    return tuple([_or_null(item) for item in value] if isinstance(value, list) else value for value in values)


def _or_null(item: object) -> object:
    return item if not isinstance(item, str) or is_storable(item) else None
