"""Arrays sent as text have the same values on the server."""

from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres.database.values import literal, shared

TEXTS: list[list[str | None]] = [
    [],
    ["a"],
    ["a", "b c", " d "],
    ["", "NULL", "null"],
    [None, "a", None],
    ['say "so"', "back\\slash", '\\"'],
    ["{1,2}", "a,b", "'", "$1", "%s"],
    ["new\nline", "tab\t", "ü", "\U0001f600"],
    ['"'],
    ["\\"],
]
NUMBERS: list[list[int | None]] = [[], [0], [-1, 2**62], [None], [1, None, 3]]


@pytest.mark.parametrize("values", TEXTS, ids=str)
async def test_text_arrays_are_unchanged(connection: "asyncpg.Connection[Any]", values: list[str | None]) -> None:
    assert await connection.fetchval("SELECT $1::text::text[]", literal(values)) == values


@pytest.mark.parametrize("values", NUMBERS, ids=str)
async def test_number_arrays_are_unchanged(connection: "asyncpg.Connection[Any]", values: list[int | None]) -> None:
    assert await connection.fetchval("SELECT $1::text::bigint[]", literal(values)) == values


async def test_boolean_arrays_are_unchanged(connection: "asyncpg.Connection[Any]") -> None:
    assert await connection.fetchval("SELECT $1::text::boolean[]", literal([True, False, None])) == [True, False, None]


def test_a_column_with_one_value_is_sent_once() -> None:
    assert shared([[1, 1], [1, 2], [None, None], [None, 1]]) == ([[], [1, 2], [], [None, 1]], [1, None, None, None])
