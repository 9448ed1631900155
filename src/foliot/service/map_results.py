"""Yields the results of a fanout while its children end. It only reads the storage, so any process may execute them.

One read finds what has ended, for all children together. Between two reads it waits until the storage signals that
children have ended.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec

from foliot.domain.fanout.result import PAGE, ChildResult, ItemResult, ResultQuery, result_of
from foliot.domain.ids import RunId
from foliot.domain.run.run import Run, Status
from foliot.errors import InvalidRun, NotFound
from foliot.ports.storage import Storage
from foliot.ports.topic import Topic
from foliot.service.event_reader import EventReader, RunWatch


@dataclass(slots=True)
class OpenResults:
    """A fanout whose results are being read."""

    storage: Storage
    watch: RunWatch
    run_id: RunId
    count: int
    """The number of items."""
    ended: Run | None = None
    """The fanout, after it has ended: then no other child will start."""

    async def read(self, query: ResultQuery) -> list[ChildResult]:
        return await self.storage.items.results(self.run_id, query)

    async def wait(self) -> None:
        """Wait until more children may have ended since the last call, or notice that the fanout has ended."""
        run = await _run(self.storage, self.run_id)
        if run.status.is_terminal:
            self.ended = run
            return
        await self.watch.wait()
        self.watch.clear()

    async def unstarted(self, indices: Collection[int]) -> AsyncIterator[ItemResult]:
        """Yield the results of items whose runs were never created, in order."""
        run = self.ended
        if run is None or not (run.status in (Status.CANCELLED, Status.TIMEOUT) or run.output is None):
            hint = "The retention of runs removes a fanout with its children: see [retention] in the configuration."
            raise InvalidRun(f"some results of run {self.run_id} have been removed", hint=hint)
        pending = list(indices)
        while pending:
            first = pending[0]
            documents = await self.storage.items.read(self.run_id, first, PAGE)
            stop = first + len(documents) if documents else self.count
            for index in pending:
                if index >= stop:
                    break
                item = msgspec.json.decode(documents[index - first]) if documents else None
                error = run.error or "the fanout ended before this item started"
                yield ItemResult(index=index, item=item, status=Status.CANCELLED, error=error)
            pending = [index for index in pending if index >= stop]


@asynccontextmanager
async def open_results(storage: Storage, events: EventReader, run_id: RunId) -> AsyncIterator[OpenResults]:
    """Raise NotFound if the run does not exist, and InvalidRun if it has no items."""
    await _run(storage, run_id)
    count = await storage.items.count(run_id)
    if count is None:
        raise InvalidRun(
            f"run {run_id} has no items",
            hint="Give the id of a fanout that has started, such as the run_id of app.start_map.",
            field="run_id",
        )
    async with events.watching([run_id], Topic.NOTES) as watch:
        yield OpenResults(storage, watch, run_id, count)


async def in_order(known: OpenResults) -> AsyncIterator[ItemResult]:
    following, limit = 0, PAGE
    while following < known.count:
        page = await known.read(ResultQuery(after=following - 1, limit=limit))
        ready = [child for nth, child in enumerate(page) if child.index == following + nth]
        for child in ready:
            yield result_of(child)
        following += len(ready)
        # While the next item is running, results of later ones need not be read again and again.
        limit = PAGE if ready else 1
        if ready:
            continue
        if known.ended is None:
            await known.wait()
            continue
        stop = page[0].index if page else known.count
        async for result in known.unstarted(range(following, stop)):
            yield result
        following = stop


async def as_they_come(known: OpenResults) -> AsyncIterator[ItemResult]:
    # `following` is the index after the last item that was yielded, `skipped` has the items before it that have not
    # ended. These are open children, so a window of the fanout limits their number.
    following, skipped = 0, set[int]()
    while following < known.count or skipped:
        page = await known.read(ResultQuery(only=tuple(sorted(skipped)))) if skipped else []
        page += await known.read(ResultQuery(after=following - 1))
        for child in page:
            skipped.update(range(following, child.index))
            skipped.discard(child.index)
            following = max(following, child.index + 1)
            yield result_of(child)
        if page:
            continue
        if known.ended is None:
            await known.wait()
            continue
        async for result in known.unstarted([*sorted(skipped), *range(following, known.count)]):
            yield result
        return


async def _run(storage: Storage, run_id: RunId) -> Run:
    found = await storage.queries.get_runs([run_id])
    if run_id not in found:
        raise NotFound("run", run_id)
    return found[run_id]
