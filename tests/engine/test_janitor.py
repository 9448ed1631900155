"""One node at a time forgets what need not be kept any longer."""

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
async def test_what_is_older_than_it_must_be_kept_is_removed(rig: Rig, storage: Storage) -> None:
    await old_runs(rig, 3)
    kept = await rig.enqueue()

    await Janitor(storage, rig.clock, "janitor", A_DAY).round()

    assert [run.id for run in await rig.runs()] == [kept]


async def test_more_than_a_batch_is_removed_at_once(
    rig: Rig, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(janitor_module, "BATCH", 2)
    await old_runs(rig, 3)
    janitor = Janitor(storage, rig.clock, "janitor", A_DAY)

    assert await janitor.round() == IMMEDIATELY
    await janitor.round()

    assert await rig.runs() == []


async def test_a_piece_in_which_nothing_was_too_old_ends_no_session(rig: Rig, storage: Storage) -> None:
    pieces = iter([Pruned(0, 0, 0, 0, 0, 0, is_more=True), Pruned(0, 0, 0, 0, 0, 0)])

    async def prune(*_: object, **__: object) -> Pruned:
        return next(pieces)

    storage.upkeep.prune = prune  # type: ignore[method-assign]
    janitor = Janitor(storage, rig.clock, "janitor", A_DAY)

    assert [await janitor.round(), await janitor.round()] == [IMMEDIATELY, 10 * SECOND]


@pytest.mark.proves("L6")
async def test_only_the_leader_removes(rig: Rig, storage: Storage) -> None:
    leader, other = Janitor(storage, rig.clock, "leader", A_DAY), Janitor(storage, rig.clock, "other", A_DAY)
    await leader.round()
    await old_runs(rig, 1)
    await leader.round()
    rig.clock.advance(SECOND)
    await rig.enqueue()

    await other.round()

    assert len(await rig.runs()) == 2


@pytest.mark.proves("L6")
async def test_a_leader_whose_pruning_is_refused_does_not_hurry(rig: Rig, storage: Storage) -> None:
    async def refuse(*_: object, **__: object) -> None:
        return None

    storage.upkeep.prune = refuse  # type: ignore[method-assign]

    assert await Janitor(storage, rig.clock, "janitor", A_DAY).round() == 2 * SECOND


@pytest.mark.proves("L8")
async def test_whoever_leaves_is_followed_at_once(rig: Rig, storage: Storage) -> None:
    leader, other = Janitor(storage, rig.clock, "leader", A_DAY), Janitor(storage, rig.clock, "other", A_DAY)
    await leader.round()
    await old_runs(rig, 1)
    await leader.round()

    await leader.resign()
    await other.round()

    assert await rig.runs() == []


@pytest.mark.proves("L8")
async def test_a_leader_that_vanished_is_followed_when_its_term_is_over(rig: Rig, storage: Storage) -> None:
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
async def test_a_leader_that_hears_nothing_stops_before_its_term_is_over(rig: Rig, storage: Storage) -> None:
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
async def test_time_that_the_election_took_is_part_of_the_term(rig: Rig, storage: Storage) -> None:
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


async def test_a_piece_that_does_not_fit_into_a_term_becomes_smaller_until_it_does(rig: Rig, storage: Storage) -> None:
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


async def test_it_never_becomes_nothing(rig: Rig, storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
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
