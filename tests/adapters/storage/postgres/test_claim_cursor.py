"""Dead index entries of claimed runs do not slow down claims, even if an old snapshot keeps them."""

import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.adapters.storage.postgres.claim_cursor import QUEUE_START, ClaimCursor
from foliot.adapters.storage.postgres.database.schema import statements
from foliot.adapters.storage.postgres.database.transaction import SETTINGS
from foliot.domain.ids import RunId
from foliot.domain.instant import HOUR, SECOND
from foliot.domain.run.outcome import DONE
from foliot.testing.builders import a_claim, a_finish, a_run, some_runs
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Scene

SLOW = 100
LONG_AGO = START - HOUR
QUEUES = ["default"]


class SluggishClock(VirtualClock):
    """Time passes with every reading, as if every statement were slow."""

    def elapsed(self) -> Any:
        self.advance(SLOW)
        return super().elapsed()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def cursor(clock: VirtualClock) -> ClaimCursor:
    cursor = ClaimCursor(clock)
    cursor.reached([a_claim(run_id=RunId("a"), due_at=LONG_AGO)], limit=1)
    return cursor


@pytest.fixture
async def slow(dsn: str) -> AsyncIterator[Scene]:
    """A scene whose claims have been slow for some time."""
    async with await open_postgres(dsn, clock=SluggishClock()) as storage:
        scene = Scene(storage, VirtualClock())
        await scene.claim()
        await scene.claim()
        yield scene


def claim_position(
    cursor: ClaimCursor, clock: VirtualClock, *, takes: int, queues: list[str] = QUEUES
) -> list[tuple[int, str]]:
    with cursor.claiming(queues, limit=10) as places:
        clock.advance(takes)
    return places


def claim_slowly(cursor: ClaimCursor, clock: VirtualClock, *, takes: int = SLOW) -> None:
    for _ in range(3):
        claim_position(cursor, clock, takes=takes)


def fail_to_claim(cursor: ClaimCursor, clock: VirtualClock, *, takes: int) -> None:
    with cursor.claiming(QUEUES, limit=10):
        clock.advance(takes)
        raise TimeoutError


def test_claims_begin_at_the_front_of_the_queue(cursor: ClaimCursor, clock: VirtualClock) -> None:
    assert [claim_position(cursor, clock, takes=5), claim_position(cursor, clock, takes=5)] == [
        [QUEUE_START],
        [QUEUE_START],
    ]


@pytest.mark.parametrize("takes", [[SLOW, SLOW], [SLOW, 5, SLOW, SLOW]])
def test_a_few_slow_claims_do_not_move_the_cursor(cursor: ClaimCursor, clock: VirtualClock, takes: list[int]) -> None:
    for one in takes:
        claim_position(cursor, clock, takes=one)
    assert claim_position(cursor, clock, takes=5) == [QUEUE_START]


def test_after_slow_claims_the_next_claim_begins_where_the_last_one_ended(
    cursor: ClaimCursor, clock: VirtualClock
) -> None:
    claim_slowly(cursor, clock)
    assert claim_position(cursor, clock, takes=5, queues=["other", "default"]) == [QUEUE_START, (LONG_AGO, "a")]


def test_the_cursor_is_used_for_ten_times_the_duration_of_the_slow_claim(
    cursor: ClaimCursor, clock: VirtualClock
) -> None:
    claim_slowly(cursor, clock)
    clock.advance(10 * SLOW - 1)
    before = claim_position(cursor, clock, takes=1)
    assert (before, claim_position(cursor, clock, takes=1)) == ([(LONG_AGO, "a")], [QUEUE_START])


def test_one_more_slow_claim_activates_the_cursor_again(cursor: ClaimCursor, clock: VirtualClock) -> None:
    claim_slowly(cursor, clock)
    clock.advance(10 * SLOW)
    claim_position(cursor, clock, takes=SLOW)
    assert claim_position(cursor, clock, takes=1) == [(LONG_AGO, "a")]


def test_the_cursor_is_used_for_a_limited_time(cursor: ClaimCursor, clock: VirtualClock) -> None:
    claim_slowly(cursor, clock, takes=HOUR)
    clock.advance(10 * SECOND)
    assert claim_position(cursor, clock, takes=1) == [QUEUE_START]


@pytest.mark.parametrize("priority", [0, -5])
def test_the_cursor_does_not_skip_runs_that_become_ready_now(clock: VirtualClock, priority: int) -> None:
    cursor = ClaimCursor(clock)
    cursor.reached([a_claim(run_id=RunId("a"), priority=priority, due_at=START)], limit=1)
    claim_slowly(cursor, clock)
    assert claim_position(cursor, clock, takes=1) == [(START - 5 * SECOND, "")]


def test_one_slow_failed_claim_activates_the_cursor(cursor: ClaimCursor, clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError):
        fail_to_claim(cursor, clock, takes=60 * SECOND)
    assert claim_position(cursor, clock, takes=1) == [(LONG_AGO, "a")]


def test_a_claim_that_failed_immediately_does_not_move_the_cursor(cursor: ClaimCursor, clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError):
        fail_to_claim(cursor, clock, takes=0)
    assert claim_position(cursor, clock, takes=1) == [QUEUE_START]


@pytest.mark.parametrize(("found", "place"), [(1, QUEUE_START), (2, (LONG_AGO, "a"))])
def test_a_claim_with_too_few_runs_soon_returns_to_the_front(
    cursor: ClaimCursor, clock: VirtualClock, found: int, place: tuple[int, str]
) -> None:
    claim_slowly(cursor, clock)
    cursor.reached([a_claim(run_id=RunId("a"), due_at=LONG_AGO)] * found, limit=2)
    clock.advance(SLOW)
    assert claim_position(cursor, clock, takes=1) == [place]


def test_the_return_to_the_front_waits_as_long_as_the_last_claim_took(cursor: ClaimCursor, clock: VirtualClock) -> None:
    claim_slowly(cursor, clock)
    cursor.reached([], limit=2)
    clock.advance(SLOW - 1)
    assert claim_position(cursor, clock, takes=1) == [(LONG_AGO, "a")]


@pytest.mark.parametrize("queues", [["default"], ["default", "other"]])
async def test_a_run_that_becomes_ready_before_the_cursor_is_claimed_later(slow: Scene, queues: list[str]) -> None:
    first, second = await slow.create(a_run(due_at=1), a_run(due_at=2))
    found = [claim.run_id for claim in await slow.claim(1)]
    [urgent] = await slow.create(a_run(due_at=0))

    for _ in range(10):
        found += [claim.run_id for claim in await slow.claim(1, queues=queues)]

    assert found == [first, second, urgent]


async def test_an_exchange_uses_the_cursor(slow: Scene) -> None:
    first, second = await slow.create(a_run(due_at=1), a_run(due_at=2))
    claims = await slow.claim(1)
    await slow.create(a_run(due_at=0))

    worker = await slow.standby()
    ended = [a_finish(claim, DONE) for claim in claims]
    _, granted, _ = await slow.storage.work.exchange(ended, worker.id, QUEUES, 1, at=slow.now)

    assert [claim.run_id for claim in (*claims, *granted)] == [first, second]


async def test_a_claim_after_the_cursor_reads_no_dead_rows_before_it(
    storage: PostgresStorage, scene: Scene, dsn: str, connection: "asyncpg.Connection[Any]"
) -> None:
    backup = await asyncpg.connect(dsn)
    await scene.create(*some_runs(2_000, due_at=1), a_run(due_at=2))
    await backup.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM foliot.meta")
    await scene.claim(2_000)

    read = [await pages_read(connection, scene, rank) for rank in (QUEUE_START[0], 1)]

    await backup.close()
    assert read[0] > 5 * read[1] > 0


async def pages_read(connection: "asyncpg.Connection[Any]", scene: Scene, rank: int) -> int:
    """Return how many pages of a queue's index and table a claim reads after this rank."""
    for name, value in SETTINGS.items():
        await connection.execute(f"SET {name} = '{value}'")
    worker = await scene.standby()
    values = worker.id, scene.now, 1, "default", rank, "~"
    async with connection.transaction():
        plan = await connection.fetchval(
            f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statements()['claim_runs']}", *values
        )
    [search] = [node for node in nodes(json.loads(plan)[0]["Plan"]) if node.get("Index Name") == "ready_pkey"]
    return int(search["Shared Hit Blocks"] + search["Shared Read Blocks"])


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for part in plan.get("Plans", []) for node in nodes(part))]
