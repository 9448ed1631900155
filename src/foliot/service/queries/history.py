"""The history of a job: its newest runs, and how long they usually take."""

import msgspec

from foliot.domain.ids import JobId
from foliot.domain.run.results import Usual, usual
from foliot.domain.run.run import Status
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.queries.brief_view import RunBrief, view_brief
from foliot.service.references import References


class UsualView(msgspec.Struct, frozen=True, kw_only=True):
    """The median and the 95th percentile, in seconds."""

    p50: float
    p95: float
    samples: int


class JobHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The newest runs of a job."""

    job_id: str
    runs: list[RunBrief]
    """Oldest first."""
    duration: UsualView | None
    """Of the successes among them. None: there is none."""
    lag: UsualView | None
    """From the planned or due time to the start, of those with one attempt. None: there is none."""


class HistoryQueries:
    def __init__(self, storage: Storage) -> None:
        self._queries = storage.queries
        self._references = References(storage)

    async def of_job(self, job_id: str, *, limit: int = 90) -> JobHistory:
        found = await self._queries.brief_runs(RunFilter(job_id=JobId(job_id), limit=limit))
        if not found and not (await self._queries.named_job_rows([JobId(job_id)])).rows:
            raise await self._references.no_job(job_id)
        runs = [view_brief(run) for run in reversed(found)]
        # A retry moves the due time, and the start is that of the latest attempt.
        lags = [run.lag for run in runs if run.lag is not None and run.attempt == 1]
        durations = [run.duration for run in runs if run.duration is not None and run.status is Status.SUCCESS]
        return JobHistory(job_id=job_id, runs=runs, duration=view_usual(usual(durations)), lag=view_usual(usual(lags)))


def view_usual(usual: Usual | None) -> UsualView | None:
    return None if usual is None else UsualView(**usual._asdict())
