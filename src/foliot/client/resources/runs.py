"""Runs by HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from typing import Final, TypedDict, Unpack

import msgspec

from foliot.client.request import build_path
from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.domain.input.timing import Span, millis
from foliot.domain.instant import SECOND
from foliot.domain.run.run import Status
from foliot.domain.tree.run_kind import RunKind
from foliot.errors import InvalidInput, WaitTimeout
from foliot.service.answers import Cancelled, LogPage, LogPiece, MarkedRun, Page
from foliot.service.path import Path
from foliot.service.queries.run_view import AttemptView, RunView
from foliot.service.queries.runs import RunPage

_END: Final = "end"
_AFTER_ALL_OUTPUT: Final = f"{1 << 62}-1-1"
"""A position after all output: the stream of a log from here has only the end of the run."""


class RunFilters(TypedDict, total=False):
    """Which runs a list has."""

    job_id: str | None
    schedule_id: str | None
    status: Status | str | None
    parent_run_id: str | None
    root_run_id: str | None
    kind: RunKind | str | None
    failed: bool
    since: datetime | None
    children: bool


class _LogLine(msgspec.Struct, frozen=True, kw_only=True):
    at: datetime
    attempt: int
    stream: str
    text: str


class AsyncRuns(Resource):
    """Reads, waits for, follows, cancels and repeats runs."""

    async def get(self, run_id: str) -> RunView:
        """Return a run."""
        return await self._get(RunView, "runs", run_id)

    async def page(
        self, *, limit: int = PAGE, cursor: str | None = None, **filters: Unpack[RunFilters]
    ) -> Page[RunView]:
        """Return some runs, newest first. `cursor` is `next` of the page before."""
        return await self._get(Page[RunView], "runs", limit=limit, cursor=cursor, **filters)

    async def each(self, **filters: Unpack[RunFilters]) -> AsyncIterator[RunView]:
        """Yield all runs, newest first, and read them page by page."""
        async for run in each_item(lambda cursor: self.page(cursor=cursor, **filters)):
            yield run

    async def show(self, run_id: str) -> RunPage:
        """Return everything about a run: why it is in its state, attempts, execution, fanout."""
        return await self._get(RunPage, "runs", run_id, "page")

    async def explain(self, run_id: str) -> Path:
        """Explain a run stage by stage, from its tick to its end."""
        return await self._get(Path, "runs", run_id, "explain")

    async def attempts(self, run_id: str) -> list[AttemptView]:
        """Return the finished attempts of a run, in order."""
        return (await self._get(Page[AttemptView], "runs", run_id, "attempts")).items

    async def children(self, run_id: str, *, limit: int = PAGE, cursor: str | None = None) -> Page[RunView]:
        """Return some children of a run, in the order of their creation."""
        return await self._get(Page[RunView], "runs", run_id, "children", limit=limit, cursor=cursor)

    async def output(self, run_id: str, attempt: int | None = None) -> bytes:
        """Return every byte of the standard output of an attempt, by default of the last one."""
        return await self._get(bytes, "runs", run_id, "output", attempt=attempt)

    async def logs(self, run_id: str) -> AsyncIterator[LogPiece]:
        """Yield what a run has printed so far."""
        after: str | None = None
        while True:
            page = await self._get(LogPage, "runs", run_id, "log", "pieces", after=after, limit=PAGE)
            for piece in page.items:
                yield piece
            after = page.next
            if after is None:
                return

    async def follow(self, run_id: str, after: str | None = None) -> AsyncIterator[LogPiece]:
        """Yield what a run prints, line by line, until it has ended. A lost connection is opened again after the last
        line. `after` is the `id` of a line that was followed before.

        A text without a line break at its end continues in the next piece of the same stream.
        """
        path = build_path("runs", run_id, "log")
        async with aclosing(self._transport.follow(path, after or "")) as frames:
            async for frame in frames:
                if frame.event == _END:
                    return
                line = msgspec.json.decode(frame.data, type=_LogLine)
                yield LogPiece(id=frame.id, **msgspec.structs.asdict(line))

    async def wait(self, run_id: str, timeout: Span | None = None) -> RunView:  # noqa: ASYNC109 - as app.runs.wait
        """Wait until a run has ended, and return it. Raise WaitTimeout after the timeout; the run continues."""
        longest = None if timeout is None else millis(timeout, "timeout") / SECOND
        if longest is not None and longest < 0:
            raise InvalidInput("timeout must not be negative", hint="0 checks once.", field="timeout")
        run = await self.get(run_id)
        if run.status.is_terminal:
            return run
        try:
            async with asyncio.timeout(longest):
                await self._ended(run_id)
        except TimeoutError:
            raise WaitTimeout([run_id], longest or 0) from None
        return await self.get(run_id)

    async def cancel(self, run_id: str) -> Cancelled:
        """Cancel a run: at once if it has not started, otherwise by a request to its worker."""
        return await self._post(Cancelled, "runs", run_id, "cancel")

    async def retry(self, run_id: str, *, failed: bool = False) -> RunView:
        """Start a new run with the payload and the options of a run that has ended. `failed`: of a fanout, repeat only
        the items that did not succeed."""
        return await self._post(RunView, "runs", run_id, "retry", body={"failed": failed})

    async def mark(self, run_id: str) -> MarkedRun:
        """Count a run as a success."""
        return await self._post(MarkedRun, "runs", run_id, "mark")

    async def _ended(self, run_id: str) -> None:
        path = build_path("runs", run_id, "log")
        async with aclosing(self._transport.follow(path, _AFTER_ALL_OUTPUT)) as frames:
            async for frame in frames:
                if frame.event == _END:
                    return
