"""A page of runs touches as many rows of a long history as of a short one, whatever it is asked for."""

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


def page(job: str | None = None, schedule: str | None = None, status: str | None = None) -> tuple[str, ...]:
    values = ("default", None, job, schedule, status)
    project, before, *others = ("NULL" if value is None else f"'{value}'" for value in values)
    return project, before, str(PAGE), *others


ASKED = {
    "a status nobody ended with": ("page_trouble", page(status="timeout")),
    "a status many ended with": ("page_trouble", page(status="skipped")),
    "successes": ("page_project", page(status="success")),
    "a job": ("page_job", page(job="gated")),
    "a job without runs": ("page_job", page(job="new")),
    "successes of a job without runs": ("page_job", page(job="new", status="success")),
    "a job and a status none of its runs ended with": ("page_job_trouble", page(job="gated", status="timeout")),
    "a job and a status only others ended with": ("page_job_trouble", page(job="fine", status="skipped")),
    "a job and a status all of its runs ended with": ("page_job_trouble", page(job="gated", status="skipped")),
    "a schedule": ("page_schedule", page(schedule="gated:default")),
    "a schedule without runs": ("page_schedule", page(schedule="new:default")),
    "successes of a schedule without runs": ("page_schedule", page(schedule="new:default", status="success")),
    "a schedule and a status none ended with": (
        *("page_schedule_trouble", page(schedule="gated:default", status="timeout")),
    ),
    "a schedule and a status only others ended with": (
        *("page_schedule_trouble", page(schedule="fine:default", status="skipped")),
    ),
}


@pytest.fixture(scope="module")
def dsns() -> Iterator[dict[int, str]]:
    with fresh_database() as (server, few), fresh_database() as (_, many):
        server.sql(_HALF_ARE_SKIPPED.format(FEW), database=few)
        server.sql(_HALF_ARE_SKIPPED.format(MANY), database=many)
        yield {FEW: server.dsn(few), MANY: server.dsn(many)}


@pytest.mark.proves("M6")
@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("what", ASKED)
async def test_a_page_touches_no_more_rows_when_history_is_long(dsns: dict[int, str], what: str, mode: str) -> None:
    name, values = ASKED[what]

    few, many = [await rows_visited(dsns[runs], name, values, mode=mode) for runs in (FEW, MANY)]

    assert many <= few <= 2 * PAGE + 1


@pytest.mark.proves("M6")
@pytest.mark.parametrize("mode", ["force_generic_plan", "force_custom_plan"])
@pytest.mark.parametrize("what", ["a job", "a schedule", "successes", "a status many ended with"])
async def test_a_page_far_back_touches_none_of_the_newer_rows(dsns: dict[int, str], what: str, mode: str) -> None:
    name, (project, _, *others) = ASKED[what]

    assert await rows_visited(dsns[MANY], name, (project, f"'{MANY // 2:026}'", *others), mode=mode) <= 2 * PAGE + 1


def test_a_success_touches_no_index() -> None:
    """The update stays in its page: no index names what a success changes."""
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
