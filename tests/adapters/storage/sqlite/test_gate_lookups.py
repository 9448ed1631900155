"""A gate reads by index, and no more of a long history than of a short one."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from foliot.adapters.storage.sqlite import admission
from foliot.adapters.storage.sqlite.database import schema
from foliot.adapters.storage.sqlite.database.session import Session
from foliot.domain.ids import JobId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import Status

DEPENDENCY = JobId("scan")
FEW, MANY = 100, 10_000
_ROWS = "WITH RECURSIVE rows (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rows WHERE n < ?)"
_FILL = (
    f"""{_ROWS} INSERT INTO runs (id, project, job_id, queue, priority, trigger, status, reason, due_at, created_at,
                                 finished_at, attempt, lost)
    SELECT printf('%026d', n), 'default', 'scan', 'default', 0, 'api', 'failed', 'exit_code', n, n, n, 0, 0
    FROM rows""",
    f"""{_ROWS} INSERT INTO endings
    SELECT 'default', 'scan', n, printf('%026d', n), 'failed', 'exit_code' FROM rows""",
)


def dependency_state(session: Session) -> object:
    return admission.read_dependency_state(session, "default", DEPENDENCY, Instant(0), LATEST).end


def last_success(session: Session) -> object:
    return admission.read_latest_end(session, "default", DEPENDENCY, [Status.SUCCESS, Status.PARTIAL], None, LATEST)


def last_declined(session: Session) -> object:
    declined = (Status.SKIPPED, Status.FAILED)
    return admission.read_latest_end(session, "default", DEPENDENCY, declined, [Reason.DEP_FAILED], LATEST)


def with_history(path: Path, runs: int) -> apsw.Connection:
    connection = schema.open_file(path, schema.MAIN, synchronous="NORMAL", cache_kib=1_000)
    for statement in _FILL:
        connection.execute(statement, (runs,))
    return connection


def instructions_of(connection: apsw.Connection, query: Callable[[Session], object]) -> int:
    """Return how many instructions the database executes for the query."""
    query(Session(connection))
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    connection.set_progress_handler(count, 1)
    query(Session(connection))
    connection.set_progress_handler(None)
    return steps


@pytest.mark.proves("R0-81")
@pytest.mark.parametrize("query", [dependency_state, last_success, last_declined])
def test_a_gate_query_costs_the_same_after_a_hundred_times_as_many_runs(
    tmp_path: Path, query: Callable[[Session], object]
) -> None:
    few, many = with_history(tmp_path / "few.db", FEW), with_history(tmp_path / "many.db", MANY)

    assert 0 < instructions_of(few, query) == instructions_of(many, query)
    few.close()
    many.close()


def test_a_query_that_scans_history_would_be_detected(tmp_path: Path) -> None:
    def count(session: Session) -> object:
        return session.value("SELECT count(*) FROM endings WHERE status = 'failed' AND job_id = 'scan'", ())

    few, many = with_history(tmp_path / "few.db", FEW), with_history(tmp_path / "many.db", MANY)

    assert instructions_of(many, count) > 10 * instructions_of(few, count)
    few.close()
    many.close()
