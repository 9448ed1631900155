"""The invariant checks find each injected fault, and none in a sound storage."""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foliot.adapters.storage.sqlite import SqliteStorage
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId, Token
from foliot.domain.instant import HOUR, LATEST, MINUTE, SECOND, Instant, later
from foliot.domain.run.run import Run, Status
from foliot.domain.schedule.schedule import Catchup, Overlap, ScheduleSpec
from foliot.domain.schedule.tick import PlannedTick, TickOutcome, TickReason, TickRecord
from foliot.ports.ticks import ScheduleLedger
from foliot.testing.builders import every, failed, retention, succeeded, to_retry
from foliot.testing.clock import START, VirtualClock
from foliot.testing.conformance.storage.scene import Scene
from foliot.testing.conformance.storage.tree_builders import claim_child, final_settlement, opened, settle
from foliot.testing.invariants import (
    LedgerRows,
    RunHistory,
    check_history,
    check_invariants,
    check_launches,
    check_leases,
    check_ledger,
    check_ledger_slowly,
    check_overlap,
    compare_with_oracle,
    read_histories,
    read_ledgers,
)
from tests.testing.spoiling import Distort


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    clock = VirtualClock()
    storage = await SqliteStorage.open(tmp_path / "foliot.db", clock=clock, synchronous="NORMAL")
    yield Scene(storage, clock)
    await storage.close()


def grid(spec: ScheduleSpec, after: Instant, until: Instant) -> Iterator[Instant]:
    """An oracle for intervals: second by second."""
    for moment in range(after // SECOND + 1, until // SECOND + 1):
        if (moment * SECOND - (spec.anchor or 0)) % (int(spec.expr) * SECOND) == 0:
            yield Instant(moment * SECOND)


async def a_busy_hour(scene: Scene) -> None:
    """Create ticks of all kinds, an edit, a pause, and runs with all outcomes."""
    await scene.schedule(every(60, overlap=Overlap.QUEUE, catchup=Catchup.ONCE))
    await scene.fire_after(10 * MINUTE + 30 * SECOND)
    await scene.finish(*(to_retry(claim) for claim in await scene.claim()))
    await scene.finish(*(succeeded(claim) for claim in await scene.claim()))
    await scene.pause(paused=True)
    scene.clock.advance(10 * MINUTE)
    await scene.schedule(every(90, overlap=Overlap.QUEUE))
    await scene.pause(paused=False)
    for _ in range(10):
        await scene.fire_after(90 * SECOND)
    await scene.finish(*(failed(claim) for claim in await scene.claim()))
    await scene.claim()
    await scene.cancel(*(await scene.ready()))


@pytest.mark.proves("M1", "T1", "T2", "T3", "T4", "S2", "S3", "S4", "L1")
async def test_a_sound_storage_has_no_faults(scene: Scene) -> None:
    await a_busy_hour(scene)

    assert await check_invariants(scene.storage, now=scene.now) == []
    assert await check_ledger_slowly(scene.storage, grid) == []
    assert len((await book_of(scene)).ticks) > 5


@pytest.mark.proves("T12")
async def test_a_pruned_storage_has_no_faults_when_it_is_known_to_be_pruned(scene: Scene) -> None:
    await a_busy_hour(scene)
    scene.clock.advance(HOUR)
    await scene.fire()
    pruned = await scene.prune(retention(runs_age=MINUTE, ticks_age=HOUR, events_age=MINUTE))

    assert pruned.runs > 0
    assert pruned.ticks > 0
    assert await check_invariants(scene.storage, now=scene.now, is_pruned=True) == []
    assert await check_ledger_slowly(scene.storage, grid) == []


Spoil = Callable[[list[TickRecord]], list[TickRecord]]
SPOILED_ROWS: dict[str, tuple[str, Spoil]] = {
    "a missing row": ("T2", lambda rows: rows[1:]),
    "a doubled row": ("T1", lambda rows: [*rows, rows[0]]),
    "an invented row": ("T2/T3", lambda rows: [*rows, rows[-1]._replace(scheduled_for=later(START, 7), run_id=None)]),
    "a range that counts wrongly": ("T2", lambda rows: [rows[0]._replace(count=rows[0].count + 1), *rows[1:]]),
    "a reason of another outcome": ("T2", lambda rows: [rows[0]._replace(reason=TickReason.ON_TIME), *rows[1:]]),
    "a run that is not named": ("T4", lambda rows: [*rows[:-1], rows[-1]._replace(run_id=None)]),
    "a skipped tick with a run": ("T4", lambda rows: [rows[0]._replace(run_id=RunId("x")), *rows[1:]]),
    "a tick that goes along with none": ("T2 ", lambda rows: [rows[0]._replace(into=None), *rows[1:]]),
    "a range that ends before it begins": ("T2 ", lambda rows: [rows[0]._replace(until=START, count=2), *rows[1:]]),
    "a range of one moment": ("T2 ", lambda rows: [*rows[:-1], rows[-1]._replace(count=2)]),
}


@pytest.mark.parametrize("name", SPOILED_ROWS)
async def test_a_corrupt_ledger_is_found(scene: Scene, name: str) -> None:
    await a_busy_hour(scene)
    book = await book_of(scene)
    invariant, spoil = SPOILED_ROWS[name]

    faults = list(check_ledger(book._replace(ticks=spoil(list(book.ticks)))))

    assert any(fault.startswith(invariant) for fault in faults)


async def test_a_watermark_that_ran_ahead_is_found(scene: Scene) -> None:
    await a_busy_hour(scene)
    book = await book_of(scene)
    ahead = replace(book.ledger.schedule, settled_until=later(book.ledger.schedule.settled_until, HOUR))

    faults = list(check_ledger(with_ledger(book, schedule=ahead)))

    assert any(fault.startswith("T2/T3") and "missing" in fault for fault in faults)
    assert any(fault.startswith("T5") for fault in faults)


async def test_a_deleted_schedule_with_planned_ticks_is_found(scene: Scene) -> None:
    await a_busy_hour(scene)
    book = await book_of(scene)
    planned = (PlannedTick(book.ledger.schedule.settled_until, scene.now, 2),)

    faults = list(check_ledger(with_ledger(book, deleted_at=scene.now, planned=planned)))

    assert any(fault.startswith("T15") for fault in faults)


async def test_a_tick_without_its_run_and_a_run_without_its_tick_are_found(scene: Scene) -> None:
    await a_busy_hour(scene)
    book = await book_of(scene)
    runs = {history.run.id: history.run for history in await histories_of(scene)}
    ran = next(tick for tick in book.ticks if tick.outcome is TickOutcome.RAN)
    assert ran.run_id is not None

    orphaned = {run_id: run for run_id, run in runs.items() if run_id != ran.run_id}
    unrecorded = book._replace(ticks=[tick for tick in book.ticks if tick is not ran])

    assert list(check_launches([book], runs, is_pruned=False)) == []
    assert [fault[:2] for fault in check_launches([book], orphaned, is_pruned=False)] == ["T4"]
    assert [fault[:2] for fault in check_launches([unrecorded], runs, is_pruned=False)] == ["T4"]


async def test_a_run_of_two_ticks_and_a_run_of_another_tick_are_found(scene: Scene) -> None:
    await a_busy_hour(scene)
    book = await book_of(scene)
    runs = {history.run.id: history.run for history in await histories_of(scene)}
    first, second = [tick for tick in book.ticks if tick.run_id is not None][:2]
    assert first.run_id is not None
    shared = [tick._replace(run_id=first.run_id) if tick is second else tick for tick in book.ticks]

    faults = list(check_launches([book._replace(ticks=shared)], runs, is_pruned=False))

    assert {fault[:2] for fault in faults} == {"T4"}
    assert any(f"its run {first.run_id} was created for" in fault for fault in faults)
    assert any(f"run {first.run_id}: 2 ticks" in fault for fault in faults)


SPOILED_RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "over without an end": ("S2", {"finished_at": None}),
    "ended before it began": ("S2", {"finished_at": START - 1}),
    "ended in the future": ("S2", {"finished_at": LATEST}),
    "an attempt nobody recorded": ("S3", {"attempt": 9}),
    "not over but ended": ("S2", {"status": Status.QUEUED}),
}


@pytest.mark.parametrize("name", SPOILED_RUNS)
async def test_a_corrupt_run_is_found(scene: Scene, name: str) -> None:
    claim = await scene.start()
    await scene.finish(succeeded(claim))
    [history] = await histories_of(scene)
    invariant, changes = SPOILED_RUNS[name]
    spoiled = history._replace(run=history.run._replace(**changes))

    assert list(check_history(history, scene.now)) == []
    assert any(fault.startswith(invariant) for fault in check_history(spoiled, scene.now))


async def test_attempts_that_do_not_follow_each_other_are_found(scene: Scene) -> None:
    await scene.finish(to_retry(await scene.start()))
    await scene.finish(*(succeeded(claim) for claim in await scene.claim()))
    [history] = await histories_of(scene)
    first, second = history.attempts
    doubled = history._replace(attempts=[first, second._replace(number=1)])
    backwards = history._replace(attempts=[first, second._replace(token=Token(first.token - 1))])

    repeated = history._replace(attempts=[first, second._replace(token=first.token)])
    reversed_time = history._replace(attempts=[first, second._replace(started_at=later(scene.now, 1))])

    assert [fault[:2] for fault in check_history(doubled, scene.now)] == ["S3"]
    assert [fault[:2] for fault in check_history(backwards, scene.now)] == ["L2"]
    assert [fault[:2] for fault in check_history(repeated, scene.now)] == ["L2"]
    assert [fault[:2] for fault in check_history(reversed_time, scene.now)] == ["S2"]


async def test_two_leases_with_one_token_and_two_runs_of_one_schedule_are_found(scene: Scene) -> None:
    await scene.schedule(every(60, overlap=Overlap.QUEUE))
    await scene.fire_after(MINUTE)
    [claim] = await scene.claim()
    run = await scene.run(claim.run_id)
    twin = run._replace(id=RunId("twin"))
    bare = run._replace(token=None)

    assert list(check_leases([run])) == []
    assert [fault[:2] for fault in check_leases([run, twin])] == ["L1"]
    assert [fault[:2] for fault in check_leases([bare])] == ["L1"]
    assert [fault[:3] for fault in check_overlap([await book_of(scene)], [run, twin])] == ["T10"]


async def test_an_end_without_an_event_is_found(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = await scene.start()
    await scene.finish(succeeded(claim))
    page = scene.storage.queries.page_runs

    async def page_of_failures(*args: Any) -> list[Run]:
        return [run._replace(status=Status.FAILED) for run in await page(*args)]

    monkeypatch.setattr(scene.storage.queries, "page_runs", page_of_failures)

    assert [fault[:2] for fault in await check_invariants(scene.storage, now=scene.now)] == ["S4"]


def with_status(status: Status, **fields: Any) -> Callable[[Any], Any]:
    return lambda runs: [run._replace(status=status, **fields) for run in runs]


INJECTED: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "a ledger without its rows": ("T2/T3", "queries.ticks", lambda rows: rows[1:]),
    "a tick without its run": ("T4", "queries.page_runs", lambda runs: [run for run in runs if run.tick is None]),
    "attempts nobody recorded": ("S3", "queries.attempts", lambda attempts: []),
    "a lease of nobody": ("L1", "queries.page_runs", lambda runs: [run._replace(worker_id=None) for run in runs]),
    "two runs under way": ("T10", "queries.page_runs", with_status(Status.RUNNING)),
    "an end that is told twice": ("S4", "queries.events", lambda events: [told_twice(event) for event in events]),
}


def told_twice(event: Any) -> Any:
    return event._replace(items=event.items * 2) if event.kind is EventKind.RUNS_ENDED else event


@pytest.mark.parametrize("name", INJECTED)
async def test_each_injected_fault_in_a_storage_is_found(scene: Scene, distort: Distort, name: str) -> None:
    await a_busy_hour(scene)
    invariant, verb, change = INJECTED[name]
    distort(verb, change)

    faults = await check_invariants(scene.storage, now=scene.now)

    assert any(fault.startswith(invariant) for fault in faults)


# -- executions


@pytest.mark.proves("D2", "D5", "D6")
async def test_a_sound_execution_has_no_faults(scene: Scene) -> None:
    execution = await opened(scene)
    await scene.finish(succeeded(await claim_child(scene, execution)))
    await settle(scene, final_settlement(await opened(scene)))

    assert await check_invariants(scene.storage, now=scene.now) == []


PLANTED_IN_EXECUTIONS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "a count of open steps that is wrong": (
        "D2",
        "queries.get_executions",
        lambda found: {run_id: one._replace(unresolved=9) for run_id, one in found.items()},
    ),
    "an end before all steps have ended": (
        "D5 .* steps without a result",
        "queries.page_runs",
        with_status(Status.SUCCESS),
    ),
    "an end that no event tells": (
        "D5 .* 0 events",
        "queries.events",
        lambda events: [silent(event) for event in events],
    ),
    "a step that ended without a note": ("D6", "trees.unsettled", lambda found: found._replace(trees=[])),
}


def silent(event: Any) -> Any:
    return event._replace(items=[]) if event.kind is EventKind.EXECUTIONS_ENDED else event


@pytest.mark.parametrize("name", PLANTED_IN_EXECUTIONS)
async def test_a_corrupt_execution_is_found(scene: Scene, distort: Distort, name: str) -> None:
    execution = await opened(scene)
    await scene.finish(succeeded(await claim_child(scene, execution)))
    await settle(scene, final_settlement(await opened(scene)))
    fault, verb, change = PLANTED_IN_EXECUTIONS[name]
    distort(verb, change)

    faults = await check_invariants(scene.storage, now=scene.now)

    assert any(re.match(fault, found) for found in faults)


async def test_the_oracle_finds_missing_and_surplus_ticks(scene: Scene) -> None:
    await a_busy_hour(scene)
    book = await book_of(scene)
    shorter = book._replace(ticks=book.ticks[:-1])
    longer = book._replace(ticks=[*book.ticks, book.ticks[-1]._replace(scheduled_for=later(START, 7))])

    assert list(compare_with_oracle(book, grid)) == []
    assert [fault[:2] for fault in compare_with_oracle(shorter, grid)] == ["T2"]
    assert [fault[:2] for fault in compare_with_oracle(longer, grid)] == ["T3"]


async def test_the_oracle_finds_a_range_with_a_wrong_count(scene: Scene) -> None:
    await a_busy_hour(scene)
    book = await book_of(scene)
    gap = next(tick for tick in book.ticks if tick.count > 1)
    others = [tick for tick in book.ticks if tick is not gap]

    faults = list(compare_with_oracle(book._replace(ticks=[gap._replace(count=gap.count + 1), *others]), grid))

    assert [fault[:2] for fault in faults] == ["T2"] * gap.count


async def book_of(scene: Scene) -> LedgerRows:
    [book] = [book async for book in read_ledgers(scene.storage)]
    return book


async def histories_of(scene: Scene) -> list[RunHistory]:
    return [history async for history in read_histories(scene.storage)]


def with_ledger(book: LedgerRows, **changes: Any) -> LedgerRows:
    ledger: ScheduleLedger = book.ledger._replace(**changes)
    return book._replace(ledger=ledger)
