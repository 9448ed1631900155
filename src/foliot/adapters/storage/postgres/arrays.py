"""Rows as statements take them and give them: by column, as arrays; and sorted by what they belong to."""

from collections.abc import Iterable, Sequence
from typing import Any


def columns(rows: Iterable[Sequence[object]]) -> list[list[object]]:
    """The columns of some rows.

    A column that is empty throughout becomes an empty array: unnest fills it up with NULL, and encoding values is dear.
    """
    return [[] if column.count(None) == len(column) else list(column) for column in zip(*rows, strict=True)]


def by_uid(rows: Iterable[Any]) -> dict[str, list[Any]]:
    """Rows under the uid they begin with, and without it."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1:])
    return found
