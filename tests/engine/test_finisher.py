"""Outcomes are saved in batches, and none is lost."""

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from foliot.domain.ids import Token
from foliot.domain.run.lease import Finish
from foliot.engine.loop import IMMEDIATELY
from foliot.engine.worker.finisher import BATCH, Finisher
from foliot.ports.work import Work
from foliot.testing.builders import a_claim, succeeded
from tests.engine.ease import ease


class Store:
    """A work port that records finishes, and can be unavailable or slow."""

    def __init__(self) -> None:
        self.batches: list[list[Finish]] = []
        self.is_away = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def finish(self, finishes: Sequence[Finish], *, at: object = None) -> list[Token]:
        await self.gate.wait()
        if self.is_away:
            raise OSError("away")
        self.batches.append(list(finishes))
        return []


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def finisher(store: Store) -> Finisher:
    return Finisher(cast(Work, store))


def an_end(**fields: Any) -> Finish:
    return succeeded(a_claim(**fields))


@pytest.mark.proves("R1-22", "R1-49", "M4")
async def test_unsaved_outcomes_are_sent_again(store: Store, finisher: Finisher) -> None:
    end = an_end()
    finisher.add(end)
    store.is_away = True
    with pytest.raises(OSError, match="away"):
        await finisher.round()
    assert finisher.tokens == [end.token]

    store.is_away = False
    await finisher.round()

    assert store.batches == [[end]]
    assert finisher.tokens == []


async def test_outcomes_that_arrive_during_a_write_are_saved_with_the_next(store: Store, finisher: Finisher) -> None:
    first, second, third = an_end(), an_end(), an_end()
    store.gate.clear()
    finisher.add(first)
    writing = asyncio.create_task(finisher.round())
    await ease()
    finisher.add(second)
    finisher.add(third)

    store.gate.set()
    assert await writing == IMMEDIATELY
    await finisher.round()

    assert store.batches == [[first], [second, third]]


async def test_a_lease_is_held_until_its_end_is_saved(store: Store, finisher: Finisher) -> None:
    store.gate.clear()
    finisher.add(an_end(token=Token(7)))
    writing = asyncio.create_task(finisher.round())
    await ease()

    assert finisher.tokens == [7]

    store.gate.set()
    await writing
    assert finisher.tokens == []


async def test_a_batch_of_outcomes_has_a_limit(store: Store, finisher: Finisher) -> None:
    for _ in range(BATCH + 1):
        finisher.add(an_end())

    assert await finisher.round() == IMMEDIATELY
    assert await finisher.round() is None

    assert [len(batch) for batch in store.batches] == [BATCH, 1]


async def test_saving_outcomes_calls_on_saved(store: Store, finisher: Finisher) -> None:
    told = asyncio.Event()
    finisher.on_saved = told.set
    finisher.add(an_end())

    await finisher.round()

    assert told.is_set()


async def test_flushing_returns_when_everything_is_saved(store: Store, finisher: Finisher) -> None:
    finisher.add(an_end())
    flushing = asyncio.create_task(finisher.flush())
    await ease()
    assert not flushing.done()

    await finisher.round()
    await flushing

    assert len(store.batches) == 1


async def test_flushing_waits_for_a_write_in_flight(store: Store, finisher: Finisher) -> None:
    store.gate.clear()
    finisher.add(an_end())
    with finisher.batch() as other:
        writing = asyncio.create_task(finisher.round())
        flushing = asyncio.create_task(finisher.flush())
        await ease()
        store.gate.set()
        await writing

        assert len(other) == 1
        assert not flushing.done()

    await flushing


async def test_adding_an_outcome_wakes_the_finisher(finisher: Finisher) -> None:
    finisher.add(an_end())

    assert finisher.wake.is_set()
