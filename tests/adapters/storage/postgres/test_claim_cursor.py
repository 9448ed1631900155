"""What was claimed does not stand in the way of what is next, even where an old snapshot keeps it."""

import json
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from foliot.adapters.storage.postgres import PostgresStorage, open_postgres
from foliot.adapters.storage.postgres.database import SETTINGS
from foliot.adapters.storage.postgres.front import VERY_FRONT, Front
from foliot.adapters.storage.postgres.statements import statements
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
    """Time passes whenever somebody looks, as if every statement were slow."""

    def elapsed(self) -> Any:
        self.advance(SLOW)
        return super().elapsed()


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def front(clock: VirtualClock) -> Front:
    front = Front(clock)
    front.reached([a_claim(run_id=RunId("a"), due_at=LONG_AGO)], limit=1)
    return front


@pytest.fixture
async def slow(dsn: str) -> AsyncIterator[Scene]:
    """Looks have been slow there for some time."""
    async with await open_postgres(dsn, clock=SluggishClock()) as storage:
        scene = Scene(storage, VirtualClock())
        await scene.claim()
        await scene.claim()
        yield scene


def look(front: Front, clock: VirtualClock, *, takes: int, queues: list[str] = QUEUES) -> list[tuple[int, str]]:
    with front.looking(queues, limit=10) as places:
        clock.advance(takes)
    return places


def look_slowly(front: Front, clock: VirtualClock, *, takes: int = SLOW) -> None:
    for _ in range(3):
        look(front, clock, takes=takes)


def look_in_vain(front: Front, clock: VirtualClock, *, takes: int) -> None:
    with front.looking(QUEUES, limit=10):
        clock.advance(takes)
        raise TimeoutError


def test_claims_begin_at_the_very_front(front: Front, clock: VirtualClock) -> None:
    assert [look(front, clock, takes=5), look(front, clock, takes=5)] == [[VERY_FRONT], [VERY_FRONT]]


@pytest.mark.parametrize("takes", [[SLOW, SLOW], [SLOW, 5, SLOW, SLOW]])
def test_even_after_some_that_were_slow(front: Front, clock: VirtualClock, takes: list[int]) -> None:
    for one in takes:
        look(front, clock, takes=one)
    assert look(front, clock, takes=5) == [VERY_FRONT]


def test_after_slow_looks_they_go_on_where_the_last_one_ended(front: Front, clock: VirtualClock) -> None:
    look_slowly(front, clock)
    assert look(front, clock, takes=5, queues=["other", "default"]) == [VERY_FRONT, (LONG_AGO, "a")]


def test_for_ten_times_as_long_as_the_last_of_them_took(front: Front, clock: VirtualClock) -> None:
    look_slowly(front, clock)
    clock.advance(10 * SLOW - 1)
    before = look(front, clock, takes=1)
    assert (before, look(front, clock, takes=1)) == ([(LONG_AGO, "a")], [VERY_FRONT])


def test_one_slow_look_more_and_they_do_so_again(front: Front, clock: VirtualClock) -> None:
    look_slowly(front, clock)
    clock.advance(10 * SLOW)
    look(front, clock, takes=SLOW)
    assert look(front, clock, takes=1) == [(LONG_AGO, "a")]


def test_but_never_for_long(front: Front, clock: VirtualClock) -> None:
    look_slowly(front, clock, takes=HOUR)
    clock.advance(10 * SECOND)
    assert look(front, clock, takes=1) == [VERY_FRONT]


@pytest.mark.parametrize("priority", [0, -5])
def test_what_becomes_ready_with_others_is_hidden_by_none_of_them(clock: VirtualClock, priority: int) -> None:
    front = Front(clock)
    front.reached([a_claim(run_id=RunId("a"), priority=priority, due_at=START)], limit=1)
    look_slowly(front, clock)
    assert look(front, clock, takes=1) == [(START - 5 * SECOND, "")]


def test_a_look_that_was_given_up_tells_enough(front: Front, clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError):
        look_in_vain(front, clock, takes=60 * SECOND)
    assert look(front, clock, takes=1) == [(LONG_AGO, "a")]


def test_one_that_failed_at_once_tells_nothing(front: Front, clock: VirtualClock) -> None:
    with pytest.raises(TimeoutError):
        look_in_vain(front, clock, takes=0)
    assert look(front, clock, takes=1) == [VERY_FRONT]


@pytest.mark.parametrize(("found", "place"), [(1, VERY_FRONT), (2, (LONG_AGO, "a"))])
def test_who_finds_less_than_he_asks_for_looks_from_the_front_again_soon(
    front: Front, clock: VirtualClock, found: int, place: tuple[int, str]
) -> None:
    look_slowly(front, clock)
    front.reached([a_claim(run_id=RunId("a"), due_at=LONG_AGO)] * found, limit=2)
    clock.advance(SLOW)
    assert look(front, clock, takes=1) == [place]


def test_but_not_sooner_than_the_look_before_took(front: Front, clock: VirtualClock) -> None:
    look_slowly(front, clock)
    front.reached([], limit=2)
    clock.advance(SLOW - 1)
    assert look(front, clock, takes=1) == [(LONG_AGO, "a")]


@pytest.mark.parametrize("queues", [["default"], ["default", "other"]])
async def test_what_comes_in_before_that_place_is_found_later(slow: Scene, queues: list[str]) -> None:
    first, second = await slow.create(a_run(due_at=1), a_run(due_at=2))
    found = [claim.run_id for claim in await slow.claim(1)]
    [urgent] = await slow.create(a_run(due_at=0))

    for _ in range(10):
        found += [claim.run_id for claim in await slow.claim(1, queues=queues)]

    assert found == [first, second, urgent]


async def test_an_exchange_goes_on_there_as_well(slow: Scene) -> None:
    first, second = await slow.create(a_run(due_at=1), a_run(due_at=2))
    claims = await slow.claim(1)
    await slow.create(a_run(due_at=0))

    worker = await slow.standby()
    ended = [a_finish(claim, DONE) for claim in claims]
    _, granted, _ = await slow.storage.work.exchange(ended, worker.id, QUEUES, 1, at=slow.now)

    assert [claim.run_id for claim in (*claims, *granted)] == [first, second]


async def test_behind_a_place_nothing_is_read_of_what_is_dead_before_it(
    storage: PostgresStorage, scene: Scene, dsn: str, connection: "asyncpg.Connection[Any]"
) -> None:
    backup = await asyncpg.connect(dsn)
    await scene.create(*some_runs(2_000, due_at=1), a_run(due_at=2))
    await backup.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 FROM foliot.meta")
    await scene.claim(2_000)

    read = [await pages_read(connection, scene, rank) for rank in (VERY_FRONT[0], 1)]

    await backup.close()
    assert read[0] > 5 * read[1] > 0


async def pages_read(connection: "asyncpg.Connection[Any]", scene: Scene, rank: int) -> int:
    """How much of a queue's index and table the search of a claim reads behind this rank."""
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
