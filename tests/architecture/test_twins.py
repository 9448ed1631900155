"""SQLite and PostgreSQL are built alike: a file or query that only one of them has, has its reason here."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest

import foliot
from tests.architecture.imports import read_tree

STORAGE: Final = Path(foliot.__file__).parent / "adapters" / "storage"
_NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Alone(NamedTuple):
    """Files or queries that only one database has, and why."""

    reason: str
    sqlite: frozenset[str] = frozenset()
    postgres: frozenset[str] = frozenset()


def alone(reason: str, *, sqlite: str = "", postgres: str = "") -> Alone:
    return Alone(reason, frozenset(sqlite.split()), frozenset(postgres.split()))


FILES: Final = (
    alone("A server has backup tools of its own.", sqlite="backup.py"),
    alone(
        "SQLite: blocking connections in threads, one writer that groups commits. PostgreSQL: a pool, many writers.",
        sqlite="database/connection.py database/context.py database/group_commit.py database/reader.py "
        "database/session.py database/writer.py",
        postgres="database/batcher.py database/transaction.py database/values.py",
    ),
    alone("A server has an address and a clock of its own.", postgres="database/dsn.py database/server_clock.py"),
    alone("Claimed rows stay in PostgreSQL's index until vacuum removes them.", postgres="claim_cursor.py"),
    alone(
        "The logs of SQLite are in a file of their own.",
        sqlite="migrations/logs/0001_start.sql migrations/main/0001_start.sql",
        postgres="migrations/0001_start.sql",
    ),
)

QUERIES: Final = (
    alone(
        "Transactions of PostgreSQL run at the same time: they lock rows, and look again after a lost race.",
        postgres="lock_jobs workflows_that_name lock_jobs_that_name lock_schedules_of_job lock_watched uids_of_ids "
        "lock_dependencies "
        "lock_schedules_by_id lock_schedules lock_jobs_of_gated lock_limits lock_trees lock_jobs_of_trees lock_keys "
        "known_limits existing_runs tree_states retake_keys retake_mark idle_limits forgettable_schedules take_limit",
    ),
    alone(
        "The one writer of SQLite reads without a lock, and then writes.",
        sqlite="schedules_of_job job_revision capacity leader copy_limit remove_limit revision_floor versions",
    ),
    alone(
        "SQLite takes runs from a queue and adds leases one after the other; PostgreSQL in one statement.",
        sqlite="is_alive claim_columns pick_ready pick_named take_ready take_named take_tokens job_revisions "
        "add_leases",
        postgres="living_worker grant_leases claim_runs claim_runs_of_queues claim_named_runs",
    ),
    alone(
        "PostgreSQL saves plain successes, and a finish with the next claim, in one statement.",
        postgres="success_leases success_rows successes_noted end_bare_successes end_successes exchange_runs",
    ),
    alone(
        "SQLite reads rows with what belongs to them and then deletes; PostgreSQL deletes and returns both.",
        sqlite="held_leases runs_of_leases due_runs release_until",
        postgres="take_due",
    ),
    alone(
        "SQLite handles dedupe keys and marks run by run, PostgreSQL in batches.",
        sqlite="key_holder take_key mark_candidates",
        postgres="take_keys taken_keys end_marked",
    ),
    alone(
        "Punctual firings and plain runs have a fast path, which differs.",
        sqlite="newest_run create_punctual_runs add_punctual_ticks hold_punctual_runs ready_punctual_runs",
        postgres="commit_punctual create_plain_runs",
    ),
    alone(
        "One statement of SQLite reads a due schedule; PostgreSQL adds what few schedules have by further ones.",
        postgres="count_in_flight pauses_since revisions_since",
    ),
    alone("PostgreSQL returns these from the lock of the schedules.", sqlite="specs names"),
    alone(
        "SQLite reads tree by tree or job by job, PostgreSQL all at once.",
        sqlite="noted_trees overdue_trees busy_keys step_runs latest_ending is_expected",
        postgres="states_of_trees paused_in_workflows busy_jobs sights",
    ),
    alone(
        "SQLite derives rows from rows that are stored; PostgreSQL gets them as arrays.",
        sqlite="know_limits ask_places limits_of_runs make_ready newest_schedule begin_revisions revision_specs",
    ),
    alone("SQLite rings only for a run that is due earlier than all others.", sqlite="next_gated"),
    alone("PostgreSQL locks only the limits of keys that are waited for.", postgres="awaited_keys"),
    alone(
        "SQLite reads the state of a run once; PostgreSQL tries each place that may keep it, because it may move.",
        sqlite="cancel_candidates waits_for_place leave_later_anywhere leave_ready_anywhere",
        postgres="leave_waiting leased_runs open_trees run_statuses",
    ),
    alone("Enqueueing on SQLite reads one job in the caller's thread.", sqlite="get_job"),
    alone("PostgreSQL asks this inside `end_runs`.", sqlite="is_watching"),
    alone(
        "SQLite composes the page of runs from filters; PostgreSQL has a prepared statement for each index.",
        sqlite="page_ids of_job of_schedule of_root success rare_status running cancelling scheduled queued "
        "newest_first",
        postgres="page_project page_job known_uids page_schedule page_trouble page_job_trouble page_schedule_trouble "
        "page_live page_parts",
    ),
    alone(
        "SQLite walks history by row number, job by job; PostgreSQL has one statement for a piece.",
        sqlite="walk_runs next_job count_runs next_workflow count_old_ticks",
        postgres="old_runs",
    ),
    alone("The logs of SQLite are in a file of their own.", sqlite="walk_chunks unfinished_runs"),
    alone("PostgreSQL has a clock of its own, and commits events out of order.", postgres="now has_events"),
    alone("A server's clock may be set back; time since boot is not.", postgres="mark_expired"),
)


def files_of(database: str) -> set[str]:
    root = STORAGE / database
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.suffix in (".py", ".sql")}


def queries_of(database: str) -> Mapping[str, list[str]]:
    """The names of the queries of each .sql file, in order."""
    return {file.stem: _NAME.findall(file.read_text()) for file in sorted((STORAGE / database / "sql").glob("*.sql"))}


def all_queries(database: str) -> set[str]:
    return {name for names in queries_of(database).values() for name in names}


def check_table(table: tuple[Alone, ...], sqlite: set[str], postgres: set[str]) -> None:
    assert sqlite - postgres == {name for row in table for name in row.sqlite}
    assert postgres - sqlite == {name for row in table for name in row.postgres}


def test_both_databases_have_the_same_files() -> None:
    check_table(FILES, files_of("sqlite"), files_of("postgres"))


def test_both_databases_have_the_same_queries() -> None:
    check_table(QUERIES, all_queries("sqlite"), all_queries("postgres"))


def test_no_name_has_two_reasons() -> None:
    for table in (FILES, QUERIES):
        names = [name for row in table for name in (*row.sqlite, *row.postgres)]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("file", queries_of("sqlite"))
def test_common_queries_are_in_the_same_file_in_the_same_order(file: str) -> None:
    common = all_queries("sqlite") & all_queries("postgres")
    sqlite, postgres = [[name for name in queries_of(side)[file] if name in common] for side in ("sqlite", "postgres")]

    assert sqlite == postgres


def test_queries_of_shared_reads_exist_in_both_databases() -> None:
    named = {name for file in (STORAGE / "shared").glob("*.py") for name in named_in(file)}

    assert len(named) > 20
    assert named - all_queries("sqlite") == set()
    assert named - all_queries("postgres") == set()


def named_in(file: Path) -> Iterator[str]:
    """The names in `Query("name", ...)`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Query":
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
@pytest.mark.parametrize(("folder", "allowed"), [("database", {"database"}), ("rows", {"database", "rows"})])
def test_lower_folders_import_no_file_above_them(database: str, folder: str, allowed: set[str]) -> None:
    package = f"foliot.adapters.storage.{database}"
    modules = read_tree(STORAGE / database / folder).values()

    assert modules
    for module in modules:
        own = [one.target.removeprefix(package) for one in module.imports if one.target.startswith(package)]
        assert {target.lstrip(".").partition(".")[0] for target in own} <= allowed, module.name
