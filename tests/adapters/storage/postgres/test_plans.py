"""No frequent statement scans a large table, for any batch size and any kind of plan.

The tables are analysed while all runs are ready and none is running: that misleads the planner most.
"""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres.database.schema import statements
from foliot.adapters.storage.postgres.database.transaction import SETTINGS
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.cases import for_each

RUNS = 100_000
SCHEDULES = 30_000
LARGE = {
    *("runs", "ready", "later", "schedules", "ticks", "holds", "planned", "pauses", "revisions", "outputs"),
    *("trees", "tree_bodies", "steps", "notes", "gated", "endings", "decisions", "workflows"),
}
FROM_THE_FRONT = {
    *("next_wake", "next_wake_besides", "next_due"),
    *("upcoming_schedules", "active_executions", "ready_queues"),
}
"""These statements read a few rows at the front of an index, so they need no condition."""
_FILL = f"""
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at, payload)
SELECT lpad(n::text, 26, '0'), 'default', 'report', 'default', 0, 'api', 'scheduled', n, n, '{{"a": 1}}'
FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.ready SELECT 'default', n, lpad(n::text, 26, '0') FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.outputs SELECT lpad(n::text, 26, '0'), '1' FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.trees (run_id, project, kind, job_id, version, state, open, opened_at, root_id, depth, size,
                          deadline, is_ending, ended_at)
SELECT lpad(n::text, 26, '0'), 'default', 'graph', 'etl', 1, 1, 0, n, lpad(n::text, 26, '0'), 0, 2, n, false,
       CASE WHEN n % 10 = 0 THEN n END
FROM generate_series(1, {SCHEDULES}) AS n;
INSERT INTO foliot.tree_bodies SELECT lpad(n::text, 26, '0'), '{{}}' FROM generate_series(1, {SCHEDULES}) AS n;
INSERT INTO foliot.steps SELECT lpad((n % 100)::text, 26, '0'), n::text, n, 0, NULL, NULL, lpad(n::text, 26, '0'), ''
FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.notes SELECT lpad((n % 1000)::text, 26, '0'), lpad(n::text, 26, '0')
FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.gated SELECT n, lpad(n::text, 26, '0') FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.watched VALUES ('default', 'report');
INSERT INTO foliot.endings SELECT 'default', 'report', n, lpad(n::text, 26, '0'), 'failed', 'exit_code'
FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.decisions SELECT lpad(n::text, 26, '0'), '{{}}' FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.workflows SELECT 'default', n::text, 1, '{{}}', 1 FROM generate_series(1, {SCHEDULES}) AS n;
INSERT INTO foliot.later SELECT n, lpad(n::text, 26, '0') FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.schedules (uid, project, id, version, job_id, revision, opened_at, spec, enabled, created_at,
                              updated_at, settled_until, next_run_at, wake_at)
SELECT lpad(n::text, 26, '0'), 'default', n::text, 1, 'report', 1, 0, '{{}}', true, 0, 0, 0, n, n
FROM generate_series(1, {SCHEDULES}) AS n;
INSERT INTO foliot.holds SELECT 'key:' || n, lpad(n::text, 26, '0'), n, n % 2 = 0 FROM generate_series(1, {RUNS}) AS n;
INSERT INTO foliot.planned SELECT lpad(n::text, 26, '0'), 1, 1, 1 FROM generate_series(1, {SCHEDULES}) AS n;
INSERT INTO foliot.pauses SELECT lpad(n::text, 26, '0'), 1, 1 FROM generate_series(1, {SCHEDULES}) AS n;
INSERT INTO foliot.revisions SELECT lpad(n::text, 26, '0'), 1, 1, '{{}}', '' FROM generate_series(1, {SCHEDULES}) AS n;
INSERT INTO foliot.ticks SELECT lpad(n::text, 26, '0'), 1, 1, 1, 'skipped', 'overlap', 1, 1, NULL, NULL, 'key', 1
FROM generate_series(1, {SCHEDULES}) AS n;
ANALYZE;
"""


def ids(count: int) -> str:
    return f"'{{{','.join(str(number).zfill(26) for number in range(1, count + 1))}}}'"


def numbers(count: int) -> str:
    return f"'{{{','.join(str(number) for number in range(1, count + 1))}}}'"


def same(value: str, count: int) -> str:
    return f"'{{{','.join([value] * count)}}}'"


HOT: dict[str, Any] = {
    "claim_runs": lambda n: ("'w'", "NULL", str(n), "'default'", "10", "'1'"),
    "claim_runs_of_queues": lambda n: ("'w'", "NULL", str(n), "'{default,other}'", "'{10,-1}'", "'{1,1}'"),
    "claim_named_runs": lambda n: ("'w'", "NULL", str(n), "'{default}'", ids(n)),
    "end_bare_successes": lambda n: ("'w'", "NULL", "0", numbers(n), ids(n)),
    "end_successes": lambda n: ("'w'", "NULL", "0", numbers(n), ids(n)),
    "exchange_runs": lambda n: ("'w'", "NULL", "0", numbers(n), ids(n), str(n), "'default'", "10", "'1'"),
    "end_leases": lambda n: (numbers(n), ids(n), same("w", n), "NULL"),
    "lock_jobs_of_trees": lambda n: ("'default'", ids(n)),
    "lock_jobs_of_gated": lambda n: (ids(n),),
    "end_runs": lambda n: (
        *("1", ids(n), numbers(n), same("w", n), same("1", n), numbers(n), same("1", n)),
        *(same("failed", n), same("exit_code", n), same("no", n), same("0", n)),
    ),
    "retry_runs": lambda n: (
        *(ids(n), numbers(n), same("1", n), same("0", n), same("exit_code", n), same("no", n), same("1", n)),
    ),
    "take_due": lambda n: ("1000", str(n)),
    "end_cancelled": lambda n: (ids(n), "1"),
    "get_runs": lambda n: (ids(n),),
    "due_schedules": lambda n: ("1000", str(n), "'default'"),
    "failed_jobs": lambda n: (ids(n),),
    "last_successes": lambda n: ("'default'", ids(n), same("report", n)),
    "project_pauses": lambda n: ("'default'", "1"),
    "commit_punctual": lambda n: (
        *("'default'", "NULL", "60000", "'tick:'", ids(n), ids(n), ids(n), *["'{}'"] * 11),
        *("1", "1", "1", "'on_time'", "1", "'report'", "'default'", "0", "'schedule'", "1", "NULL", "0"),
    ),
    "lock_schedules": lambda n: (ids(n), "'{}'"),
    "advance_schedules": lambda n: (*(ids(n), numbers(n), numbers(n), numbers(n), "'{}'", "'{}'", same("false", n)),),
    "lock_schedules_by_id": lambda n: ("'default'", numbers(n)),
    "get_schedules": lambda n: ("'default'", numbers(n)),
    "leave_ready": lambda n: (ids(n),),
    "leave_later": lambda n: (ids(n),),
    "leave_waiting": lambda n: (ids(n),),
    "release_holds": lambda n: (ids(n),),
    "run_statuses": lambda n: (ids(n),),
    "saved_endings": lambda n: (ids(n), numbers(n)),
    "admitted_runs": lambda n: (ids(n),),
    "planned_ticks": lambda n: (ids(n),),
    "pauses_since": lambda n: (ids(n), numbers(n)),
    "revisions_since": lambda n: (ids(n), numbers(n), numbers(n)),
    "count_in_flight": lambda n: (ids(n),),
    "change_schedules": lambda n: (ids(n), *["'{}'"] * 10),
    "run_states": lambda n: (ids(n),),
    "get_brief_runs": lambda n: (ids(n),),
    "failing_jobs": lambda n: ("'default'", same("report", n)),
    "recent_results": lambda n: ("'default'", same("report", n), "30"),
    "newest_rows": lambda n: (ids(n), "30"),
    "ran_ticks": lambda n: (ids(n), "1000", "2000", "50000"),
    "other_ticks": lambda n: (ids(n), "'{missed,skipped}'", "1000", "2000", "50000"),
    "failed_tick_runs": lambda n: (ids(n), "'0000000001'", "1000", "2000", "50000"),
    "latest_runs": lambda n: ("'default'", same("report", n)),
    "latest_ticks": lambda n: ("'1'", str(n)),
    "list_schedules_of_job": lambda n: ("'default'", "'report'", "''", str(n)),
    "schedules_of_targets": lambda n: ("'default'", same("report", n)),
    "runs_of_steps": lambda n: ("'1'",),
    "awaited_limits": lambda n: (ids(n),),
    "limit_holders": lambda n: (numbers(n), "6"),
    "rename_schedules": lambda n: ("'new'", "1", ids(n), numbers(n), same("{}", n)),
    "rename_runs_of_schedules": lambda n: (ids(n), numbers(n)),
    "end_marked": lambda n: (ids(n), "1"),
    "upcoming_schedules": lambda n: (str(n),),
    "late_schedules": lambda n: ("1000", str(n)),
    "behind_schedules": lambda n: ("1000", str(n)),
    "count_late_schedules": lambda n: ("1000", str(n)),
    "ready_queues": lambda n: (str(n),),
    "failing_runs": lambda n: (ids(n), "0"),
    "create_runs": lambda n: (
        *("'default'", "1", ids(n), *["'{}'"] * 12, "'report'", "'default'", "0", "'api'", "1", "NULL"),
        *("true", "60000", ids(n), ids(n), numbers(n), numbers(n)),
    ),
    "page_job": lambda n: ("'default'", "NULL", str(n), "'report'", "NULL", "NULL"),
    "page_schedule": lambda n: ("'default'", "NULL", str(n), "NULL", "'1'", "NULL"),
    "page_trouble": lambda n: ("'default'", "NULL", str(n), "NULL", "NULL", "'failed'"),
    "page_job_trouble": lambda n: ("'default'", "NULL", str(n), "'report'", "NULL", "'failed'"),
    "page_schedule_trouble": lambda n: ("'default'", "NULL", str(n), "NULL", "'1'", "'failed'"),
    "next_ledgers": lambda n: ("''", str(n), "1000", "'~'"),
    "list_declared_schedules": lambda n: ("'default'", "''", str(n)),
    "recent_ticks": lambda n: (ids(n), "1000", "100"),
    "recent_runs": lambda n: ("'default'", ids(n), ids(n), "'1'", "100"),
    "launched_runs": lambda n: (ids(n),),
    "nth_run_before": lambda n: ("'0000000001'", "'0000000002'", str(n)),
    "doubtful_runs": lambda n: ("'0000000001'", "'0000000002'", str(n), "0", "1000", "1000"),
    "page_parts": lambda n: ("'default'", "NULL", str(n), "NULL", "NULL", "'running'", "'1'"),
    "page_children": lambda n: ("'default'", "NULL", str(n), "NULL", "NULL", "'running'", "'1'"),
    "page_children_trouble": lambda n: ("'default'", "NULL", str(n), "NULL", "NULL", "'failed'", "'1'"),
    "page_roots": lambda n: ("'default'", "NULL", str(n), "NULL", "NULL", "NULL"),
    "page_roots_trouble": lambda n: ("'default'", "NULL", str(n), "NULL", "NULL", "'failed'"),
    "tree_kinds": lambda n: (ids(n),),
    "get_fanout": lambda n: ("'1'",),
    "children_by_key": lambda n: ("'1'", numbers(n)),
    "last_child_key": lambda n: ("'1'",),
    "items_from": lambda n: ("'1'", "0", str(n)),
    "add_notes": lambda n: (ids(n),),
    "keep_endings": lambda n: (ids(n),),
    "dependency_states": lambda n: ("'default'", same("report", n), "1", "100000", "50"),
    "latest_of_status": lambda n: ("'default'", "'report'", "'{failed,skipped}'", "100000"),
    "latest_of_reason": lambda n: ("'default'", "'report'", "'{failed,skipped}'", "100000", "'{exit_code,dep_failed}'"),
    "decisions": lambda n: (ids(n),),
    "gated_runs": lambda n: ("1000", str(n)),
    "leave_gated": lambda n: (ids(n),),
    "postpone": lambda n: (ids(n), numbers(n)),
    "passed_runs": lambda n: (ids(n),),
    "end_unstarted": lambda n: ("1", ids(n), same("skipped", n), same("dep_missing", n), "'{}'", same("no", n)),
    "continue_without_worker": lambda n: (ids(n), numbers(n), same("w", n), same("1", n), numbers(n)),
    "opened_tokens": lambda n: (ids(n), numbers(n)),
    "lock_trees": lambda n: (ids(n),),
    "advance_trees": lambda n: (
        *(ids(n), numbers(n), same("x", n), same("false", n), numbers(n)),
        *(ids(n), ids(n)),
        *(ids(n), numbers(n), numbers(n), *["'{}'"] * 3, same("x", n)),
    ),
    "remove_all_notes": lambda n: (ids(n),),
    "end_trees": lambda n: (ids(n), "1"),
    "end_tree_runs": lambda n: ("1", ids(n), same("failed", n), same("step_failed", n), "'{}'", same("no", n)),
    "unsettled_trees": lambda n: ("1000", str(n), "''"),
    "get_executions": lambda n: (ids(n),),
    "active_executions": lambda n: ("''", str(n)),
    "active_of_workflow": lambda n: ("'default'", "'etl'", "''", str(n)),
    "notes_of_trees": lambda n: (ids(n), "1001"),
    "all_states": lambda n: ("'1'",),
    "states_of_trees": lambda n: (ids(n),),
    "named_states": lambda n: (ids(n), numbers(n)),
    "outputs": lambda n: (ids(n), numbers(n)),
    "busy_jobs": lambda n: ("'default'", same("report", n), ids(n), "NULL", "50"),
    "overrides": lambda n: (ids(n),),
    "definitions_of_trees": lambda n: (ids(n),),
    "ancestry": lambda n: (ids(n),),
    "tree_states": lambda n: (ids(n),),
    "request_cancel_of_trees": lambda n: (ids(n), "1"),
    "open_trees": lambda n: (ids(n),),
    "newest_versions": lambda n: ("'default'", numbers(n)),
    "named_versions": lambda n: ("'default'", numbers(n), same("1", n)),
    "page_workflows": lambda n: ("'default'", "''", str(n)),
    "parts_of_runs": lambda n: (ids(n), "100"),
    "surplus_of_workflows": lambda n: ("'default'", same("etl", n), "10", "100"),
    "excess_executions": lambda n: ("'default'", "10", str(n)),
    "visible_to_gates": lambda n: (ids(n), "1000"),
    "old_executions": lambda n: (f"'{100:026}'", "100", str(n)),
    "next_wake": lambda n: ("'default'",),
    "next_wake_besides": lambda n: ("'default'", ids(n)),
    "next_due": lambda n: (),
}


@pytest.fixture(scope="module")
def large_dsn() -> Iterator[str]:
    with fresh_database() as (server, name):
        server.sql(_FILL, database=name)
        yield server.dsn(name)


@pytest.fixture(scope="module")
def empty_dsn() -> Iterator[str]:
    """An empty database for all tests: statements are only explained, so nothing is written."""
    with fresh_database() as (server, name):
        yield server.dsn(name)


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan", "force_custom_plan"])
async def test_a_frequent_statement_finds_its_rows_by_a_key(large_dsn: str, mode: str) -> None:
    connection = await asyncpg.connect(large_dsn, statement_cache_size=0, server_settings={"plan_cache_mode": mode})

    @for_each(("name", "batch"), product(sorted(HOT), (1, 10, 100, 1000)))
    async def check(name: str, batch: int) -> None:
        plan = await plan_of(connection, name, HOT[name](batch))
        assert LARGE.isdisjoint(scanned_whole(plan))

    try:
        await check()
    finally:
        await connection.close()


async def test_the_runs_of_a_job_are_found_by_its_name_although_all_runs_belong_to_one_job(large_dsn: str) -> None:
    """Otherwise a job that has never run would be looked for in all runs."""
    connection = await asyncpg.connect(large_dsn, server_settings=SETTINGS)

    @for_each("name", ["latest_runs", "recent_results", "failing_jobs", "dependency_states", "busy_jobs"])
    async def check(name: str) -> None:
        plan = await plan_of(connection, name, HOT[name](10))
        assert "runs" not in read_without_a_key(plan)

    try:
        await check()
    finally:
        await connection.close()


async def test_a_plan_made_on_empty_tables_still_uses_keys(empty_dsn: str) -> None:
    connection = await asyncpg.connect(empty_dsn, server_settings=SETTINGS)

    @for_each("name", sorted(HOT.keys() - FROM_THE_FRONT))
    async def check(name: str) -> None:
        plan = await plan_of(connection, name, HOT[name](10))
        assert LARGE.isdisjoint(read_without_a_key(plan))

    try:
        await check()
    finally:
        await connection.close()


async def test_a_statement_that_scans_a_table_is_detected(large_dsn: str) -> None:
    """Check that a bad statement is detected: otherwise the other tests would prove nothing."""
    connection = await asyncpg.connect(large_dsn)
    try:
        [[text]] = await connection.fetch(
            "EXPLAIN (FORMAT JSON) UPDATE foliot.runs SET status = 'success', finished_at = 1 "
            f"FROM unnest({ids(100_000)}::text[]) AS ended (id) WHERE runs.id = ended.id"
        )
        assert set(scanned_whole(json.loads(text)[0]["Plan"])) == {"runs"}
    finally:
        await connection.close()


async def plan_of(connection: "asyncpg.Connection[Any]", name: str, values: tuple[str, ...]) -> dict[str, Any]:
    """Return the plan after enough executions for the server to choose a generic one."""
    prepared = f"hot_{name}"
    await connection.execute(f"PREPARE {prepared} AS {statements()[name]}")
    call = f"{prepared}({', '.join(values)})" if values else prepared
    for _ in range(7):
        [[text]] = await connection.fetch(f"EXPLAIN (FORMAT JSON) EXECUTE {call}")
    await connection.execute("DEALLOCATE ALL")
    plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    return plan


def scanned_whole(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan":
        yield node["Relation Name"]
    for child in node.get("Plans", ()):
        yield from scanned_whole(child)


def read_without_a_key(node: dict[str, Any]) -> Iterator[str]:
    """Yield tables that are read completely, also through an index."""
    keys = node.keys() & {"Index Cond", "TID Cond", "Recheck Cond"}
    if "Relation Name" in node and "Scan" in node["Node Type"] and not keys:
        yield node["Relation Name"]
    for child in node.get("Plans", ()):
        yield from read_without_a_key(child)
