"""Checks the invariants of a storage. Reads only through the port, so it works with any adapter.

A check returns sentences that begin with the id of the broken invariant, or an empty list. Retention removes rows that
the checks compare, so a storage that has been pruned must be checked with `is_pruned`.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from foliot.domain.audit import audit
from foliot.domain.events import EventKind
from foliot.domain.ids import RunId
from foliot.domain.instant import LATEST, Instant, to_iso
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.domain.schedule.schedule import Overlap, ScheduleSpec
from foliot.domain.schedule.tick import REASONS, TickOutcome, TickRecord
from foliot.domain.schedule.tick_run import SCHEDULE_TRIGGER
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.ports.ticks import ScheduleLedger
from foliot.testing.chain_invariants import check_chains
from foliot.testing.fanout_invariants import check_fanouts

PAGE = 1_000

Oracle = Callable[[ScheduleSpec, Instant, Instant], Iterable[Instant]]
"""Returns all planned times of a specification after one instant up to another, in order.

It ignores revisions, pauses, `start_at` and `end_at`, and shares no code with the scheduler.
"""


class Violation(AssertionError):
    """A broken invariant. The message begins with its id."""


class LedgerRows(NamedTuple):
    """The ledger of one schedule, with its rows."""

    ledger: ScheduleLedger
    ticks: Sequence[TickRecord]

    @property
    def begins_at(self) -> Instant:
        """The time after which every planned tick must have a row."""
        ledger_from = self.ledger.schedule.ledger_from
        created_at = self.ledger.schedule.created_at
        return created_at if ledger_from is None else max(created_at, Instant(ledger_from - 1))

    @property
    def name(self) -> str:
        return f"{self.ledger.schedule.id} ({self.ledger.schedule.uid})"


class RunHistory(NamedTuple):
    """One run with its finished attempts."""

    run: Run
    attempts: Sequence[AttemptRecord]


async def check_invariants(storage: Storage, *, now: Instant, is_pruned: bool = False) -> list[str]:
    """Return everything that is wrong with ledgers, runs and events. `now` is the latest time that the clock had."""
    ledgers = [book async for book in read_ledgers(storage)]
    histories = [history async for history in read_histories(storage)]
    runs = {history.run.id: history.run for history in histories}
    faults = [fault for book in ledgers for fault in check_ledger(book)]
    faults += check_launches(ledgers, runs, is_pruned=is_pruned)
    faults += [fault for history in histories for fault in check_history(history, now)]
    faults += check_leases(runs.values())
    faults += check_overlap(ledgers, runs.values())
    faults += await check_executions(storage, runs, is_pruned=is_pruned)
    if not is_pruned:
        faults += await check_fanouts(storage, runs)
        faults += await check_chains(storage, runs, await read_noted(storage, len(runs)))
    return faults + await check_endings(storage, runs, is_pruned=is_pruned)


async def check_ledger_slowly(storage: Storage, oracle: Oracle) -> list[str]:
    """Compare every ledger, tick by tick, with an oracle that shares no code with the scheduler."""
    return [fault async for book in read_ledgers(storage) for fault in compare_with_oracle(book, oracle)]


# -- reading


async def read_ledgers(storage: Storage) -> AsyncIterator[LedgerRows]:
    after = None
    while page := await storage.queries.ledgers(after=after, limit=PAGE):
        for ledger in page:
            yield LedgerRows(ledger, [tick async for tick in read_ticks(storage, ledger)])
        after = page[-1].schedule.uid


async def read_ticks(storage: Storage, ledger: ScheduleLedger) -> AsyncIterator[TickRecord]:
    after = Instant(-1)
    while page := await storage.queries.ticks(ledger.schedule.uid, after=after, until=LATEST, limit=PAGE):
        for tick in page:
            yield tick
        after = page[-1].scheduled_for


async def read_histories(storage: Storage) -> AsyncIterator[RunHistory]:
    before: RunId | None = None
    while page := await storage.queries.page_runs(RunFilter(before=before, limit=PAGE)):
        for run in page:
            yield RunHistory(run, await storage.queries.attempts(run.id))
        before = page[-1].id


# -- ledgers


def check_ledger(book: LedgerRows) -> Iterator[str]:
    schedule = book.ledger.schedule
    timetable = book.ledger.timetable
    yield from check_rows(book)
    kept = [tick for tick in book.ticks if tick.until > book.begins_at]
    for finding in audit(
        timetable, kept, book.ledger.planned, after=book.begins_at, until=max(schedule.settled_until, book.begins_at)
    ):
        span = f"{to_iso(finding.first)} to {to_iso(finding.last)}"
        yield f"T2/T3 {book.name}: {finding.fault}, {finding.count} moments, {span}"
    if book.ledger.deleted_at is None and schedule.next_run_at != timetable.next(schedule.settled_until):
        yield f"T5 {book.name}: next_run_at is {schedule.next_run_at}, not what follows {schedule.settled_until}"
    if book.ledger.deleted_at is not None and book.ledger.planned:
        yield f"T15 {book.name}: is deleted and still has planned ticks"


def check_rows(book: LedgerRows) -> Iterator[str]:
    for moment, count in Counter(tick.scheduled_for for tick in book.ticks).items():
        if count > 1:
            yield f"T1 {book.name}: {count} rows for {to_iso(moment)}"
    for tick in book.ticks:
        where = f"{book.name} at {to_iso(tick.scheduled_for)}"
        if tick.reason not in REASONS[tick.outcome]:
            yield f"T2 {where}: {tick.outcome} for the reason {tick.reason}"
        if (tick.outcome is TickOutcome.RAN) != (tick.run_id is not None):
            yield f"T4 {where}: {tick.outcome} with run {tick.run_id}"
        if (tick.outcome is TickOutcome.COALESCED) != (tick.into is not None):
            yield f"T2 {where}: {tick.outcome} into {tick.into}"
        if tick.until < tick.scheduled_for or tick.count < 1 or (tick.count == 1) != (tick.until == tick.scheduled_for):
            yield f"T2 {where}: {tick.count} moments until {to_iso(tick.until)}"


def check_launches(ledgers: Sequence[LedgerRows], runs: dict[RunId, Run], *, is_pruned: bool) -> Iterator[str]:
    """Check that every tick that ran has exactly one run, and every run of a schedule exactly one tick."""
    launched: Counter[RunId] = Counter()
    for book in ledgers:
        for tick in book.ticks:
            if tick.run_id is not None:
                launched[tick.run_id] += 1
                yield from check_launch(book, tick, runs.get(tick.run_id), is_pruned=is_pruned)
    begins = {book.ledger.schedule.uid: book.begins_at for book in ledgers}
    for run in runs.values():
        if run.tick is None or run.trigger != SCHEDULE_TRIGGER:
            continue
        is_known = run.tick.uid in begins and run.tick.scheduled_for > begins[run.tick.uid]
        if launched[run.id] != 1 and (is_known or not is_pruned):
            yield f"T4 run {run.id}: {launched[run.id]} ticks refer to it"


def check_launch(book: LedgerRows, tick: TickRecord, run: Run | None, *, is_pruned: bool) -> Iterator[str]:
    where = f"{book.name} at {to_iso(tick.scheduled_for)}"
    if run is None:
        if not is_pruned:
            yield f"T4 {where}: its run {tick.run_id} does not exist"
    elif run.tick is None or (run.tick.uid, run.tick.scheduled_for) != (book.ledger.schedule.uid, tick.scheduled_for):
        yield f"T4 {where}: its run {run.id} was created for {run.tick}"


# -- runs


def check_history(history: RunHistory, now: Instant) -> Iterator[str]:
    run, attempts = history
    if (run.finished_at is not None) != run.status.is_terminal:
        yield f"S2 run {run.id}: {run.status} and finished at {run.finished_at}"
    times = [time for time in (run.created_at, run.started_at, run.finished_at) if time is not None]
    if times != sorted(times) or times[-1] > now:
        yield f"S2 run {run.id}: created, started, finished at {times}, now {now}"
    if [attempt.number for attempt in attempts] != list(range(1, len(attempts) + 1)):
        yield f"S3 run {run.id}: attempts {[attempt.number for attempt in attempts]}"
    under_way = run.status in (Status.RUNNING, Status.CANCELLING)
    if run.attempt != len(attempts) + under_way:
        yield f"S3 run {run.id}: attempt {run.attempt} with {len(attempts)} on record, {run.status}"
    tokens = [attempt.token for attempt in attempts]
    if any(later <= earlier for earlier, later in pairwise(tokens)):
        yield f"L2 run {run.id}: tokens {tokens}"
    if any(attempt.started_at > attempt.finished_at for attempt in attempts):
        yield f"S2 run {run.id}: an attempt ended before it began"


def check_leases(runs: Iterable[Run]) -> Iterator[str]:
    held = [run for run in runs if run.status in (Status.RUNNING, Status.CANCELLING)]
    for run in held:
        if run.token is None or run.worker_id is None or run.started_at is None:
            yield f"L1 run {run.id}: {run.status} without a lease"
    for token, count in Counter(run.token for run in held).items():
        if count > 1:
            yield f"L1 token {token}: {count} leases"


def check_overlap(ledgers: Sequence[LedgerRows], runs: Iterable[Run]) -> Iterator[str]:
    """Check that no schedule that forbids overlap has two open runs."""
    under_way = Counter(run.tick.uid for run in runs if run.tick and run.status in (Status.RUNNING, Status.CANCELLING))
    for book in ledgers:
        is_serial = all(revision.spec.overlap is not Overlap.ALLOW for revision in book.ledger.revisions)
        if is_serial and under_way[book.ledger.schedule.uid] > 1:
            yield f"T10 {book.name}: {under_way[book.ledger.schedule.uid]} runs under way"


async def read_noted(storage: Storage, count: int) -> set[RunId]:
    """Return the runs with notes that are not settled yet."""
    unsettled = await storage.trees.unsettled(count + 1, notes_per_tree=count + 1, at=LATEST)
    return {note.run_id for one in unsettled.trees for note in one.notes.items}


async def check_executions(storage: Storage, runs: dict[RunId, Run], *, is_pruned: bool) -> list[str]:
    """Check that steps and counters agree, that each end has one event, and that no note is missing."""
    executions = await storage.queries.get_executions(list(runs))
    noted = await read_noted(storage, len(runs))
    told = Counter([RunId(item[0]) async for item in read_items(storage, EventKind.EXECUTIONS_ENDED)])
    faults: list[str] = []
    for run_id, execution in executions.items():
        steps = await storage.trees.steps(run_id)
        faults += check_steps(runs[run_id], execution, steps, noted)
        expected = int(runs[run_id].status.is_terminal)
        if told[run_id] != expected and not (is_pruned and not told[run_id]):
            faults.append(f"D5 execution {run_id}: {runs[run_id].status}, and {told[run_id]} events say that it ended")
    return faults


def check_steps(run: Run, execution: Execution, steps: Sequence[StepRecord], noted: Collection[RunId]) -> Iterator[str]:
    pending = [step for step in steps if step.state.result is None]
    if execution.unresolved != len(pending):
        yield f"D2 execution {run.id}: {execution.unresolved} unresolved, and {len(pending)} steps without a result"
    if run.status.is_terminal != (not pending):
        yield f"D5 execution {run.id}: {run.status}, and {len(pending)} steps without a result"
    for step in pending:
        run_id, status = step.state.run_id, step.status
        if status is not None and status.is_terminal and run_id not in noted:
            yield f"D6 execution {run.id}: {step.name} is {status}, and there is no note of it"


async def check_endings(storage: Storage, runs: dict[RunId, Run], *, is_pruned: bool) -> list[str]:
    """Check that each ended run has one end event, with its status."""
    told: dict[RunId, list[str]] = {run_id: [] for run_id in runs}
    async for run_id, status in read_endings(storage):
        told.setdefault(run_id, []).append(status)
    faults = []
    for run_id, run in runs.items():
        expected = [run.status.value] if run.status.is_terminal else []
        if told[run_id] != expected and not (is_pruned and not told[run_id]):
            faults.append(f"S4 run {run_id}: {run.status}, and events say {told[run_id]}")
    return faults


async def read_endings(storage: Storage) -> AsyncIterator[tuple[RunId, str]]:
    async for item in read_items(storage, EventKind.RUNS_ENDED):
        if Status(item[1]).is_terminal:
            yield RunId(item[0]), str(item[1])


async def read_items(storage: Storage, kind: EventKind) -> AsyncIterator[list[Any]]:
    after = 0
    while page := await storage.queries.events(after=after, limit=PAGE):
        for event in page:
            for item in event.items if event.kind is kind else ():
                yield item
        after = page[-1].seq


# -- comparison with an oracle


def compare_with_oracle(book: LedgerRows, oracle: Oracle) -> Iterator[str]:
    expected = Counter(oracle_moments(book, oracle))
    recorded = Counter(recorded_moments(book, oracle))
    for moment in sorted((expected - recorded).keys()):
        yield f"T2 {book.name}: {to_iso(moment)} is missing"
    for moment in sorted((recorded - expected).keys()):
        yield f"T3 {book.name}: {to_iso(moment)} is one too many"


def oracle_moments(book: LedgerRows, oracle: Oracle) -> Iterator[Instant]:
    """Return the planned times of all revisions. A revision applies after its opening up to the opening of the next."""
    revisions = book.ledger.revisions
    for index, revision in enumerate(revisions):
        spec = revision.spec
        is_last = index + 1 == len(revisions)
        last = LATEST if is_last else revisions[index + 1].opened_at
        after = max(revision.opened_at, book.begins_at, (spec.start_at or 0) - 1)
        until = min(last, spec.end_at or LATEST, book.ledger.schedule.settled_until)
        if after < until:
            yield from oracle(spec, Instant(after), Instant(until))


def recorded_moments(book: LedgerRows, oracle: Oracle) -> Iterator[Instant]:
    specs = {revision.number: revision.spec for revision in book.ledger.revisions}
    for tick in book.ticks:
        if tick.until <= book.begins_at:
            continue
        if tick.count == 1:
            yield tick.scheduled_for
            continue
        moments = list(oracle(specs[tick.revision], Instant(tick.scheduled_for - 1), tick.until))
        if len(moments) == tick.count:
            yield from moments
    yield from (planned.scheduled_for for planned in book.ledger.planned)
