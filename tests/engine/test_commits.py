"""What an execution costs: a step that follows another takes three commits, the finish, the settlement and the claim.

Time stands still, so that no duty does a round of which nothing has woken it: but for the janitor's first one, every
commit is the execution's own.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import cast

import pytest

from foliot import Foliot, Workflow
from foliot.adapters.storage.postgres import open_postgres
from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.ids import IdSource
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.settings import Settings
from foliot.ports.storage import Storage
from foliot.testing.clock import VirtualClock
from foliot.wiring.services import build_services
from tests.adapters.storage.postgres.fresh import fresh_database
from tests.engine.ease import ease
from tests.engine.rig import Rig

Open = Callable[[VirtualClock, Callable[[str], None]], Awaitable[Storage]]
TRANSITION = {"finish": 1, "settle_trees": 1, "claim": 1}
JANITOR = {"lead", "prune", "prune_logs"}
"""Commits of the janitor when a node starts, which are not counted."""


@pytest.fixture(params=["sqlite", "postgres"])
async def open_storage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    async def on_sqlite(clock: VirtualClock, faults: Callable[[str], None]) -> Storage:
        path = tmp_path / "counted.db"
        return cast(Storage, await SqliteStorage.open(path, clock=clock, faults=faults, synchronous="NORMAL"))

    if request.param == "sqlite":
        yield on_sqlite
        return
    with fresh_database() as (server, name):

        async def on_postgres(clock: VirtualClock, faults: Callable[[str], None]) -> Storage:
            return cast(Storage, await open_postgres(server.dsn(name), faults=faults))

        yield on_postgres


async def test_a_step_that_follows_another_costs_three_commits(open_storage: Open) -> None:
    seen = await _commits(open_storage, steps=50)

    transitions = 40
    commits = seen[5 + transitions] - seen[5]

    assert {verb: count / transitions for verb, count in commits.items()} == TRANSITION


@pytest.mark.parametrize(("slots", "is_worth_it"), [(1, True), (2, True), (3, False)])
async def test_a_freed_slot_causes_a_claim_only_if_none_was_free_before(
    storage: Storage, clock: VirtualClock, slots: int, is_worth_it: bool
) -> None:
    rig = Rig(storage, clock, slots=slots)
    rig.stage.answer = None
    first, _ = [await rig.enqueue() for _ in range(2)]
    await rig.claim()
    rig.consumer.wake.clear()

    rig.stage.end(first)
    await ease()

    assert rig.consumer.wake.is_set() == is_worth_it


async def test_a_slot_that_becomes_free_during_a_claim_is_filled_immediately(
    storage: Storage, clock: VirtualClock
) -> None:
    rig = Rig(storage, clock, slots=2)
    rig.stage.answer = None
    first = await rig.enqueue()
    await rig.claim()
    _, last = [await rig.enqueue() for _ in range(2)]

    rig.stage.end(first)
    rests = [await rig.consumer.round() for _ in range(2)]
    await ease()

    assert rests[0] == IMMEDIATELY
    assert last in rig.stage.under_way


async def _commits(open_storage: Open, *, steps: int) -> list[Counter[str]]:
    """Return the commits by verb at each step of a chain, without those of its beginning and end."""
    passed: Counter[str] = Counter()
    seen: list[Counter[str]] = []
    clock, done = VirtualClock(), asyncio.Event()

    def count(point: str) -> None:
        verb, _, side = point.partition(".")
        passed.update([verb] if side == "before_commit" and verb not in JANITOR else [])

    async def look() -> None:
        seen.append(Counter(passed))
        if len(seen) == steps:
            done.set()

    app = Foliot(clock=clock)
    app.workflow(_chain(steps, look))
    storage = await open_storage(clock, count)
    await app.open(build_services(storage, clock, IdSource(lambda: secrets.randbits(80))))
    node = await app.node(Settings(label="counted"))
    await node.start()
    await app.workflows.start("flow")
    await done.wait()
    await node.stop()
    await app.close()
    return seen


def _chain(steps: int, work: Callable[[], Awaitable[None]]) -> Workflow:
    flow = Workflow("flow")
    flow.step("s0", work)
    for number in range(1, steps):
        flow.step(f"s{number}", work).after(f"s{number - 1}")
    return flow
