"""A gate looks into an index, and reads no more rows of a long history than of a short one."""

import json
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres.database import SETTINGS
from foliot.adapters.storage.postgres.statements import statements
from tests.adapters.storage.postgres.fresh import fresh_database

FEW, MANY = 100, 10_000
_ASKED = {
    "sights": ("'default'", "'{scan}'", "0", "9000000000000", "50"),
    "latest_of_status": ("'default'", "'scan'", "'{success,partial}'", "9000000000000"),
    "latest_of_reason": ("'default'", "'scan'", "'{failed,skipped}'", "9000000000000", "'{dep_failed}'"),
}
_FILL = """
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, is_trouble, reason, due_at, created_at,
                         finished_at)
SELECT lpad(n::text, 26, '0'), 'default', 'scan', 'default', 0, 'api', 'failed', true, 'exit_code', n, n, n
FROM generate_series(1, {0}) AS n;
INSERT INTO foliot.endings SELECT 'default', 'scan', n, lpad(n::text, 26, '0'), 'failed', 'exit_code'
FROM generate_series(1, {0}) AS n;
ANALYZE;
"""


@pytest.fixture(scope="module")
def dsns() -> Iterator[dict[int, str]]:
    with fresh_database() as (server, few), fresh_database() as (_, many):
        server.sql(_FILL.format(FEW), database=few)
        server.sql(_FILL.format(MANY), database=many)
        yield {FEW: server.dsn(few), MANY: server.dsn(many)}


@pytest.mark.proves("R0-81")
@pytest.mark.parametrize("name", _ASKED)
async def test_what_a_gate_asks_reads_the_same_rows_after_a_hundred_times_as_many_runs(
    dsns: dict[int, str], name: str
) -> None:
    few, many = [await rows_read(dsns[runs], name) for runs in (FEW, MANY)]

    assert many <= few <= 60


async def rows_read(dsn: str, name: str) -> int:
    """How many rows of tables were touched to answer, those that were thrown away included."""
    connection = await asyncpg.connect(dsn, statement_cache_size=0)
    try:
        for setting, value in SETTINGS.items():
            await connection.execute(f"SET {setting} = '{value}'")
        await connection.execute(f"PREPARE asked AS {statements()[name]}")
        explained = await connection.fetchval(
            f"EXPLAIN (ANALYZE, TIMING off, FORMAT JSON) EXECUTE asked({', '.join(_ASKED[name])})"
        )
    finally:
        await connection.close()
    return sum(touched(json.loads(explained)[0]["Plan"]))


def touched(node: dict[str, Any]) -> Iterator[int]:
    if "Relation Name" in node:
        thrown_away = sum(value for key, value in node.items() if key.startswith("Rows Removed"))
        yield int((node["Actual Rows"] + thrown_away) * node["Actual Loops"])
    for child in node.get("Plans", ()):
        yield from touched(child)
