"""SQLite and PostgreSQL have the same files and queries; the tables below give the reason for each exception."""

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
    alone("A PostgreSQL server has its own backup tools.", sqlite="backup.py"),
    alone(
        "SQLite uses blocking connections in threads and one writer that groups commits. PostgreSQL uses a pool.",
        sqlite="database/connection.py database/context.py database/group_commit.py database/reader.py "
        "database/session.py database/writer.py",
        postgres="database/batcher.py database/transaction.py database/values.py",
    ),
    alone("A PostgreSQL server has an address and a clock.", postgres="database/dsn.py database/server_clock.py"),
    alone("A claim in PostgreSQL does not look at all lanes each time: that is a round trip.", postgres="lanes.py"),
    alone("Claimed rows stay in PostgreSQL's index until vacuum removes them.", postgres="claim_cursor.py"),
    alone("PostgreSQL saves plain successes with one statement.", postgres="successes.py"),
    alone(
        "SQLite keeps the logs in a separate file, with separate migrations.",
        sqlite="migrations/logs/0001_start.sql migrations/main/0001_start.sql",
        postgres="migrations/0001_start.sql",
    ),
)

QUERIES: Final = (
    alone("SQLite can check its own file.", sqlite="quick_check"),
    alone("In SQLite leases do not depend on the wall clock.", postgres="long_leases"),
    alone(
        "Transactions of PostgreSQL are concurrent, so it locks rows, and first finds which rows to lock. SQLite has "
        "one writer, which reads the same rows without a lock.",
        sqlite="schedules_of_job job_revision capacity versions specs names",
        postgres="lock_jobs workflows_that_name lock_jobs_that_name lock_schedules_of_job lock_watched "
        "lock_dependencies lock_schedules_by_id lock_schedules lock_project_pauses "
        "lock_jobs_of_gated known_limits lock_limits lock_trees "
        "lock_jobs_of_trees idle_limits lock_lease add_classes lock_classes",
    ),
    alone(
        "After a commit with a lost reply, PostgreSQL reads whether it was carried out.",
        postgres="existing_runs tree_states",
    ),
    alone("SQLite reads a value, and PostgreSQL uses it inside the statement that writes.", sqlite="revision_floor"),
    alone(
        "To rename a limit, PostgreSQL deletes it first, so that no run can begin to wait for it. SQLite copies it.",
        sqlite="copy_limit remove_limit",
        postgres="take_limit",
    ),
    alone(
        "SQLite takes runs from a queue and adds leases with several statements, PostgreSQL with one.",
        sqlite="claimer claim_columns pick_ready pick_ready_of_kinds pick_named take_ready take_named take_tokens "
        "job_revisions add_leases",
        postgres="living_worker grant_leases claim_runs claim_runs_of_queues claim_runs_of_kinds claim_named_runs "
        "facts_of_worker",
    ),
    alone(
        "PostgreSQL saves plain successes with one statement, and may claim the next runs with the same one.",
        postgres="success_leases success_rows successes_noted end_bare_successes end_successes exchange_runs",
    ),
    alone(
        "SQLite reads rows, joined with their runs, and then deletes them. PostgreSQL deletes and returns them.",
        sqlite="held_leases runs_of_leases due_runs release_until",
        postgres="take_due",
    ),
    alone(
        "SQLite reads the holder of one dedupe key, and takes the key with an upsert. PostgreSQL inserts a batch of "
        "keys, locks those that are taken, and updates the expired ones.",
        sqlite="key_holder take_key",
        postgres="take_keys lock_keys taken_keys retake_keys retake_mark",
    ),
    alone(
        "Punctual firings and plain runs have fast paths, which differ.",
        sqlite="newest_run create_punctual_runs add_punctual_ticks hold_punctual_runs ready_punctual_runs",
        postgres="commit_punctual create_plain_runs",
    ),
    alone(
        "SQLite counts runs in flight in `due_schedules`, and reads all pauses and revisions of the few schedules that "
        "need them. PostgreSQL reads only those of unsettled moments, for all schedules.",
        postgres="count_in_flight pauses_since revisions_since",
    ),
    alone("PostgreSQL needs one index look-up per id, written once for two statements.", postgres="uids_of_ids"),
    alone(
        "SQLite reads tree by tree, job by job or schedule by schedule, PostgreSQL all of them together.",
        sqlite="busy_keys latest_ending is_expected revision_specs",
        postgres="states_of_trees paused_in_workflows busy_jobs dependency_states",
    ),
    alone(
        "PostgreSQL reads trees with notes and overdue trees with one statement.", sqlite="noted_trees overdue_trees"
    ),
    alone(
        "PostgreSQL changes trees, their notes and their steps with one statement.", sqlite="remove_notes change_steps"
    ),
    alone(
        "SQLite has a view with the displayed status; PostgreSQL computes it.",
        sqlite="step_runs",
        postgres="shown_status",
    ),
    alone(
        "SQLite derives rows from stored rows. PostgreSQL receives them as arrays.",
        sqlite="know_limits request_places limits_of_runs make_ready newest_schedule begin_revisions",
    ),
    alone("SQLite rings for a gated run only if it is due earlier than all others.", sqlite="next_gated"),
    alone("PostgreSQL locks limits only if a run waits for one of them.", postgres="awaited_keys"),
    alone(
        "SQLite reads the state of a run once. In PostgreSQL a run may move meanwhile, so each place is tried.",
        sqlite="cancel_candidates mark_candidates waits_for_place",
        postgres="leave_waiting leased_runs open_trees run_statuses",
    ),
    alone(
        "SQLite finds the place of a run by its rank or due time, so a row that was edited by hand needs a scan.",
        sqlite="leave_later_anywhere leave_ready_anywhere",
    ),
    alone("PostgreSQL ends a batch of marked runs with one statement.", postgres="end_marked"),
    alone("PostgreSQL checks this inside `end_runs` and `success_rows`.", sqlite="is_watching"),
    alone(
        "SQLite builds the page of runs from filters. PostgreSQL has a prepared statement for each index.",
        sqlite="page_ids page_rare_roots page_rare_children of_roots of_job of_schedule of_root of_parent success "
        "rare_status running cancelling scheduled queued newest_first",
        postgres="page_project page_job known_uids page_schedule page_trouble page_job_trouble page_schedule_trouble "
        "page_running page_queued page_scheduled page_roots_trouble page_parts page_children page_children_trouble "
        "is_root",
    ),
    alone(
        "SQLite reads history by row number, job by job and schedule by schedule. PostgreSQL has one statement per "
        "piece.",
        sqlite="walk_runs next_job count_runs next_workflow count_old_ticks",
        postgres="old_runs forgettable_schedules surplus_of_workflows",
    ),
    alone("SQLite keeps the logs in a separate file, without the runs.", sqlite="walk_chunks unfinished_runs"),
    alone("PostgreSQL uses the server's clock.", postgres="now"),
    alone("The size of SQLite's files is read from the file system.", postgres="size_on_disk"),
    alone(
        "In PostgreSQL an event may be committed, but hidden behind an older open transaction.", postgres="has_events"
    ),
    alone("The server's clock may be set back. SQLite measures expiry in time since boot.", postgres="mark_expired"),
)


def files_of(database: str) -> set[str]:
    root = STORAGE / database
    return {str(file.relative_to(root)) for file in root.rglob("*") if file.suffix in (".py", ".sql")}


def queries_of(database: str) -> Mapping[str, list[str]]:
    """Return the names of the queries of each .sql file, in order."""
    return {file.stem: _NAME.findall(file.read_text()) for file in sorted((STORAGE / database / "sql").glob("*.sql"))}


def all_queries(database: str) -> set[str]:
    return {name for names in queries_of(database).values() for name in names}


def check_table(table: tuple[Alone, ...], sqlite: set[str], postgres: set[str]) -> None:
    assert sqlite - postgres == {name for row in table for name in row.sqlite}
    assert postgres - sqlite == {name for row in table for name in row.postgres}


def test_files_of_one_database_only_have_a_reason() -> None:
    check_table(FILES, files_of("sqlite"), files_of("postgres"))


def test_queries_of_one_database_only_have_a_reason() -> None:
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
    """Yield the names in `Query("name", ...)`."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Query":
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
@pytest.mark.parametrize(("folder", "allowed"), [("database", {"database"}), ("rows", {"database", "rows"})])
def test_database_and_rows_import_no_folder_above_them(database: str, folder: str, allowed: set[str]) -> None:
    package = f"foliot.adapters.storage.{database}"
    modules = read_tree(STORAGE / database / folder).values()

    assert modules
    for module in modules:
        own = [one.target.removeprefix(package) for one in module.imports if one.target.startswith(package)]
        assert {target.lstrip(".").partition(".")[0] for target in own} <= allowed, module.name
