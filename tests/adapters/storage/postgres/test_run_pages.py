"""A page of runs reads equally many rows of a long history and of a short one, for any filter."""

from collections.abc import Iterator

import pytest

from tests.adapters.storage.postgres.fresh import fresh_database
from tests.adapters.storage.postgres.visits import rows_visited

FEW, MANY, PAGE = 2_000, 50_000, 100
_HALF_ARE_SKIPPED = """
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, trouble, due_at, created_at,
                         started_at, finished_at, attempt, schedule_uid, schedule_id, scheduled_for, tick_key)
SELECT lpad(n::text, 26, '0'), 'default', kind.job_id, 'default', 0, 'schedule', kind.status,
       nullif(kind.status, 'success'), n, n, n, n, 1, kind.job_id, kind.job_id || ':default', n, n
FROM generate_series(1, {0}) AS n
JOIN (VALUES (0, 'gated', 'skipped'), (1, 'fine', 'success')) AS kind (rest, job_id, status) ON kind.rest = n % 2;
INSERT INTO foliot.schedules (uid, project, id, version, job_id, revision, opened_at, spec, enabled, created_at,
                              updated_at, settled_until)
SELECT name, 'default', name || ':default', 1, name, 1, 0, '{{}}', true, 0, 0, 0
FROM unnest('{{gated,fine,new}}'::text[]) AS name;
ANALYZE;
"""


_CHILDREN = """
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, trouble, due_at, created_at,
                         started_at, finished_at, attempt, parent_id, root_id, child_key)
SELECT lpad((n + 1000000)::text, 26, '0'), 'default', 'each.item', 'default', 0, 'fanout', kind.status,
       nullif(kind.status, 'success'), n, n, n, n, 1, 'tree', 'tree', n::text
FROM generate_series(1, {0}) AS n,
     LATERAL (SELECT CASE WHEN n % 100 = 0 THEN 'timeout' ELSE 'success' END AS status) AS kind;
ANALYZE;
"""
"""They are newer than all other runs. One in a hundred timed out."""


def page(job: str | None = None, schedule: str | None = None, status: str | None = None) -> tuple[str, ...]:
    values = ("default", None, job, schedule, status)
    project, before, *others = ("NULL" if value is None else f"'{value}'" for value in values)
    return project, before, str(PAGE), *others


ASKED = {
    "a status that no run has": ("page_trouble", page(status="timeout")),
    "a status that many runs have": ("page_trouble", page(status="skipped")),
    "successes": ("page_project", page(status="success")),
    "a job": ("page_job", page(job="gated")),
    "a job without runs": ("page_job", page(job="new")),
    "successes of a job without runs": ("page_job", page(job="new", status="success")),
    "a job and a status that none of its runs has": ("page_job_trouble", page(job="gated", status="timeout")),
    "a job and a status that only other runs have": ("page_job_trouble", page(job="fine", status="skipped")),
    "a job and a status that all its runs have": ("page_job_trouble", page(job="gated", status="skipped")),
    "a schedule": ("page_schedule", page(schedule="gated:default")),
    "a schedule without runs": ("page_schedule", page(schedule="new:default")),
    "successes of a schedule without runs": ("page_schedule", page(schedule="new:default", status="success")),
    "a schedule and a status that no run has": (
        *("page_schedule_trouble", page(schedule="gated:default", status="timeout")),
    ),
    "a schedule and a status that only other runs have": (
        *("page_schedule_trouble", page(schedule="fine:default", status="skipped")),
    ),
}


ROOTS = {
    "roots": ("page_roots", page()),
    "successful roots": ("page_roots", page(status="success")),
    "failed roots": ("page_roots_trouble", page(status="timeout")),
    "skipped roots": ("page_roots_trouble", page(status="skipped")),
    "children": ("page_children", (*page(), "'tree'")),
}


@pytest.fixture(scope="module")
def with_children() -> Iterator[str]:
    with fresh_database() as (server, name):
        server.sql(_HALF_ARE_SKIPPED.format(FEW), database=name)
        server.sql(_CHILDREN.format(MANY), database=name)
        yield server.dsn(name)


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("what", ROOTS)
async def test_a_page_of_roots_reads_no_children(with_children: str, what: str, mode: str) -> None:
    name, values = ROOTS[what]

    assert await rows_visited(with_children, name, values, mode=mode) <= 2 * PAGE + 1


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("status", ["timeout", "failed"])
async def test_failed_children_are_found_without_reading_the_others(with_children: str, status: str, mode: str) -> None:
    values = (*page(status=status), "'tree'")

    assert await rows_visited(with_children, "page_children_trouble", values, mode=mode) <= MANY // 100 + PAGE


@pytest.fixture(scope="module")
def dsns() -> Iterator[dict[int, str]]:
    with fresh_database() as (server, few), fresh_database() as (_, many):
        server.sql(_HALF_ARE_SKIPPED.format(FEW), database=few)
        server.sql(_HALF_ARE_SKIPPED.format(MANY), database=many)
        yield {FEW: server.dsn(few), MANY: server.dsn(many)}


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("what", ASKED)
async def test_a_page_reads_no_more_rows_of_a_long_history(dsns: dict[int, str], what: str, mode: str) -> None:
    name, values = ASKED[what]

    few, many = [await rows_visited(dsns[runs], name, values, mode=mode) for runs in (FEW, MANY)]

    assert many <= few <= 2 * PAGE + 1


@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("what", ["a job", "a schedule", "successes", "a status that many runs have"])
async def test_a_page_far_back_reads_no_newer_rows(dsns: dict[int, str], what: str, mode: str) -> None:
    name, (project, _, *others) = ASKED[what]

    assert await rows_visited(dsns[MANY], name, (project, f"'{MANY // 2:026}'", *others), mode=mode) <= 2 * PAGE + 1


def test_a_success_updates_no_index() -> None:
    """The update stays in its page: no index contains a column that a success changes."""
    with fresh_database() as (server, name):
        server.sql(
            "INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at) "
            "SELECT n, 'default', 'report', 'default', 0, 'api', 'scheduled', 1, 1 FROM generate_series(1, 100) AS n",
            database=name,
        )
        updated = server.sql(
            "UPDATE foliot.runs SET status = 'success', finished_at = 2, started_at = 1, token = 1, attempt = 1; "
            "SELECT pg_stat_get_xact_tuples_updated(c) - pg_stat_get_xact_tuples_hot_updated(c) "
            "FROM (SELECT 'foliot.runs'::regclass::oid AS c) AS runs",
            database=name,
        )
    assert updated.split()[-1] == "0"
