"""Texts that no row can hold: PostgreSQL knows no NUL. What is asked for by one of them does not exist."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

Text = TypeVar("Text", bound=str)


def is_possible(name: str) -> bool:
    return "\0" not in name


def possible_ones(names: Iterable[Text]) -> list[Text]:
    return [name for name in names if is_possible(name)]


def without_impossible(values: Sequence[object]) -> tuple[object, ...] | None:
    """What a statement that reads may be given instead. None: one of the values alone makes that it finds nothing.

    In a list an impossible text becomes NULL, which nothing equals: lists may belong together, item by item.
    """
    if not all(is_possible(value) for value in values if isinstance(value, str)):
        return None
    return tuple([_or_null(item) for item in value] if isinstance(value, list) else value for value in values)


def _or_null(item: object) -> object:
    return item if not isinstance(item, str) or is_possible(item) else None
