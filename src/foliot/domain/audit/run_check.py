"""The check of ticks against the runs created for them: each must name the other, and no other."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from foliot.domain.audit.finding import Fault, Finding
from foliot.domain.audit.input import AuditInput, LaunchedRun, Page
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import Instant
from foliot.domain.schedule.tick import TickOutcome, TickRecord, tick_key


class RunCheck:
    """Reads the runs, newest first, and then the ticks.

    It keeps only the runs that their tick does not name, and what is needed to find missing runs.
    """

    def __init__(self, given: AuditInput, shared: Collection[RunId]) -> None:
        self._input = given
        self._was_renamed = given.was_renamed
        self._shared = frozenset(shared)
        self._owners: dict[RunId, TickRecord] = {}
        """The first tick that names a run which several ticks name."""
        self._unnamed: dict[RunId, Instant] = {}
        self._stored: dict[JobId, _StoredRuns] = defaultdict(_StoredRuns)

    def read_runs(self, runs: Iterable[LaunchedRun], rows: Mapping[Instant, TickRecord]) -> None:
        for run in runs:
            if run.tick is None or run.tick.uid != self._input.schedule.uid:
                continue
            moment = run.tick.scheduled_for
            self._stored[self._target(moment)].add(run)
            if moment > self._input.after and (moment not in rows or rows[moment].run_id != run.id):
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
        elif self._stored[self._target(moment)].is_missing(run_id, tick.fire_at):
            yield Finding(Fault.RUN_MISSING, moment, moment, 1, run_id)

    def end(self) -> Iterator[Finding]:
        for run_id, moment in self._unnamed.items():
            yield Finding(Fault.UNRECORDED_RUN, moment, moment, 1, run_id)

    def _check_run(self, tick: TickRecord, run: LaunchedRun, keys: Mapping[Instant, str]) -> Iterator[Finding]:
        moment = tick.scheduled_for
        if not run.is_readable:
            return  # reported as UNREADABLE
        if run.tick is None or run.tick[:3] != (self._input.schedule.uid, self._input.schedule.id, moment):
            yield Finding(Fault.RUN_OF_ANOTHER, moment, moment, 1, run.id)
        elif run.tick.key != self._key(moment, keys.get(moment, run.tick.key)):
            yield Finding(Fault.WRONG_KEY, moment, moment, 1, run.id)

    def _key(self, moment: Instant, stored: str) -> str:
        """Return the key that a run must have. After a rename it cannot be computed and must only equal the tick's."""
        return stored if self._was_renamed else tick_key(self._input.schedule.id, moment)

    def _target(self, moment: Instant) -> JobId:
        """Return the target of the schedule at a moment."""
        return self._input.timetable.revision_at(moment).spec.target


class _Stretch(NamedTuple):
    """Successive runs of one job, without a run of another job between them."""

    job_id: JobId
    oldest: RunId
    newest: RunId


class _StoredRuns:
    """The stored runs of one target. Finds missing runs that retention cannot have removed.

    Retention removes the oldest runs of a job first, by number and by age. If a run is stored that ended before a tick
    fired, retention cannot have removed the run of that tick. A missing run between two runs of one job was a run of
    that job: a target may start runs of its job or of the workflow that it leads.
    """

    def __init__(self) -> None:
        self._stretches: list[_Stretch] = []
        """Newest first."""
        self._first_ended: dict[JobId, list[tuple[RunId, Instant]]] = defaultdict(list)
        """Runs that ended before every older run, newest first. There are few: they ran at the same time as these."""

    def add(self, run: LaunchedRun) -> None:
        """Add the next run, which is older than all added before."""
        stretch = self._stretches[-1] if self._stretches else None
        if stretch is not None and stretch.job_id == run.job_id:
            self._stretches[-1] = stretch._replace(oldest=run.id)
        else:
            self._stretches.append(_Stretch(run.job_id, run.id, run.id))
        if run.finished_at is not None:
            first_ended = self._first_ended[run.job_id]
            while first_ended and first_ended[-1][1] >= run.finished_at:
                first_ended.pop()
            first_ended.append((run.id, run.finished_at))

    def is_missing(self, run_id: RunId, fire_at: Instant) -> bool:
        """Return whether a run is stored that retention would have removed before this one, which is not stored."""
        for index, stretch in enumerate(self._stretches):
            if stretch.oldest < run_id:
                is_between = index == 0 or run_id < stretch.newest
                return is_between and self._older_had_ended(stretch.job_id, run_id, fire_at)
        return False

    def _older_had_ended(self, job_id: JobId, run_id: RunId, fire_at: Instant) -> bool:
        """Return whether an older run of the job had ended at `fire_at`."""
        first_ended = self._first_ended[job_id]
        older = bisect_left(first_ended, True, key=lambda run: run[0] < run_id)
        return older < len(first_ended) and first_ended[older][1] <= fire_at
