"""Does a storage hold what must always hold? Reads through the port alone, so that it judges any adapter.

A check tells what is wrong in sentences that begin with the id of the broken invariant; an empty list is good news.
Retention removes what the checks compare, so that a storage that has been pruned is judged with `is_pruned`.
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
from foliot.domain.schedule.timetable import Timetable
from foliot.domain.workflow.execution import Execution, StepRecord
from foliot.ports.queries import RunFilter, ScheduleLedger
from foliot.ports.storage import Storage

PAGE = 1_000

Oracle = Callable[[ScheduleSpec, Instant, Instant], Iterable[Instant]]
"""The planned moments of a specification after one instant, up to and with another: all of them, in order.

It knows nothing of revisions, pauses, or `start_at` and `end_at`, and shares no code with what it judges.
"""


class Book(NamedTuple):
    """One schedule's ledger with its rows."""

    ledger: ScheduleLedger
    ticks: Sequence[TickRecord]

    @property
    def begins_at(self) -> Instant:
        """Every moment after this one must be accounted for."""
        ledger_from = self.ledger.schedule.ledger_from
        created_at = self.ledger.schedule.created_at
        return created_at if ledger_from is None else max(created_at, Instant(ledger_from - 1))

    @property
    def name(self) -> str:
        return f"{self.ledger.schedule.id} ({self.ledger.schedule.uid})"


class Passage(NamedTuple):
    """One run with the attempts it has behind it."""

    run: Run
    attempts: Sequence[AttemptRecord]


async def check_invariants(storage: Storage, *, now: Instant, is_pruned: bool = False) -> list[str]:
    """Everything that is wrong with the ledgers, the runs and their events. `now` is the latest moment there was."""
    books = [book async for book in read_books(storage)]
    passages = [passage async for passage in read_passages(storage)]
    runs = {passage.run.id: passage.run for passage in passages}
    faults = [fault for book in books for fault in check_book(book)]
    faults += check_launches(books, runs, is_pruned=is_pruned)
    faults += [fault for passage in passages for fault in check_passage(passage, now)]
    faults += check_leases(runs.values())
    faults += check_overlap(books, runs.values())
    faults += await check_executions(storage, runs, is_pruned=is_pruned)
    return faults + await check_endings(storage, runs, is_pruned=is_pruned)


async def check_ledger_slowly(storage: Storage, oracle: Oracle) -> list[str]:
    """Compare every ledger, moment by moment, with an oracle that shares no code with the scheduler."""
    return [fault async for book in read_books(storage) for fault in compare_with_oracle(book, oracle)]


# -- reading


async def read_books(storage: Storage) -> AsyncIterator[Book]:
    after = None
    while page := await storage.queries.ledgers(after=after, limit=PAGE):
        for ledger in page:
            yield Book(ledger, [tick async for tick in read_ticks(storage, ledger)])
        after = page[-1].schedule.uid


async def read_ticks(storage: Storage, ledger: ScheduleLedger) -> AsyncIterator[TickRecord]:
    after = Instant(-1)
    while page := await storage.queries.ticks(ledger.schedule.uid, after=after, until=LATEST, limit=PAGE):
        for tick in page:
            yield tick
        after = page[-1].scheduled_for


async def read_passages(storage: Storage) -> AsyncIterator[Passage]:
    before: RunId | None = None
    while page := await storage.queries.page_runs(RunFilter(before=before, limit=PAGE)):
        for run in page:
            yield Passage(run, await storage.queries.attempts(run.id))
        before = page[-1].id


# -- ledgers


def check_book(book: Book) -> Iterator[str]:
    schedule = book.ledger.schedule
    timetable = Timetable(schedule.id, book.ledger.revisions, book.ledger.pauses, book.ledger.boots)
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


def check_rows(book: Book) -> Iterator[str]:
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


def check_launches(books: Sequence[Book], runs: dict[RunId, Run], *, is_pruned: bool) -> Iterator[str]:
    """Every tick that ran has exactly one run, and every run of a schedule has exactly one tick."""
    launched: Counter[RunId] = Counter()
    for book in books:
        for tick in book.ticks:
            if tick.run_id is not None:
                launched[tick.run_id] += 1
                yield from check_launch(book, tick, runs.get(tick.run_id), is_pruned=is_pruned)
    begins = {book.ledger.schedule.uid: book.begins_at for book in books}
    for run in runs.values():
        if run.tick is None or run.trigger != SCHEDULE_TRIGGER:
            continue
        is_known = run.tick.uid in begins and run.tick.scheduled_for > begins[run.tick.uid]
        if launched[run.id] != 1 and (is_known or not is_pruned):
            yield f"T4 run {run.id}: {launched[run.id]} ticks say that they made it"


def check_launch(book: Book, tick: TickRecord, run: Run | None, *, is_pruned: bool) -> Iterator[str]:
    where = f"{book.name} at {to_iso(tick.scheduled_for)}"
    if run is None:
        if not is_pruned:
            yield f"T4 {where}: its run {tick.run_id} does not exist"
    elif run.tick is None or (run.tick.uid, run.tick.scheduled_for) != (book.ledger.schedule.uid, tick.scheduled_for):
        yield f"T4 {where}: its run {run.id} says it was made for {run.tick}"


# -- runs


def check_passage(passage: Passage, now: Instant) -> Iterator[str]:
    run, attempts = passage
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


def check_overlap(books: Sequence[Book], runs: Iterable[Run]) -> Iterator[str]:
    """No schedule that forbids it has two runs under way."""
    under_way = Counter(run.tick.uid for run in runs if run.tick and run.status in (Status.RUNNING, Status.CANCELLING))
    for book in books:
        is_serial = all(revision.spec.overlap is not Overlap.ALLOW for revision in book.ledger.revisions)
        if is_serial and under_way[book.ledger.schedule.uid] > 1:
            yield f"T10 {book.name}: {under_way[book.ledger.schedule.uid]} runs under way"


async def check_executions(storage: Storage, runs: dict[RunId, Run], *, is_pruned: bool) -> list[str]:
    """Every step is where it must be, every end is told once, and nothing waits for a note that will not come."""
    executions = await storage.queries.get_executions(list(runs))
    unsettled = await storage.trees.unsettled(len(executions) + 1, notes_per_tree=len(runs) + 1, at=LATEST)
    noted = {note.run_id for one in unsettled.trees for note in one.notes.items}
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
            yield f"D6 execution {run.id}: {step.name} is {status}, and nobody will hear of it"


async def check_endings(storage: Storage, runs: dict[RunId, Run], *, is_pruned: bool) -> list[str]:
    """Each run that is over has one event that says so, with the status it has."""
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


# -- the slow way


def compare_with_oracle(book: Book, oracle: Oracle) -> Iterator[str]:
    expected = Counter(oracle_moments(book, oracle))
    recorded = Counter(recorded_moments(book, oracle))
    for moment in sorted((expected - recorded).keys()):
        yield f"T2 {book.name}: {to_iso(moment)} is missing"
    for moment in sorted((recorded - expected).keys()):
        yield f"T3 {book.name}: {to_iso(moment)} is one too many"


def oracle_moments(book: Book, oracle: Oracle) -> Iterator[Instant]:
    """Walk the revisions; each rules the moments after it was opened, up to and with the opening of the next."""
    revisions = book.ledger.revisions
    for index, revision in enumerate(revisions):
        spec = revision.spec
        is_last = index + 1 == len(revisions)
        last = LATEST if is_last else revisions[index + 1].opened_at
        after = max(revision.opened_at, book.begins_at, (spec.start_at or 0) - 1)
        until = min(last, spec.end_at or LATEST, book.ledger.schedule.settled_until)
        if after < until:
            yield from oracle(spec, Instant(after), Instant(until))


def recorded_moments(book: Book, oracle: Oracle) -> Iterator[Instant]:
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
