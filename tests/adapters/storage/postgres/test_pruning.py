"""History is removed in pieces: a piece ends when it is full, and the next one continues there."""

import pytest

from foliot.adapters.storage.postgres import upkeep
from foliot.testing.builders import retention
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.postgres import PostgresServer
from tests.adapters.storage.postgres.faults import Faults
from tests.adapters.storage.postgres.visits import rows_visited

_RUNS = """
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at, finished_at,
                         root_id, parent_id)
SELECT {id}, 'default', {job}, 'default', 0, 'api', 'success', 1, 1, 1, {root}, {root}
FROM generate_series(1, {count}) AS n;
"""
_BACKLOG = """
INSERT INTO foliot.runs (id, project, job_id, queue, priority, trigger, status, due_at, created_at)
SELECT 'x' || n, 'default', 'job-1', 'default', 0, 'api', 'scheduled', 1, 1 FROM generate_series(1, {count}) AS n;
ANALYZE foliot.runs;
"""
_EXECUTION = """
INSERT INTO foliot.trees (run_id, project, kind, job_id, version, state, open, opened_at, root_id, depth, size,
                          is_ending, ended_at)
VALUES ('whole', 'default', 'graph', 'etl', 1, 1, 0, 1, 'whole', 0, 0, false, 1);
"""


async def test_jobs_are_pruned_a_few_at_a_time(
    scene: Scene, server: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_JOBS_PER_PIECE", 2)
    server.sql(_RUNS.format(id="n", job="'job-' || n % 5", root="NULL", count=20), database=database)

    pieces = await scene.prune_to_the_end(retention(runs_per_job=1), limit=100)

    assert [piece.runs for piece in pieces] == [6, 6, 3]


async def test_a_piece_full_of_children_still_removes_their_execution_later(
    scene: Scene, server: PostgresServer, database: str
) -> None:
    server.sql(_EXECUTION, database=database)
    server.sql(_RUNS.format(id="'whole'", job="'etl'", root="NULL", count=1), database=database)
    server.sql(_RUNS.format(id="n", job="'step'", root="'whole'", count=3), database=database)

    pieces = await scene.prune_to_the_end(retention(executions_per_workflow=0), limit=2)

    assert sum(piece.runs for piece in pieces) == 4


async def test_a_piece_that_was_not_committed_is_pruned_again(
    scene: Scene, server: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch, faults: Faults
) -> None:
    monkeypatch.setattr(upkeep, "_JOBS_PER_PIECE", 2)
    server.sql(_RUNS.format(id="n", job="'job-' || n % 5", root="NULL", count=20), database=database)

    def cut() -> None:
        raise ConnectionError("the server is gone")

    faults.plant("prune.before_commit", cut)
    pieces = await scene.prune_to_the_end(retention(runs_per_job=1), limit=100)

    assert [piece.runs for piece in pieces] == [6, 6, 3]


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
async def test_surplus_runs_are_found_without_reading_all_history(
    server: PostgresServer, database: str, mode: str
) -> None:
    server.sql(_RUNS.format(id="lpad(n::text, 9, '0')", job="'job-1'", root="NULL", count=20_000), database=database)
    server.sql(_BACKLOG.format(count=300), database=database)
    kept, piece = 100, 10

    visited = await rows_visited(
        server.dsn(database), "surplus_runs", ("'default'", "''", str(kept), str(piece), "5"), mode=mode
    )

    assert visited <= 300 + 2 * kept + 2 * piece + 5


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
async def test_no_rows_are_read_of_a_job_without_surplus_runs(server: PostgresServer, database: str, mode: str) -> None:
    server.sql(_RUNS.format(id="lpad(n::text, 9, '0')", job="'job-1'", root="NULL", count=50), database=database)
    server.sql(_BACKLOG.format(count=40), database=database)

    visited = await rows_visited(server.dsn(database), "surplus_runs", ("'default'", "''", "100", "10", "5"), mode=mode)

    assert visited <= 50 + 40 + 5
