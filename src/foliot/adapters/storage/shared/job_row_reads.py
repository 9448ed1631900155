"""Reads of jobs in lists, each with its newest ticks and results.

The number of queries does not depend on the number of jobs on the page, and the cost of none grows with the history:
each looks up a limited number of rows for each job or schedule.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

from foliot.adapters.storage.shared.definition_reads import DefinitionReads
from foliot.adapters.storage.shared.project_pauses import last_project_pause
from foliot.adapters.storage.shared.reads import Query, Read
from foliot.adapters.storage.shared.rows import Row, job_of, ledger_row_of
from foliot.adapters.storage.shared.run_reads import RunReads
from foliot.domain.ids import JobId, RunId, ScheduleId, ScheduleUid
from foliot.domain.instant import LATEST, Instant
from foliot.domain.job.job import Job
from foliot.domain.job.state import JobState
from foliot.domain.run.results import RunResult
from foliot.domain.run.run import BEGUN, TERMINAL
from foliot.domain.schedule.schedule import Schedule
from foliot.errors import RowUnreadable
from foliot.ports.job_rows import JobFacets, JobRowDetails, JobRowFilter, JobRows
from foliot.ports.ticks import LedgerRow, ListedTick

SLOTS: Final = 30
"""How many planned times of a job are read."""
RESULTS: Final = 30
"""How many of the newest runs of a job are read."""
_PAGE: Final = 1_000
_PAGES: Final = 10
"""A search reads so many pages of jobs."""
_ENDED: Final = {str(status): status for status in TERMINAL}

Matches = Callable[[Job | RowUnreadable], bool]


class _Found(NamedTuple):
    job_id: JobId
    job: Job | RowUnreadable


class JobRowReads:
    """Reads of one project."""

    def __init__(self, project: str, runs: RunReads, definitions: DefinitionReads) -> None:
        self._project = project
        self._runs = runs
        self._definitions = definitions

    def page(self, only: JobRowFilter) -> Read[JobRows]:
        found, following = yield from self._search(only)
        return (yield from self._rows(found))._replace(next=following)

    def named(self, job_ids: Collection[str]) -> Read[JobRows]:
        """Return the jobs that exist, in the order of the ids."""
        rows = (yield Query("get_jobs", (self._project, list(job_ids)))) if job_ids else ()
        found = {row[0]: self._found(row) for row in rows}
        return (yield from self._rows([found[job_id] for job_id in job_ids if job_id in found]))

    def facets(self) -> Read[JobFacets]:
        """Count jobs by state, kind and tag."""
        found: list[_Found] = []
        is_complete = False
        for _ in range(_PAGES):
            rows = yield Query("page_shown_jobs", (self._project, found[-1].job_id if found else "", _PAGE))
            found += map(self._found, rows)
            if len(rows) < _PAGE:
                is_complete = True
                break
        states: dict[JobState, int] = {}
        for state in JobState:
            matches = _matcher(JobRowFilter(state=state))
            states[state] = len((yield from self._in_state([one for one in found if matches(one.job)], state)))
        specs = [one.job.spec for one in found if isinstance(one.job, Job)]
        kinds, tags = Counter(spec.kind for spec in specs), Counter(tag for spec in specs for tag in {*spec.tags})
        return JobFacets(len(found), states, kinds, tags, is_complete)

    def results(self, job_ids: Collection[str], limit: int) -> Read[dict[str, list[RunResult]]]:
        """Return the newest runs of each job, newest first."""
        rows = (yield Query("recent_results", (self._project, list(job_ids), limit))) if job_ids else ()
        by_job: dict[str, list[RunResult]] = {}
        for job_id, *rest in sorted(rows, key=lambda row: row[1], reverse=True):
            by_job.setdefault(job_id, []).append(_result_of(rest))
        return by_job

    def failing(self, job_ids: Collection[str]) -> Read[dict[str, RunId]]:
        """Return the newest failed run of each job that has not succeeded since."""
        rows = (yield Query("failing_jobs", (self._project, list(job_ids)))) if job_ids else ()
        return {job_id: RunId(run_id) for job_id, run_id in rows}

    def _found(self, row: Row) -> _Found:
        try:
            return _Found(JobId(row[0]), job_of(self._project, row))
        except RowUnreadable as error:
            return _Found(JobId(row[0]), error)

    # -- which jobs

    def _search(self, only: JobRowFilter) -> Read[tuple[list[_Found], JobId | None]]:
        """Return the jobs of a page, and after which one the next page begins, if there may be one."""
        is_search = any(one is not None for one in (only.search, only.tag, only.kind, only.state))
        size = _PAGE if is_search else only.limit + 1
        matches, after, found = _matcher(only), only.after or JobId(""), list[_Found]()
        for _ in range(_PAGES if is_search else 1):
            rows = yield Query("page_shown_jobs", (self._project, after, size))
            candidates = [one for one in map(self._found, rows) if matches(one.job)]
            found += yield from self._in_state(candidates, only.state)
            if len(found) > only.limit:
                return found[: only.limit], found[only.limit - 1].job_id
            if len(rows) < size:
                return found, None
            after = JobId(rows[-1][0])
        return found, after

    def _in_state(self, found: list[_Found], state: JobState | None) -> Read[list[_Found]]:
        """Return those in a state. A state that depends on runs needs one more query for all of them."""
        job_ids = [one.job_id for one in found]
        match state:
            case JobState.FAILING:
                failing = yield from self.failing(job_ids)
                return [one for one in found if one.job_id in failing]
            case JobState.RUNNING:
                rows = (yield Query("latest_runs", (self._project, job_ids))) if job_ids else ()
                runs = (yield from self._runs.brief([row[0] for row in rows])).values()
                running = {run.job_id for run in runs if run.status in BEGUN}
                return [one for one in found if one.job_id in running]
        return found

    # -- what is shown with them

    def _rows(self, found: Sequence[_Found]) -> Read[JobRows]:
        job_ids = [one.job_id for one in found]
        schedules = yield from self._definitions.schedules_by_target(job_ids)
        ticks = yield from self._newest_ticks(schedules)
        latest = [RunId(row[0]) for row in (yield Query("latest_runs", (self._project, job_ids)))] if job_ids else []
        failing = yield from self.failing(job_ids)
        results = yield from self.results(job_ids, RESULTS)
        shown = [tick.row.record.run_id for listed in ticks.values() for tick in listed]
        states = yield from self._runs.states([one for one in shown if one is not None])
        runs = yield from self._runs.brief(latest)
        newest = {runs[run_id].job_id: run_id for run_id in latest if run_id in runs}
        pause = yield from last_project_pause(self._project)
        rows = [
            JobRowDetails(
                job,
                schedules.get(job_id, ()),
                newest.get(job_id),
                failing.get(job_id),
                ticks.get(job_id, ()),
                results.get(job_id, ()),
            )
            for job_id, job in found
        ]
        return JobRows(rows, runs, states, pause)

    def _newest_ticks(self, schedules: Mapping[str, Sequence[Schedule]]) -> Read[dict[str, list[ListedTick]]]:
        """Return the newest ticks of the schedules of each job."""
        shown = yield from self._liveliest(schedules)
        uids = [one.uid for listed in shown.values() for one in listed]
        rows = yield from self.newest_ticks(uids, SLOTS)
        return {
            job_id: newest([(one.id, row) for one in listed for row in rows.get(one.uid, ())], SLOTS)
            for job_id, listed in shown.items()
        }

    def newest_ticks(self, uids: Collection[ScheduleUid], limit: int) -> Read[dict[ScheduleUid, list[LedgerRow]]]:
        """Return the newest rows of the ledger of each schedule."""
        rows = (yield Query("newest_rows", (list(uids), limit))) if uids else ()
        grouped = groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0])
        return {uid: [ledger_row_of(row[1:]) for row in group] for uid, group in grouped}

    def _liveliest(self, schedules: Mapping[str, Sequence[Schedule]]) -> Read[dict[str, Sequence[Schedule]]]:
        """Return the schedules of each job whose ticks can be among the newest ones: at most one for each slot."""
        crowds = {job_id: listed for job_id, listed in schedules.items() if len(listed) > SLOTS}
        if not crowds:
            return dict(schedules)
        uids = [one.uid for listed in crowds.values() for one in listed]
        rows = yield Query("newest_ticks", (uids, "", LATEST))
        last = {row[0]: row[1] for row in rows}
        shown = {
            job_id: sorted(listed, key=lambda one: last.get(one.uid, 0), reverse=True)[:SLOTS]
            for job_id, listed in crowds.items()
        }
        return {**schedules, **shown}


def newest(rows: Sequence[tuple[ScheduleId, LedgerRow]], slots: int) -> list[ListedTick]:
    """Return the newest rows, newest first, until they have so many planned times."""
    shown: list[ListedTick] = []
    count = 0
    for schedule_id, row in sorted(rows, key=lambda one: (-one[1].record.until, one[0])):
        if count >= slots:
            break
        shown.append(ListedTick(schedule_id, row))
        count += row.record.count
    return shown


def _result_of(row: Row) -> RunResult:
    run_id, status, started_at, finished_at = row
    return RunResult(RunId(run_id), _ENDED.get(status), _instant(started_at), _instant(finished_at))


def _instant(value: int | None) -> Instant | None:
    return None if value is None else Instant(value)


def _matcher(only: JobRowFilter) -> Matches:
    """Return whether a job has what its definition shows: text, tag, kind and the states that are stored with it."""
    text = None if only.search is None else only.search.casefold()
    return partial(_is_match, only, text)


def _is_match(only: JobRowFilter, text: str | None, job: Job | RowUnreadable) -> bool:
    if isinstance(job, RowUnreadable):
        is_plain = only.tag is None and only.kind is None and only.state is None
        return is_plain and (text is None or text in job.name.casefold())
    spec = job.spec
    if only.tag is not None and only.tag not in spec.tags:
        return False
    if only.kind is not None and spec.kind != only.kind:
        return False
    if text is not None and not any(text in one.casefold() for one in (job.id, spec.name, *spec.tags)):
        return False
    is_paused = job.paused_at is not None or job.stopped_at is not None
    match only.state:
        case JobState.ENABLED:
            return spec.enabled and not is_paused
        case JobState.DISABLED:
            return not spec.enabled
        case JobState.PAUSED:
            return is_paused
        case JobState.FAILING:
            return spec.enabled
    return True
