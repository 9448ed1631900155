"""job:// reads what another job has printed: the lines of the standard output of its latest successful run."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final, Protocol

from foliot.adapters.resolvers.texts import Lines, batches_of
from foliot.adapters.resolvers.time_limit import SECONDS, limited
from foliot.domain.fanout.inputs import parse_job
from foliot.domain.ids import JobId, RunId, Token
from foliot.domain.instant import SECOND, Instant
from foliot.domain.run.logs import LogChunk, LogState, log_end
from foliot.domain.run.outcome import Reason
from foliot.domain.run.run import AttemptRecord, Run, Status
from foliot.errors import InputsRefused, InputsUnavailable
from foliot.ports.pages import LogSummary, RunFilter
from foliot.ports.resolver import ResolveRequest

_PAGE: Final = 100
_LOOKED_AT: Final = 100
"""Among this many of the newest successes, the one that ended last is used."""
_TRUNCATED: Final = "Raise output_cap of that job, or let it write a file and read that."


class RunReader(Protocol):
    """The part of `ports.queries.Queries` that is needed."""

    async def page_runs(self, only: RunFilter) -> list[Run]: ...

    async def attempts(self, run_id: RunId) -> list[AttemptRecord]: ...

    async def log_summary(self, run_id: RunId, token: Token | None) -> LogSummary: ...

    async def logs_kept_from(self) -> Instant | None: ...

    async def read_log(
        self, run_id: RunId, *, after: tuple[Token, int] | None = None, limit: int = 1_000
    ) -> list[LogChunk]: ...


class JobResolver:
    """Reads the outputs of jobs of this storage."""

    def __init__(self, runs: RunReader, *, seconds: float = SECONDS) -> None:
        self._runs = runs
        self._seconds = seconds

    def check(self, uri: str) -> None:
        parse_job(uri)

    def resolve(self, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        return limited(self._batches(parse_job(request.uri).job_id, request), self._seconds)

    async def _batches(self, job_id: JobId, request: ResolveRequest) -> AsyncGenerator[Sequence[bytes]]:
        run = await self._latest(job_id, request)
        token, last = await self._complete_log(job_id, run.id)
        if last is None:
            return
        lines = Lines(request.limits, comments=False)
        async with aclosing(batches_of(self._stdout(run.id, token, last), lines)) as batches:
            async for batch in batches:
                yield batch

    async def _latest(self, job_id: JobId, request: ResolveRequest) -> Run:
        """Return the successful run that ended last within the window."""
        found = await self._runs.page_runs(RunFilter(job_id=job_id, status=Status.SUCCESS, limit=_LOOKED_AT))
        ended = [(run.finished_at, run) for run in found if run.finished_at is not None and run.unreadable is None]
        at, run = max(ended, key=lambda one: one[0], default=(None, None))
        if at is None or run is None or at < request.now - request.window:
            hours = request.window / SECOND / 3_600
            hint = f"Run it first: foliot trigger {job_id}. The window is {hours:g} h."
            raise InputsUnavailable(f'job "{job_id}" has no successful run within the window', hint=hint)
        return run

    async def _complete_log(self, job_id: JobId, run_id: RunId) -> tuple[Token, LogChunk | None]:
        """Return the last attempt of the run, and the last chunk of its log; None if it has printed nothing."""
        attempts = await self._runs.attempts(run_id)
        if not attempts:
            raise InputsUnavailable(f'run {run_id} of job "{job_id}" has no attempt', hint="Run the job again.")
        record = attempts[-1]
        summary = await self._runs.log_summary(run_id, record.token)
        chunks = [one for one in (summary.first, summary.last) if one is not None and one.token == record.token]
        end = log_end(
            chunks,
            is_over=True,
            was_lost=record.reason == Reason.LEASE_LOST,
            ended_at=record.finished_at,
            kept_from=await self._runs.logs_kept_from(),
        )
        if end.state is LogState.PRUNED:
            raise _removed(run_id)
        if end.state is not LogState.COMPLETE:
            raise InputsRefused(f'the output of run {run_id} of job "{job_id}" is not complete', hint=_TRUNCATED)
        return record.token, chunks[-1] if chunks else None

    async def _stdout(self, run_id: RunId, token: Token, last: LogChunk) -> AsyncGenerator[bytes]:
        """Yield the standard output of an attempt. Raise InputsUnavailable if retention removes it meanwhile."""
        seq = -1
        while seq < last.seq:
            page = await self._runs.read_log(run_id, after=(token, seq), limit=_PAGE)
            if not page or page[0].token != token:
                raise _removed(run_id)
            for chunk in page:
                if chunk.token == token and chunk.stream == "stdout":
                    yield chunk.data
            seq = page[-1].seq if page[-1].token == token else last.seq
        # Retention removes the beginning first: if that is still there, nothing is missing.
        first = (await self._runs.log_summary(run_id, token)).first
        if first is None or first.seq > 0:
            raise _removed(run_id)


def _removed(run_id: RunId) -> InputsUnavailable:
    hint = "Raise retention for logs, or run the job again."
    return InputsUnavailable(f"the output of run {run_id} has been removed", hint=hint)
