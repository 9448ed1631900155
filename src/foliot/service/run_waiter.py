"""Waits until runs have ended. It only reads the storage, so any process may execute the runs."""

from collections.abc import Mapping, Sequence
from typing import Final

from foliot.domain.ids import JobId, RunId
from foliot.domain.input.timing import Span, millis
from foliot.domain.instant import SECOND, Millis
from foliot.domain.run.run import BEGUN, Run
from foliot.errors import InvalidInput, NotFound, WaitTimeout, shown
from foliot.ports.clock import Clock
from foliot.ports.pages import RunFilter
from foliot.ports.storage import Storage
from foliot.service.event_reader import EventReader, RunWatch

_MOST: Final = 10_000


class RunWaiter:
    """Waits for runs that have started, alone or as steps of a workflow."""

    def __init__(self, storage: Storage, clock: Clock, events: EventReader) -> None:
        self._storage = storage
        self._clock = clock
        self._events = events

    async def is_running(self, job_id: JobId) -> bool:
        """Return whether a worker is running the job. Runs that wait for a slot or for a retry do not count."""
        for status in BEGUN:
            if await self._storage.queries.page_runs(RunFilter(job_id=job_id, status=status, limit=1)):
                return True
        return False

    async def job_ended(self, job_id: JobId, *, timeout: Span | None = None) -> list[Run]:  # noqa: ASYNC109
        """Return the runs of the job that are running now, oldest first, when all of them have ended.

        Runs that start meanwhile are not waited for. A run that is retried ends with its last attempt.
        """
        pages = [
            await self._storage.queries.page_runs(RunFilter(job_id=job_id, status=one, limit=_MOST)) for one in BEGUN
        ]
        return await self.ended(*sorted(run.id for page in pages for run in page), timeout=timeout)

    # `asyncio.timeout` around the call would cancel it in the middle of a read from the storage.
    async def ended(self, *run_ids: RunId, timeout: Span | None = None) -> list[Run]:  # noqa: ASYNC109
        """Return the runs when all of them have ended. Raise WaitTimeout if that takes longer."""
        longest, begun = _longest(timeout), self._clock.elapsed()
        found = await self._read(run_ids)
        if pending := _pending(found):
            async with self._events.watching(pending) as watch:
                while True:
                    watch.clear()
                    found |= await self._read(pending)
                    pending = _pending(found)
                    if not pending:
                        break
                    await _wait(watch, pending, longest, Millis(self._clock.elapsed() - begun))
        return [found[run_id] for run_id in run_ids]

    async def _read(self, run_ids: Sequence[RunId]) -> dict[RunId, Run]:
        found = await self._storage.queries.get_runs(run_ids)
        gone = [run_id for run_id in run_ids if run_id not in found]
        if gone:
            raise NotFound("run", gone[0])
        return dict(found)


def _pending(runs: Mapping[RunId, Run]) -> list[RunId]:
    return [run_id for run_id, run in runs.items() if not run.status.is_terminal]


async def _wait(watch: RunWatch, pending: Sequence[RunId], longest: Millis | None, waited: Millis) -> None:
    if longest is None:
        await watch.wait()
    elif waited < longest:
        await watch.wait(Millis(longest - waited))
    else:
        raise WaitTimeout(pending, longest / SECOND)


def _longest(timeout: Span | None) -> Millis | None:
    longest = None if timeout is None else millis(timeout, "timeout")
    if longest is not None and longest < 0:
        raise InvalidInput(
            f"timeout must not be negative, not {shown(timeout)}",
            hint="0 checks once; None waits without limit.",
            field="timeout",
        )
    return longest
