"""The janitor: only the leader prunes, within its term."""

import asyncio

import pytest

from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Millis
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.scheduler import janitor as janitor_module
from foliot.engine.scheduler.janitor import Janitor
from foliot.ports.storage import Storage
from foliot.ports.upkeep import Pruned
from foliot.testing.builders import retention
from tests.engine.ease import ease
from tests.engine.rig import Rig

A_DAY = retention(runs_age=DAY)


async def old_runs(rig: Rig, how_many: int) -> None:
    for _ in range(how_many):
        await rig.enqueue()
    await rig.work()
    rig.clock.advance(2 * DAY)


async def take_too_long(rig: Rig) -> None:
    await ease()
    rig.clock.advance(MINUTE)
    await asyncio.Event().wait()


@pytest.mark.proves("R4-08")
async def test_the_janitor_removes_old_runs(rig: Rig, storage: Storage) -> None:
    await old_runs(rig, 3)
    kept = await rig.enqueue()

    await Janitor(storage, rig.clock, "janitor", A_DAY).round()

    assert [run.id for run in await rig.runs()] == [kept]


async def test_more_than_a_batch_is_removed_without_a_pause(
    rig: Rig, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(janitor_module, "BATCH", 2)
    await old_runs(rig, 3)
    janitor = Janitor(storage, rig.clock, "janitor", A_DAY)

    assert await janitor.round() == IMMEDIATELY
    await janitor.round()

    assert await rig.runs() == []


async def test_a_prune_that_removes_nothing_continues_if_there_is_more(rig: Rig, storage: Storage) -> None:
    pieces = iter([Pruned(0, 0, 0, 0, 0, 0, is_more=True), Pruned(0, 0, 0, 0, 0, 0)])

    async def prune(*_: object, **__: object) -> Pruned:
        return next(pieces)

    storage.upkeep.prune = prune  # type: ignore[method-assign]
    janitor = Janitor(storage, rig.clock, "janitor", A_DAY)

    assert [await janitor.round(), await janitor.round()] == [IMMEDIATELY, 10 * SECOND]


@pytest.mark.proves("L6")
async def test_only_the_leader_prunes(rig: Rig, storage: Storage) -> None:
    leader, other = Janitor(storage, rig.clock, "leader", A_DAY), Janitor(storage, rig.clock, "other", A_DAY)
    await leader.round()
    await old_runs(rig, 1)
    await leader.round()
    rig.clock.advance(SECOND)
    await rig.enqueue()

    await other.round()

    assert len(await rig.runs()) == 2


async def test_a_leader_whose_prune_is_refused_waits(rig: Rig, storage: Storage) -> None:
    async def refuse(*_: object, **__: object) -> None:
        return None

    storage.upkeep.prune = refuse  # type: ignore[method-assign]

    assert await Janitor(storage, rig.clock, "janitor", A_DAY).round() == 2 * SECOND


@pytest.mark.proves("L8")
async def test_a_leader_that_resigns_is_replaced_immediately(rig: Rig, storage: Storage) -> None:
    leader, other = Janitor(storage, rig.clock, "leader", A_DAY), Janitor(storage, rig.clock, "other", A_DAY)
    await leader.round()
    await old_runs(rig, 1)
    await leader.round()

    await leader.resign()
    await other.round()

    assert await rig.runs() == []


@pytest.mark.proves("L8")
async def test_a_vanished_leader_is_replaced_after_its_term(rig: Rig, storage: Storage) -> None:
    await Janitor(storage, rig.clock, "leader", A_DAY).round()
    await old_runs(rig, 1)

    await Janitor(storage, rig.clock, "other", A_DAY).round()

    assert await rig.runs() == []


async def test_pruning_is_repeated_every_few_minutes_while_leadership_is_kept(rig: Rig, storage: Storage) -> None:
    janitor = Janitor(storage, rig.clock, "janitor", A_DAY)
    pruned = []
    prune = storage.upkeep.prune

    async def note(*arguments: object, **named: object) -> object:
        pruned.append(rig.clock.elapsed())
        return await prune(*arguments, **named)  # type: ignore[arg-type]

    storage.upkeep.prune = note  # type: ignore[method-assign, assignment]
    for _ in range(HOUR // (10 * SECOND)):
        rig.clock.advance(await janitor.round() or Millis(0))

    assert len(pruned) == HOUR // (5 * MINUTE)


@pytest.mark.proves("L7")
async def test_a_leader_without_a_response_stops_before_its_term_ends(rig: Rig, storage: Storage) -> None:
    async def hear_nothing(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    storage.upkeep.prune = hear_nothing  # type: ignore[method-assign]
    other = Janitor(storage, rig.clock, "other", A_DAY)
    under_way = asyncio.create_task(Janitor(storage, rig.clock, "leader", A_DAY).round())
    await ease()
    rig.clock.advance(24 * SECOND)
    await ease()
    assert not under_way.done()

    rig.clock.advance(SECOND)

    assert await under_way == await other.round() == 2 * SECOND


@pytest.mark.proves("L7")
async def test_the_time_of_the_election_is_part_of_the_term(rig: Rig, storage: Storage) -> None:
    lead, pruned = storage.upkeep.lead, []

    async def lead_slowly(holder: str, term: Millis) -> int | None:
        epoch = await lead(holder, term)
        rig.clock.advance(25 * SECOND)
        return epoch

    async def prune(*_: object, **__: object) -> None:
        await ease()
        pruned.append(rig.clock.elapsed())

    storage.upkeep.lead = lead_slowly  # type: ignore[method-assign, assignment]
    storage.upkeep.prune = prune  # type: ignore[method-assign]

    await Janitor(storage, rig.clock, "leader", A_DAY).round()

    assert pruned == []


async def test_a_prune_that_takes_too_long_is_halved_until_it_fits(rig: Rig, storage: Storage) -> None:
    limits: list[int] = []

    async def prune(*_: object, limit: int, **__: object) -> Pruned:
        limits.append(limit)
        if len(limits) <= 2:
            await take_too_long(rig)
        return Pruned(0, 0, 0, 0, 0, 0, is_more=True)

    storage.upkeep.prune = prune  # type: ignore[method-assign]
    janitor = Janitor(storage, rig.clock, "janitor", A_DAY)
    for _ in range(6):
        await janitor.round()

    assert limits == [janitor_module.BATCH // part for part in (1, 2, 4, 2, 1, 1)]


async def test_the_prune_limit_is_at_least_one(rig: Rig, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(janitor_module, "BATCH", 2)
    limits: list[int] = []

    async def prune(*_: object, limit: int, **__: object) -> None:
        limits.append(limit)
        await take_too_long(rig)

    storage.upkeep.prune = prune  # type: ignore[method-assign]
    janitor = Janitor(storage, rig.clock, "janitor", A_DAY)
    for _ in range(3):
        await janitor.round()

    assert limits == [2, 1, 1]
