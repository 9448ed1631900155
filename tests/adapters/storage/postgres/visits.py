"""Counts the rows that a statement reads."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import asyncpg

from foliot.adapters.storage.postgres.database.schema import statements
from foliot.adapters.storage.postgres.database.transaction import SETTINGS


async def rows_visited(dsn: str, name: str, values: Sequence[str], *, mode: str = "auto") -> int:
    """Return the number of table rows that were read for the result, including discarded ones."""
    connection = await asyncpg.connect(dsn, statement_cache_size=0)
    try:
        for setting, value in {**SETTINGS, "plan_cache_mode": mode}.items():
            await connection.execute(f"SET {setting} = '{value}'")
        await connection.execute(f"PREPARE asked AS {statements()[name]}")
        explained = await connection.fetchval(
            f"EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) EXECUTE asked({', '.join(values)})"
        )
    finally:
        await connection.close()
    return sum(_rows_read(json.loads(explained)[0]["Plan"]))


def _rows_read(node: dict[str, Any]) -> Iterator[int]:
    if "Relation Name" in node:
        thrown_away = sum(value for key, value in node.items() if key.startswith("Rows Removed"))
        yield int((node["Actual Rows"] + thrown_away) * node["Actual Loops"])
    for child in node.get("Plans", ()):
        yield from _rows_read(child)
