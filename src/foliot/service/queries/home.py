"""The home page: what failed, runs, waits and was missed, and what is next. Its cost does not grow with the history."""

from collections.abc import Iterator, Mapping
from typing import Final

from foliot.domain.chain.class_state import BreakerState
from foliot.domain.ids import JobId, RunId
from foliot.domain.instant import DAY, MINUTE, SECOND, Instant, to_datetime
from foliot.domain.run.results import failure_streak, usual_duration
from foliot.domain.run.run import Run
from foliot.domain.tree.run_kind import RunKind
from foliot.ports.clock import Clock
from foliot.ports.home import HomeDetails, HomeFilter
from foliot.ports.storage import Storage
from foliot.service.queries.account_view import view_account
from foliot.service.queries.brief_view import view_brief
from foliot.service.queries.chain_view import view_class
from foliot.service.queries.documents import moment
from foliot.service.queries.fires import next_fires, next_hour
from foliot.service.queries.history import view_usual
from foliot.service.queries.home_view import (
    BrokenJob,
    HomePage,
    JobCounts,
    MissedSchedule,
    RunningRun,
    WaitingRun,
)
from foliot.service.queries.job_row_view import JobRow, view_rows
from foliot.service.queries.status import JobsFailing, StatusPage, StatusQuery
from foliot.service.why import explain_single_run

_SPAN: Final = DAY
"""The time over which planned times are counted."""
_LONG_WAIT: Final = MINUTE
"""Queued runs are shown if they have been due for longer than this."""
_MOST_RESULTS: Final = 200
"""Failures in a row are counted in so many runs of a job."""
_SAMPLES: Final = 100
"""The usual duration of a job is that of so many runs."""
_NEXT: Final = 20
"""How many next fire times are shown."""
_ENDED: Final = 10
"""How many ended runs are shown."""
_MOST_UPCOMING: Final = 200
"""The fires of the next hour are counted for so many schedules."""


class HomeQuery:
    def __init__(self, storage: Storage, clock: Clock, status: StatusQuery) -> None:
        self._queries = storage.queries
        self._clock = clock
        self._status = status

    async def page(self, version: str) -> HomePage:
        """Return the page. `version`: of the server, which it shows."""
        now = self._clock.now()
        classes = await self._queries.chain_classes()
        status = await self._status.page(classes)
        failing = {JobId(one.job_id): RunId(one.run_id) for one in status.failing}
        since = Instant(now - _SPAN)
        found = await self._queries.home(HomeFilter(since, now, Instant(now - _LONG_WAIT), failing))
        rows = {row.id: row for row in view_rows(found.rows, now)}
        pause = found.rows.project_pause
        shown = [view_class(one, now) for one in classes]
        ended = sorted(found.ended, key=lambda run: (run.finished_at or 0, run.id), reverse=True)[:_ENDED]
        return HomePage(
            at=to_datetime(now),
            version=version,
            status=status,
            jobs=JobCounts(total=found.totals.jobs, inactive=found.totals.disabled),
            account=view_account(found.account, since, now),
            broken=list(_broken(found, failing, rows)),
            broken_count=_broken_count(status),
            breakers=[one for one in shown if one.breaker is not BreakerState.CLOSED],
            running=[_running(run, found) for run in found.running],
            waiting=[_waiting(run, found, now) for run in sorted(found.waiting, key=lambda run: (run.due_at, run.id))],
            missed=list(_missed(found, rows)),
            missed_count=found.missed_count,
            next=next_fires(found.upcoming[:_NEXT], now, pause, _NEXT),
            next_hour=next_hour(found.upcoming, now, pause, _MOST_UPCOMING),
            ended=[view_brief(run) for run in ended],
        )


def _broken(found: HomeDetails, failing: Mapping[JobId, RunId], rows: Mapping[str, JobRow]) -> Iterator[BrokenJob]:
    for job_id, run_id in failing.items():
        if job_id not in rows:
            continue
        run = found.failing.get(run_id)
        streak = failure_streak(found.results.get(job_id, ()), _MOST_RESULTS)
        yield BrokenJob(
            job=rows[job_id],
            run=None if run is None else view_brief(run),
            since=moment(streak.since),
            failures=streak.failures,
            is_counted=streak.is_counted,
        )


def _broken_count(status: StatusPage) -> int:
    return next((notice.count for notice in status.notices if isinstance(notice, JobsFailing)), 0)


def _running(run: Run, found: HomeDetails) -> RunningRun:
    brief = view_brief(run)
    # Most runs of a class are scouts that find nothing. Their duration says nothing about a chain that is open.
    results = () if brief.kind is RunKind.CHAIN else found.results.get(run.job_id, ())
    return RunningRun(run=brief, usual=view_usual(usual_duration(results, _SAMPLES)))


def _waiting(run: Run, found: HomeDetails, now: Instant) -> WaitingRun:
    why = explain_single_run(run, found.blockers.jobs.get(run.job_id), found.blockers)
    return WaitingRun(run=view_brief(run), waited=(now - run.due_at) / SECOND, why=why)


def _missed(found: HomeDetails, rows: Mapping[str, JobRow]) -> Iterator[MissedSchedule]:
    for one in found.missed:
        target = one.schedule.revision.spec.target
        yield MissedSchedule(
            schedule_id=one.schedule.id,
            job_id=target,
            job=rows.get(target),
            count=one.count,
            since=to_datetime(one.since),
            until=to_datetime(one.until),
            reasons=[*one.reasons],
        )
