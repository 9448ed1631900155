"""Ticks against the runs that were made for them: each names the other, and nobody else."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import Account, Launched, Page
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.schedule.tick import TickOutcome, TickRecord, tick_key


class Launches:
    """Sees the runs, newest first, and then the ticks.

    Of runs only those are remembered whose moment's row does not name them, and what it takes to tell which others
    are missing.
    """

    def __init__(self, account: Account, shared: Collection[RunId]) -> None:
        self._account = account
        self._was_renamed = account.was_renamed
        self._shared = frozenset(shared)
        self._owners: dict[RunId, TickRecord] = {}
        """Which tick was the first to name a run that several name."""
        self._unnamed: dict[RunId, Instant] = {}
        self._kept: dict[JobId, _Kept] = defaultdict(_Kept)

    def see_runs(self, runs: Iterable[Launched], rows: Mapping[Instant, TickRecord]) -> None:
        for run in runs:
            if run.tick is None or run.tick.uid != self._account.schedule.uid:
                continue
            moment = run.tick.scheduled_for
            self._kept[self._target(moment)].add(run)
            if moment > self._account.after and (moment not in rows or rows[moment].run_id != run.id):
                self._unnamed[run.id] = moment

    def check(self, tick: TickRecord, page: Page) -> Iterator[Finding]:
        run_id, moment = tick.run_id, tick.scheduled_for
        if run_id is None or tick.outcome is not TickOutcome.RAN:
            return
        self._unnamed.pop(run_id, None)
        owner = self._owners.setdefault(run_id, tick) if run_id in self._shared else tick
        if owner is not tick:
            yield Finding(Fault.SHARED_RUN, owner.scheduled_for, moment, 2, run_id)
        elif run_id in page.runs:
            yield from self._check_run(tick, page.runs[run_id], page.keys)
        elif self._kept[self._target(moment)].outlived(run_id, tick.fire_at):
            yield Finding(Fault.RUN_MISSING, moment, moment, 1, run_id)

    def end(self) -> Iterator[Finding]:
        for run_id, moment in self._unnamed.items():
            yield Finding(Fault.UNRECORDED_RUN, moment, moment, 1, run_id)

    def _check_run(self, tick: TickRecord, run: Launched, keys: Mapping[Instant, str]) -> Iterator[Finding]:
        moment = tick.scheduled_for
        if not run.is_readable:
            return  # that is a finding of its own
        if run.tick is None or run.tick[:3] != (self._account.schedule.uid, self._account.schedule.id, moment):
            yield Finding(Fault.RUN_OF_ANOTHER, moment, moment, 1, run.id)
        elif run.tick.key != self._key(moment, keys.get(moment, run.tick.key)):
            yield Finding(Fault.WRONG_KEY, moment, moment, 1, run.id)

    def _key(self, moment: Instant, stored: str) -> str:
        """The key that a run must have. After a rename it is only known that it is the tick's."""
        return stored if self._was_renamed else tick_key(self._account.schedule.id, moment)

    def _target(self, moment: Instant) -> JobId:
        """A schedule starts one job at a time: its target, or the workflow that the target leads at the moment."""
        return self._account.timetable.revision_at(moment).spec.target


class _Stretch(NamedTuple):
    """Runs of one job with none of another between them."""

    job_id: JobId
    oldest: RunId
    newest: RunId


class _Kept:
    """The runs that are left of one target, and which of those that are gone retention cannot have taken.

    Of one job the oldest run goes first, by number and by age: where one is left that was over before a tick fired, the
    tick's own run cannot have been removed in good order. What is gone between two runs was of their job, if both are
    of one.
    """

    def __init__(self) -> None:
        self._stretches: list[_Stretch] = []
        """From the newest on."""
        self._overs: dict[JobId, list[tuple[RunId, Instant]]] = defaultdict(list)
        """Runs, from the newest on, that were over before every older one. Few: they ran beside all of those."""

    def add(self, run: Launched) -> None:
        """The next one, older than all that were added."""
        stretch = self._stretches[-1] if self._stretches else None
        if stretch is not None and stretch.job_id == run.job_id:
            self._stretches[-1] = stretch._replace(oldest=run.id)
        else:
            self._stretches.append(_Stretch(run.job_id, run.id, run.id))
        if run.finished_at is not None:
            overs = self._overs[run.job_id]
            while overs and overs[-1][1] >= run.finished_at:
                overs.pop()
            overs.append((run.id, run.finished_at))

    def outlived(self, run_id: RunId, fire_at: Instant) -> bool:
        """Whether a run is kept that had to go before this one, which is gone."""
        for index, stretch in enumerate(self._stretches):
            if stretch.oldest < run_id:
                is_between = index == 0 or run_id < stretch.newest
                return is_between and self._was_over(stretch.job_id, run_id, fire_at)
        return False

    def _was_over(self, job_id: JobId, run_id: RunId, fire_at: Instant) -> bool:
        """Whether a run of the job, older than this one, was over by then."""
        overs = self._overs[job_id]
        older = bisect_left(overs, True, key=lambda over: over[0] < run_id)
        return older < len(overs) and overs[older][1] <= fire_at
