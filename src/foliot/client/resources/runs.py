"""Runs by HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from typing import Final, TypedDict, Unpack

import msgspec

from foliot.client.request import build_path, given_only
from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.domain.fanout.item_status import ItemStatus
from foliot.domain.input.timing import Span, millis
from foliot.domain.instant import SECOND
from foliot.domain.run.run import Status
from foliot.domain.tree.run_kind import RunKind
from foliot.errors import InvalidInput, WaitTimeout
from foliot.service.answers import (
    Cancelled,
    ItemPage,
    LogPage,
    LogPiece,
    MarkedRun,
    Page,
    StepLogPiece,
    StepNames,
    UnservedQueue,
)
from foliot.service.commands.cancels import CancelledRuns
from foliot.service.path import ExplainedPath
from foliot.service.queries.fanout_view import ItemView
from foliot.service.queries.log_lines import LogLines, LogMatches
from foliot.service.queries.run_view import AttemptView, RunView
from foliot.service.queries.runs import LogEndView, RunPage

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
    until: datetime | None
    statuses: str | None
    """Several, separated by commas, in place of `status`."""
    tag: str | None
    search: str | None
    """The beginning of the id."""
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

    async def find(self, name: str) -> RunView:
        """Return the run with a name: its id, a part of it, `@last`, or `JOB@last`."""
        return await self._get(RunView, "find", "run", name=name)

    async def show(self, run_id: str) -> RunPage:
        """Return everything about a run: why it is in its state, attempts, execution, fanout."""
        return await self._get(RunPage, "runs", run_id, "page")

    async def explain(self, run_id: str) -> ExplainedPath:
        """Explain a run stage by stage, from its tick to its end."""
        return await self._get(ExplainedPath, "runs", run_id, "explain")

    async def attempts(self, run_id: str) -> list[AttemptView]:
        """Return the finished attempts of a run, in order."""
        return (await self._get(Page[AttemptView], "runs", run_id, "attempts")).items

    async def children(self, run_id: str, *, limit: int = PAGE, cursor: str | None = None) -> Page[RunView]:
        """Return some children of a run, in the order of their creation."""
        return await self._get(Page[RunView], "runs", run_id, "children", limit=limit, cursor=cursor)

    async def items(
        self,
        run_id: str,
        *,
        after: int | None = None,
        failed: bool = False,
        status: ItemStatus | str | None = None,
        pattern: str | None = None,
        limit: int = PAGE,
    ) -> ItemPage:
        """Return some items of a fanout in their order, those after an index. `failed`: those that did not succeed.
        `status`: those with this status. `pattern`: those whose text matches."""
        return await self._get(
            ItemPage,
            "runs",
            run_id,
            "items",
            after=after,
            failed=failed,
            status=status,
            pattern=pattern,
            limit=limit,
        )

    async def item(self, run_id: str, item: str) -> ItemView:
        """Return an item of a fanout, given by its index or its exact text."""
        return await self._get(ItemView, "runs", run_id, "item", item=item)

    async def unserved_queue(self, run_id: str) -> str | None:
        """Return the queue of a run, if no worker of that queue is alive."""
        return (await self._get(UnservedQueue, "runs", run_id, "unserved-queue")).queue

    async def step_names(self, run_id: str) -> list[str] | None:
        """Return the names of the steps of the execution or the chain that a run is. None: it is neither."""
        return (await self._get(StepNames, "runs", run_id, "step-names")).steps

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

    async def log_lines(self, run_id: str, *, first: int | None = None, limit: int = 100) -> LogLines:
        """Return lines of what a run has printed, from the line `first` on, by default the last ones."""
        return await self._get(LogLines, "runs", run_id, "log", "lines", first=first, limit=limit)

    async def search_log(self, run_id: str, text: str | None = None, *, first: int = 1, limit: int = 100) -> LogMatches:
        """Return lines that contain a text, by default lines that look like errors. Continue with `next` as `first`."""
        return await self._get(LogMatches, "runs", run_id, "log", "search", text=text, first=first, limit=limit)

    async def log_page(
        self, run_id: str, *, after: str | None = None, tail: int | None = None, limit: int = PAGE
    ) -> LogPage:
        """Return some pieces of the output of a run, those after the piece with an id, or the last ones (`tail`)."""
        return await self._get(LogPage, "runs", run_id, "log", "pieces", after=after, tail=tail, limit=limit)

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

    async def pieces(self, run_id: str, after: str | None = None) -> AsyncIterator[LogPiece | LogEndView]:
        """Yield every piece that a run prints until it has ended, with all bytes, and last how its log ends. `after` is
        the `id` of a piece."""
        path = build_path("runs", run_id, "log", "pieces", "stream")
        async with aclosing(self._transport.follow(path, after or "")) as frames:
            async for frame in frames:
                if frame.event == _END:
                    yield msgspec.json.decode(frame.data, type=LogEndView)
                    return
                yield msgspec.json.decode(frame.data, type=LogPiece)

    async def step_pieces(self, run_id: str, *, follow: bool = True) -> AsyncIterator[StepLogPiece | LogEndView]:
        """Yield every piece that the steps of an execution or a chain print until it has ended, and last whether more
        may follow. Pieces are repeated if the connection was lost: their ids grow with each run. `follow`: false ends
        after the output so far."""
        path = build_path("runs", run_id, "log", "steps", follow="true" if follow else "false")
        async with aclosing(self._transport.follow(path)) as frames:
            async for frame in frames:
                if frame.event == _END:
                    yield msgspec.json.decode(frame.data, type=LogEndView)
                    return
                yield msgspec.json.decode(frame.data, type=StepLogPiece)

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

    async def cancel_all(
        self, job: str | None = None, *, status: str | None = None, confirm: bool = False
    ) -> CancelledRuns:
        """Cancel the runs of a job, or of all jobs, that have not ended: at most 1,000 in one call. `status`: only
        those that are scheduled, queued or running. Without `confirm`, the error says how many runs it would cancel."""
        body = given_only(job_id=job, status=status, confirm=confirm)
        return await self._post(CancelledRuns, "runs", "cancel-all", body=body)

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
