"""Reads that both databases share: the queries have the same names, and each database is driven in one snapshot."""

from pathlib import Path

import pytest

import foliot.adapters.storage as storage
from foliot.adapters.storage.postgres.database.schema import statements
from foliot.adapters.storage.shared.sql import load_queries
from foliot.adapters.storage.sqlite.queries import SQL

HERE = Path(storage.__path__[0])
READ = (
    *("get_jobs", "page_jobs", "get_schedules", "revisions", "get_runs", "attempts", "decisions", "get_executions"),
    *("all_states", "named_versions", "newest_versions", "page_workflows", "paused_steps", "active_executions"),
    *("active_of_workflow", "all_workers", "logs_kept_from"),
)
"""Queries that others use as well, in files of their own."""


def test_both_databases_have_the_same_queries_for_pages_in_the_same_order() -> None:
    sqlite, postgres = [load_queries(HERE / name / "sql" / "queries.sql") for name in ("sqlite", "postgres")]

    assert [*sqlite] == [*postgres]


@pytest.mark.parametrize("name", READ)
def test_a_query_that_a_page_shares_with_others_has_one_name(name: str) -> None:
    assert name in SQL
    assert name in statements()
