"""Queries about fanouts and their items."""

from collections.abc import AsyncIterator
from typing import Final

from foliot.domain.fanout.item_status import ItemStatus
from foliot.domain.fanout.result import PAGE, ItemResult, ResultQuery, result_of
from foliot.domain.ids import RunId
from foliot.domain.run.reference import RunById
from foliot.domain.run.run import Run
from foliot.domain.tree.run_kind import FanoutRole, role_of
from foliot.errors import FoliotError, InvalidInput, NotFound
from foliot.ports.clock import Clock
from foliot.ports.fanouts import ItemFilter, ItemsPage
from foliot.ports.pages import Matches
from foliot.ports.storage import Storage
from foliot.service.paging import check_limit
from foliot.service.queries.fanout_view import FanoutItemsView, FanoutView, ItemView, view_fanout, view_items

MAX_PATTERN: Final = 200
"""The most characters of a pattern. Reading a long one with many brackets would take seconds."""


class FanoutQueries:
    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._queries = storage.queries
        self._items = storage.items
        self._clock = clock

    async def progress(self, run_id: str) -> FanoutView | None:
        """Return how far a fanout has come. None: it was not opened, or is no fanout."""
        found = await self._queries.run(RunById(RunId(run_id)))
        if isinstance(found, Matches):
            raise NotFound("run", run_id)
        return None if found.fanout is None else view_fanout(found.fanout, found.run, self._clock.now())

    async def items(
        self,
        run_id: str,
        *,
        after: int | None = None,
        failed: bool = False,
        status: ItemStatus | None = None,
        pattern: str | None = None,
        limit: int = 100,
    ) -> FanoutItemsView:
        """Return items of a fanout in their order, 1 to 10,000 of them, beginning after an index.

        `failed`: those that failed, timed out or were cancelled. `status`: those with this status, in place of
        `failed`. `pattern`: those whose text matches it, with the wildcards * ? and [...].
        """
        check_limit(limit)
        if pattern is not None and len(pattern) > MAX_PATTERN:
            raise InvalidInput(
                f"a pattern for items has at most {MAX_PATTERN} characters",
                hint="Use a shorter one, for example with * for a part of it.",
                field="pattern",
            )
        begin = -1 if after is None else after
        only = ItemFilter(after=begin, failed=failed, status=status, pattern=pattern, limit=limit)
        return view_items(await self._page(run_id, only))

    async def results(
        self, run_id: str, *, after: int | None = None, failed: bool = False, limit: int = 100
    ) -> list[ItemResult]:
        """Return the results of items that have ended, in their order, beginning after an index. A page ends early when
        its items and outputs are large; an empty page is the last one."""
        check_limit(limit)
        query = ResultQuery(after=-1 if after is None else after, limit=min(limit, PAGE), failed=failed)
        found = await self._items.results(RunId(run_id), query)
        if not found and after is None:
            await self._page(run_id, ItemFilter(limit=1))
        return [result_of(child) for child in found]

    async def item(self, run_id: str, item: str) -> ItemView:
        """Return an item of a fanout, given by its index or its exact text. A number is an index, if there is one."""
        page = await self._page(run_id, ItemFilter(limit=1))
        index = int(item) if item.isdecimal() else None
        if index is not None and index < page.record.body.items:
            page = await self._page(run_id, ItemFilter(after=index - 1, limit=1))
            return view_items(page).items[0]
        async for found in self._with_text(run_id, item):
            return found
        raise InvalidInput(
            f"fanout {run_id} has no item {item[:64]!a}",
            hint=f"Give an index from 0, or the exact text. List them with: foliot show {run_id} --items '*'",
        )

    async def _with_text(self, run_id: str, text: str) -> AsyncIterator[ItemView]:
        only: ItemFilter | None = ItemFilter(text=text, limit=1)
        while only is not None:
            page = await self._page(run_id, only)
            for found in view_items(page).items:
                yield found
            only = None if page.next is None else only._replace(after=page.next)

    async def _page(self, run_id: str, only: ItemFilter) -> ItemsPage:
        page = await self._queries.fanout_items(RunId(run_id), only)
        if page is None:
            found = await self._queries.get_runs([RunId(run_id)])
            raise self.no_items(found[RunId(run_id)]) if RunId(run_id) in found else NotFound("run", run_id)
        return page

    @staticmethod
    def no_items(run: Run) -> FoliotError:
        """Return the error for a run without items."""
        if role_of(run) is not FanoutRole.PARENT:
            return InvalidInput(
                f'run {run.id} of job "{run.job_id}" is not a fanout',
                hint="List fanouts with: foliot runs --kind fanout",
            )
        return FoliotError(f"fanout {run.id} has no items: {run.status}", hint=f"See: foliot show {run.id}")
