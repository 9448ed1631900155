"""Ticks against the runs that were made for them: each names the other, and nobody else."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from foliot.domain.audit.account import Account, Launched
from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import LATEST, Instant
from foliot.domain.run import Tick
from foliot.domain.tick import TickOutcome, TickRecord, tick_key


def check_launches(account: Account) -> Iterator[Finding]:
    owners: dict[RunId, TickRecord] = {}
    for tick in account.ticks:
        if tick.run_id is None or tick.outcome is not TickOutcome.RAN:
            continue
        owner = owners.setdefault(tick.run_id, tick)
        if owner is not tick:
            yield Finding(Fault.SHARED_RUN, owner.scheduled_for, tick.scheduled_for, 2, tick.run_id)
        elif tick.run_id in account.runs:
            yield from _check_launch(account, tick, account.runs[tick.run_id])
    yield from _unrecorded(account, owners)
    yield from _missing(account, owners)


def _check_launch(account: Account, tick: TickRecord, run: Launched) -> Iterator[Finding]:
    moment = tick.scheduled_for
    if run.tick is None or run.tick[:3] != (account.schedule.uid, account.schedule.id, moment):
        yield Finding(Fault.RUN_OF_ANOTHER, moment, moment, 1, run.id)
    elif run.tick.key != _key(account, run.tick):
        yield Finding(Fault.WRONG_KEY, moment, moment, 1, run.id)


def _key(account: Account, tick: Tick) -> str:
    """The key that a run must have. After a rename it is only known that it is the tick's."""
    if account.was_renamed:
        return account.keys.get(tick.scheduled_for, tick.key)
    return tick_key(account.schedule.id, tick.scheduled_for)


def _unrecorded(account: Account, owners: Mapping[RunId, TickRecord]) -> Iterator[Finding]:
    for run in account.runs.values():
        if run.tick is None or run.tick.uid != account.schedule.uid or run.id in owners:
            continue
        moment = run.tick.scheduled_for
        if moment > account.after:
            yield Finding(Fault.UNRECORDED_RUN, moment, moment, 1, run.id)


def _missing(account: Account, owners: Mapping[RunId, TickRecord]) -> Iterator[Finding]:
    """Runs that are gone and that retention cannot have taken.

    Of one job the oldest run goes first, by number and by age: where one is left that was over before a tick fired, the
    tick's own run cannot have been removed in good order. A schedule starts one job at a time, its target, or the
    workflow that the target leads at the moment.
    """
    known: dict[JobId, dict[RunId, Launched | TickRecord]] = defaultdict(dict)
    for run in account.runs.values():
        if run.tick is not None and run.tick.uid == account.schedule.uid:
            known[_target(account, run.tick.scheduled_for)][run.id] = run
    for run_id, tick in owners.items():
        if run_id not in account.runs:
            known[_target(account, tick.scheduled_for)][run_id] = tick
    for passages in known.values():
        for run_id, moment in _gone(sorted(passages.items())):
            yield Finding(Fault.RUN_MISSING, moment, moment, 1, run_id)


def _target(account: Account, moment: Instant) -> JobId:
    return account.timetable.revision_at(moment).spec.target


def _gone(passages: Iterable[tuple[RunId, Launched | TickRecord]]) -> Iterator[tuple[RunId, Instant]]:
    """Walk from the oldest run on. What is gone between two runs was of their job, if both are of one."""
    first_over: dict[JobId, Instant] = {}
    job_id: JobId | None = None
    gone: list[tuple[RunId, Instant]] = []
    for run_id, passage in passages:
        if isinstance(passage, TickRecord):
            if job_id is not None and first_over.get(job_id, LATEST) <= passage.fire_at:
                gone.append((run_id, passage.scheduled_for))
            continue
        if passage.job_id == job_id:
            yield from gone
        gone, job_id = [], passage.job_id
        if passage.finished_at is not None:
            first_over[job_id] = min(passage.finished_at, first_over.get(job_id, LATEST))
    yield from gone
