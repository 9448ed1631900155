"""A gate reads by index, and no more rows of a long history than of a short one."""

from collections.abc import Iterator

import pytest

from tests.adapters.storage.postgres.fresh import fresh_database
from tests.adapters.storage.postgres.visits import rows_visited

FEW, MANY = 100, 10_000
_ASKED = {
    "dependency_states": ("'default'", "'{scan}'", "0", "9000000000000", "50"),
    "latest_of_status": ("'default'", "'scan'", "'{success,partial}'", "9000000000000"),
    "latest_of_reason": ("'default'", "'scan'", "'{failed,skipped}'", "9000000000000", "'{dep_failed}'"),
}
_FILL = """
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, trouble, reason, due_at, created_at,
                         finished_at)
SELECT lpad(n::text, 26, '0'), 'default', 'scan', 'default', 0, 'api', 'failed', 'failed', 'exit_code', n, n, n
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
async def test_a_gate_reads_equally_many_rows_after_a_hundred_times_as_many_runs(
    dsns: dict[int, str], name: str
) -> None:
    few, many = [await rows_visited(dsns[runs], name, _ASKED[name]) for runs in (FEW, MANY)]

    assert many <= few <= 60
