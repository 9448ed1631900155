"""Everything that must hold when the dust has settled: the auditor, a slow oracle, and what the jobs say they did."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from foliot.domain.ids import RunId
from foliot.domain.instant import SECOND, Instant
from foliot.domain.run.run import Status
from foliot.domain.schedule.schedule import Overlap, ScheduleSpec, ScheduleType
from foliot.testing.invariants import (
    LedgerRows,
    RunHistory,
    check_invariants,
    check_ledger_slowly,
    read_histories,
    read_ledgers,
)
from tests.domain.cron.oracle import fires
from tests.scenarios.crash.effects import Interval, intervals
from tests.scenarios.crash.stage import Stage

Histories = dict[RunId, RunHistory]

EARLY: Final = 50
"""Milliseconds by which two clocks of one machine may differ."""

_SERIAL: Final = frozenset({Overlap.SKIP, Overlap.QUEUE, Overlap.CANCEL_RUNNING})


async def faults(stage: Stage) -> list[str]:
    """What is wrong; nothing, if all is well."""
    now = Instant(stage.services.clock.now() + EARLY)
    ledgers = [book async for book in read_ledgers(stage.storage)]
    histories = {history.run.id: history async for history in read_histories(stage.storage)}
    seen = intervals(stage.effects())
    return [
        *await check_invariants(stage.storage, now=now),
        *await check_ledger_slowly(stage.storage, oracle),
        *_without_run(seen, histories),
        *_too_early(seen, ledgers),
        *_meetings(seen, histories),
        *_overlaps(seen, ledgers, histories),
        *_wrong_results(seen, histories),
    ]


def oracle(spec: ScheduleSpec, after: Instant, until: Instant) -> Iterator[Instant]:
    """Second by second, with no code of the product."""
    first, last = after // SECOND + 1, until // SECOND
    match spec.type:
        case ScheduleType.CRON:
            yield from (Instant(epoch * SECOND) for epoch in fires(spec.expr, spec.timezone, first, last))
        case ScheduleType.INTERVAL:
            step, anchor = int(spec.expr), (spec.anchor or 0) // SECOND
            yield from (Instant(epoch * SECOND) for epoch in range(first, last + 1) if (epoch - anchor) % step == 0)
        case ScheduleType.ONCE | ScheduleType.MANUAL | ScheduleType.REBOOT:
            raise AssertionError(f"no plan of these tests has a schedule of type {spec.type}")


def _without_run(seen: Sequence[Interval], histories: Histories) -> Iterator[str]:
    for interval in seen:
        if interval.run_id not in histories:
            yield f"T4 run {interval.run_id}: it had an effect, and there is no such run"


def _too_early(seen: Sequence[Interval], ledgers: Sequence[LedgerRows]) -> Iterator[str]:
    fire_at = {tick.run_id: tick.fire_at for book in ledgers for tick in book.ticks if tick.run_id is not None}
    for interval in seen:
        if interval.at < fire_at.get(interval.run_id, Instant(0)) - EARLY:
            yield f"T7 run {interval.run_id}: began {fire_at[interval.run_id] - interval.at} ms early"


def _meetings(seen: Sequence[Interval], histories: Histories) -> Iterator[str]:
    """Two attempts of one run may meet only when the lease of the former had run out."""
    for former, latter in combinations(seen, 2):
        if former.run_id == latter.run_id and _meet(former, latter) and not _was_lost(former, histories):
            yield f"L1 run {former.run_id}: attempts {former.attempt} and {latter.attempt} met"


def _overlaps(seen: Sequence[Interval], ledgers: Sequence[LedgerRows], histories: Histories) -> Iterator[str]:
    serial = {book.ledger.schedule.uid for book in ledgers if book.ledger.schedule.revision.spec.overlap in _SERIAL}
    for former, latter in combinations(seen, 2):
        ticks = [histories[one.run_id].run.tick for one in (former, latter) if one.run_id in histories]
        uids = {tick.uid for tick in ticks if tick is not None}
        is_one_schedule = len(ticks) == 2 and None not in ticks and len(uids) == 1
        is_other_run = former.run_id != latter.run_id
        if is_one_schedule and is_other_run and uids <= serial and _meet(former, latter):
            yield f"T10 runs {former.run_id} and {latter.run_id} of one schedule met"


def _wrong_results(seen: Sequence[Interval], histories: Histories) -> Iterator[str]:
    """A run that succeeded did so once, and what it gave back is from the attempt that did."""
    ends = {(interval.run_id, interval.attempt, interval.pid) for interval in seen if interval.end is not None}
    for run, attempts in histories.values():
        successes = Counter(attempt.status for attempt in attempts)[Status.SUCCESS]
        if successes != (run.status is Status.SUCCESS):
            yield f"S3 run {run.id}: {run.status} with {successes} successes"
        if run.status is Status.SUCCESS and isinstance(run.output, list):  # that of a fanout is its summary
            number, pid = run.output
            if number != run.attempt or (run.id, number, pid) not in ends:
                yield f"S10 run {run.id}: attempt {run.attempt} gave back {run.output}"
        # An attempt that was lost while a cancel was pending is recorded as cancelled, and counts as lost.
        lost = sum(attempt.reason == "lease_lost" for attempt in attempts)
        if run.status.is_terminal and run.lost - lost not in (0, run.reason == "cancelled"):
            yield f"S3 run {run.id}: {run.lost} lost, and attempts say {[attempt.reason for attempt in attempts]}"


def _meet(former: Interval, latter: Interval) -> bool:
    """Whether the latter began before the former ended. What never ended was killed or failed at an unknown place."""
    return former.end is not None and former.begin < latter.begin < former.end


def _was_lost(interval: Interval, histories: Histories) -> bool:
    history = histories.get(interval.run_id)
    records = () if history is None else history.attempts
    return any(record.number == interval.attempt and record.reason == "lease_lost" for record in records)
