"""No query scans history: large tables are read only by an index with a condition."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import apsw
import apsw.ext
import pytest

from foliot.adapters.storage.sqlite.database import schema
from foliot.adapters.storage.sqlite.database.session import SQL
from foliot.adapters.storage.sqlite.queries import page_query
from foliot.domain.ids import JobId, RunId, ScheduleId
from foliot.domain.run.run import Status
from foliot.ports.pages import RunFilter
from tests.cases import for_each

LARGE = (
    *("runs", "schedules", "ticks", "revisions", "attempts", "outputs", "dedupe", "events"),
    *("workflows", "executions", "steps", "endings", "decisions", "deliveries"),
)
BY_ALL_OF_A_PROJECT = "(project=?)"
ALL_THAT_ARE_ACTIVE = " INDEX executions_active"
"""An index that contains only open runs."""
IN_ORDER_UP_TO_A_LIMIT = {"prune_events"}
"""Queries that begin at one end of an index and stop at their limit."""
WHEN_A_JOB_IS_RENAMED = {"versions_that_name", "copies_that_name"}
"""Queries of definitions and open runs, all of which may name the job."""
WHEN_ALL_ARE_PAUSED = {"later_watermarks"}
"""Queries of all schedules, by a person who pauses them."""
COUNTS_WHAT_WAITS = {"totals"}
"""Counts the entries of a partial index: messages that wait to be sent."""
_MAY_SCAN = IN_ORDER_UP_TO_A_LIMIT | WHEN_A_JOB_IS_RENAMED | WHEN_ALL_ARE_PAUSED | COUNTS_WHAT_WAITS

PIECES = {
    *("schedule_columns", "due_columns", "claim_columns", "unpaused_wake", "are_columns_sound"),
    *("audit_columns", "token_columns", "user_columns", "chain_columns", "enrolment_columns"),
    *("page_ids", "page_roots", "page_rare_roots", "page_rare_children", "newest_first"),
    *("of_roots", "of_job", "of_schedule", "of_root", "of_parent"),
    *("success", "rare_status", "running", "cancelling", "scheduled", "queued"),
}
"""Fragments of other queries."""
OF_THE_LOG_FILE = {
    *("append_log", "read_log", "tail_log", "log_starts", "walk_chunks", "prune_logs", "delete_runs_logs"),
}


def queries() -> Iterator[tuple[str, str]]:
    yield from ((name, sql) for name, sql in SQL.items() if name not in PIECES | OF_THE_LOG_FILE)
    choices = ((None, *Status), (None, JobId("a")), (None, ScheduleId("b")), (None, RunId("c")))
    for status, job_id, schedule_id, root in product(*choices):
        name = f"page_runs {status or 'any'} {job_id or ''} {schedule_id or ''} {root or ''}"
        yield name, page_query(RunFilter(job_id, schedule_id, status, root_id=root))
        yield f"{name} roots", page_query(RunFilter(job_id, schedule_id, status, root_id=root, roots=True))
    for status in (None, *Status):
        yield f"page_runs {status or 'any'} of a parent", page_query(RunFilter(status=status, parent_id=RunId("c")))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = schema.open_file(tmp_path / "foliot.db", schema.MAIN, synchronous="NORMAL", cache_kib=1_000)
    yield connection
    connection.close()


@for_each(("name", "sql"), list(queries()))
def test_no_query_scans_a_large_table(connection: apsw.Connection, name: str, sql: str) -> None:
    info = apsw.ext.query_info(connection, sql, explain_query_plan=True)
    assert info.query_plan is not None

    steps = list(details(info.query_plan))

    assert [step for step in steps if scans(step, sql)] == [] or name in _MAY_SCAN


@pytest.mark.parametrize(
    ("job_id", "schedule_id", "found_by"),
    [
        (None, None, "(status=? AND id<?)"),
        (JobId("a"), None, "(project=? AND job_id=? AND status=? AND id<?)"),
        (None, ScheduleId("b"), "(project=? AND schedule_id=? AND status=? AND id<?)"),
    ],
)
def test_runs_with_a_rare_status_are_found_by_index(
    connection: apsw.Connection, job_id: JobId | None, schedule_id: ScheduleId | None, found_by: str
) -> None:
    sql = page_query(RunFilter(job_id, schedule_id, Status.TIMEOUT))
    info = apsw.ext.query_info(connection, sql, explain_query_plan=True)
    assert info.query_plan is not None

    assert next(details(info.query_plan)).endswith(found_by)


@for_each(
    ("status", "found_by"),
    [
        (None, "INDEX runs_roots (id<?)"),
        (Status.SUCCESS, "INDEX runs_roots (id<?)"),
        (Status.FAILED, "INDEX runs_roots_by_rare_status (status=? AND id<?)"),
    ],
)
def test_roots_are_found_without_walking_through_children(
    connection: apsw.Connection, status: Status | None, found_by: str
) -> None:
    plan = apsw.ext.query_info(connection, page_query(RunFilter(status=status, roots=True)), explain_query_plan=True)
    assert plan.query_plan is not None

    assert next(details(plan.query_plan)).endswith(found_by)


def test_the_children_of_a_run_are_found_newest_first_without_sorting(connection: apsw.Connection) -> None:
    plan = apsw.ext.query_info(connection, page_query(RunFilter(parent_id=RunId("c"))), explain_query_plan=True)
    assert plan.query_plan is not None

    steps = list(details(plan.query_plan))

    assert steps[0].endswith("INDEX runs_by_parent (parent_id=? AND id<?)")
    assert not any("TEMP B-TREE" in step for step in steps)


def test_failed_children_are_found_without_walking_through_the_others(connection: apsw.Connection) -> None:
    sql = page_query(RunFilter(parent_id=RunId("c"), status=Status.TIMEOUT))
    plan = apsw.ext.query_info(connection, sql, explain_query_plan=True).query_plan
    assert plan is not None

    assert next(details(plan)).endswith("INDEX runs_by_rare_child (parent_id=?)")


@for_each("name", ["newest_outcomes", "search_outcome"])
def test_ticks_that_did_not_run_are_found_without_the_others(connection: apsw.Connection, name: str) -> None:
    plan = apsw.ext.query_info(connection, SQL[name], explain_query_plan=True).query_plan
    assert plan is not None

    assert any("INDEX ticks_outcome (uid=? AND outcome=? AND scheduled_for" in step for step in details(plan))


def test_a_scan_would_be_detected(connection: apsw.Connection) -> None:
    for sql in ("SELECT * FROM runs r WHERE r.status = 'success'", "SELECT * FROM runs WHERE project = ? ORDER BY id"):
        plan = apsw.ext.query_info(connection, sql, explain_query_plan=True).query_plan
        assert plan is not None
        assert any(scans(step, sql) for step in details(plan))


def details(plan: apsw.ext.QueryPlan) -> Iterator[str]:
    for step in plan.sub or []:
        yield step.detail
        yield from details(step)


def scans(step: str, sql: str) -> bool:
    """Whether a step of a plan scans a large table, under any alias."""
    names = {name for table in LARGE for name in (table, *re.findall(rf"\b{table} (\w+)\b", sql))}
    names |= {"r"} if "shown_runs" in sql else set()
    kind, name, *_ = *step.split(), ""
    is_whole = (kind == "SCAN" and ALL_THAT_ARE_ACTIVE not in step) or step.endswith(BY_ALL_OF_A_PROJECT)
    return name in names and is_whole
