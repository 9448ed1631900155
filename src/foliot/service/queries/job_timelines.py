"""The timeline of all jobs: which runs were under way in an interval, and when schedules fire in it.

    interval   |-- step --|-- step --|-- step --| now ...
    nightly          [=== run ===]               |    fire
    minutely   [3 runs]   [2 runs]   [3 runs]    |   3 fires

Short runs of a job that begin and end in the same step are one bar, with the worst of their statuses, and fire times in
the same step are one mark. So the answer is bounded by the jobs and the steps, however often a job runs.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from foliot.domain.ids import RunId, first_id_at
from foliot.domain.instant import DAY, HOUR, MINUTE, SECOND, Instant, Millis, from_datetime, to_datetime
from foliot.domain.run.run import Run, Status
from foliot.errors import InvalidInput
from foliot.ports.clock import Clock
from foliot.ports.health import OverviewLimits
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.queries.fires import fires_within

_PAST: Final = 16 * HOUR
_COMING: Final = 8 * HOUR
_SHORTEST: Final = MINUTE
_LONGEST: Final = 32 * DAY
_STEPS: Final = (SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR)
_MOST_STEPS: Final = 400
_PAGE: Final = 1_000
_MOST_RUNS: Final = 5_000
_BEFORE: Final = 6 * HOUR
"""Runs that were created so long before the interval are read too: they may have been under way in it."""
_OPEN: Final = OverviewLimits(rows=500, failures=1, counted=1)
_MOST_FIRES: Final = 20_000
_WORST_FIRST: Final = (
    Status.FAILED,
    Status.TIMEOUT,
    Status.PARTIAL,
    Status.CANCELLING,
    Status.RUNNING,
    Status.QUEUED,
    Status.SUCCESS,
    Status.CANCELLED,
    Status.SKIPPED,
)


class TimelineBar(msgspec.Struct, frozen=True, kw_only=True):
    """One run, or several short ones of a job."""

    begin: datetime
    end: datetime | None
    """null: it has not ended."""
    status: str
    """Of several runs the worst one."""
    count: int
    run_id: str
    """The run, or the first one with this status."""


class TimelineFires(msgspec.Struct, frozen=True, kw_only=True):
    """Coming fire times in one step."""

    at: datetime
    """The first of them."""
    count: int


class TimelineRow(msgspec.Struct, frozen=True, kw_only=True):
    """A job or a workflow."""

    job_id: str
    bars: list[TimelineBar]
    fires: list[TimelineFires]


class TimelinePage(msgspec.Struct, frozen=True, kw_only=True):
    """What ran in an interval, and what fires in it. Steps, items and reducers are part of their run."""

    at: datetime
    since: datetime
    until: datetime
    step: float
    """The length of a step in seconds."""
    rows: list[TimelineRow]
    """By job, those with a run or a fire time in the interval."""
    concurrency: list[int]
    """For each step, how many runs were under way at the same time at most."""
    is_complete: bool
    """False: only the newest 5,000 runs were read, or 500 schedules or 20,000 fire times."""


class Interval(NamedTuple):
    since: Instant
    until: Instant
    step: Millis

    def step_of(self, moment: Instant) -> int:
        return (min(max(moment, self.since), self.until - 1) - self.since) // self.step


class Span(NamedTuple):
    """When a run was under way."""

    run: Run
    begin: Instant
    end: Instant
    """Of a run that has not ended, now."""


class TimelineQuery:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._clock = clock

    async def page(self, since: datetime | None = None, until: datetime | None = None) -> TimelinePage:
        """Return the timeline of all jobs, by default of the last 16 and the next 8 hours."""
        now = self._clock.now()
        interval = read_interval(since, until, now)
        found = await self._queries.overview(_OPEN)
        recent = await self._recent(interval)
        roots = [run for run in (*found.running, *found.queued) if run.parent_id is None]
        runs = {run.id: run for run in (*roots, *recent)}
        spans = list(spans_in(runs.values(), interval, now))
        coming = [(run.job_id, run.due_at) for run in runs.values() if run.status is Status.SCHEDULED]
        fires: list[tuple[str, Instant]] = [(job, at) for job, at in coming if interval.since <= at < interval.until]
        last = Instant(interval.until - 1)
        for schedule in found.upcoming:
            left = max(0, _MOST_FIRES - len(fires))
            times = fires_within(schedule, max(now, interval.since), found.project_pause, last, left)
            fires += [(schedule.revision.spec.target, at) for at in times]
        return TimelinePage(
            at=to_datetime(now),
            since=to_datetime(interval.since),
            until=to_datetime(interval.until),
            step=interval.step / SECOND,
            rows=view_rows(spans, fires, interval),
            concurrency=concurrency(spans, interval),
            is_complete=len(recent) < _MOST_RUNS and len(found.upcoming) < _OPEN.rows and len(fires) < _MOST_FIRES,
        )

    async def _recent(self, interval: Interval) -> list[Run]:
        """Return the runs that were created in the interval or not long before, newest first."""
        first = first_id_at(Instant(interval.since - _BEFORE))
        found: list[Run] = []
        before = RunId(first_id_at(interval.until))
        while len(found) < _MOST_RUNS:
            page = await self._queries.brief_runs(RunFilter(roots=True, before=before, limit=_PAGE))
            found += [run for run in page if run.id >= first]
            if len(page) < _PAGE or page[-1].id < first:
                break
            before = page[-1].id
        return found


def read_interval(since: datetime | None, until: datetime | None, now: Instant) -> Interval:
    """Return the interval, widened to whole steps, so that it stays the same while time goes on."""
    begin = Instant(now - _PAST) if since is None else from_datetime(since)
    end = Instant(begin + _PAST + _COMING) if until is None else from_datetime(until)
    if not _SHORTEST <= end - begin <= _LONGEST:
        hint = "Choose an interval of one minute to 32 days."
        raise InvalidInput("until must be one minute to 32 days after since", hint=hint, field="until")
    step = next(Millis(step) for step in (*_STEPS, DAY) if (end - begin) // step <= _MOST_STEPS)
    return Interval(Instant(begin // step * step), Instant(-(-end // step) * step), step)


def spans_in(runs: Iterable[Run], interval: Interval, now: Instant) -> Iterator[Span]:
    """Return when each run was under way, in the interval. A run that was skipped takes no time."""
    for run in runs:
        if run.status is Status.SCHEDULED:
            continue
        begin = run.due_at if run.started_at is None else run.started_at
        ended = begin if run.started_at is None and run.status.is_terminal else run.finished_at
        end = max(begin, now if ended is None else ended)
        if begin < interval.until and end >= interval.since:
            yield Span(run, begin, end)


def view_rows(spans: Iterable[Span], fires: Iterable[tuple[str, Instant]], interval: Interval) -> list[TimelineRow]:
    by_job: dict[str, tuple[list[Span], list[Instant]]] = {}
    for span in spans:
        by_job.setdefault(span.run.job_id, ([], []))[0].append(span)
    for job_id, at in fires:
        by_job.setdefault(job_id, ([], []))[1].append(at)
    return [
        TimelineRow(job_id=job_id, bars=list(_bars(own, interval)), fires=list(_fires(times, interval)))
        for job_id, (own, times) in sorted(by_job.items())
    ]


def _bars(spans: Iterable[Span], interval: Interval) -> Iterator[TimelineBar]:
    """Return the bars of one job. Short runs of the same step are one bar."""
    in_order = sorted(spans, key=lambda span: (span.begin, span.run.id))
    for _, group in groupby(in_order, key=lambda span: _place(span, interval)):
        merged = list(group)
        worst = min(merged, key=lambda span: _WORST_FIRST.index(span.run.status))
        is_open = not worst.run.status.is_terminal
        yield TimelineBar(
            begin=to_datetime(merged[0].begin),
            end=None if is_open else to_datetime(max(span.end for span in merged)),
            status=worst.run.status,
            count=len(merged),
            run_id=worst.run.id,
        )


def _place(span: Span, interval: Interval) -> int | str:
    """Return the step of a short run. A long or an open run has a bar of its own."""
    step = interval.step_of(span.begin)
    is_short = span.run.status.is_terminal and interval.step_of(span.end) == step
    return step if is_short else span.run.id


def _fires(times: Iterable[Instant], interval: Interval) -> Iterator[TimelineFires]:
    for _, group in groupby(sorted(times), key=interval.step_of):
        merged = list(group)
        yield TimelineFires(at=to_datetime(merged[0]), count=len(merged))


def concurrency(spans: Sequence[Span], interval: Interval) -> list[int]:
    """Return for each step how many runs were under way at the same time at most."""
    most = [0] * ((interval.until - interval.since) // interval.step)
    began = [span for span in spans if span.run.started_at is not None]
    changes = sorted([(span.begin, 1) for span in began] + [(Instant(span.end + 1), -1) for span in began])
    going, last = 0, 0
    for moment, change in changes:
        step = interval.step_of(moment)
        for passed in range(last + 1, step + 1):
            most[passed] = going
        going, last = going + change, step
        most[step] = max(most[step], going)
    return most
