"""Ticks by HTTP."""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import TypedDict, Unpack

from foliot.client.resources.base import PAGE, Resource, each_item
from foliot.service.answers import Page
from foliot.service.queries.schedule_view import TickView


class TickFilters(TypedDict, total=False):
    """Which ticks a list has."""

    name: str | None
    since: datetime | None
    until: datetime | None
    outcomes: str | None
    failed: bool


class AsyncTicks(Resource):
    """Reads ticks."""

    async def page(
        self, *, limit: int = PAGE, cursor: str | None = None, **filters: Unpack[TickFilters]
    ) -> Page[TickView]:
        """Return some ticks of a job or schedule (`name`) or of all, newest first. `outcomes` are separated by
        commas."""
        return await self._get(Page[TickView], "ticks", limit=limit, cursor=cursor, **filters)

    async def each(self, *, limit: int = PAGE, **filters: Unpack[TickFilters]) -> AsyncIterator[TickView]:
        """Yield all ticks, newest first, and read them in pages of `limit`."""
        async for tick in each_item(lambda cursor: self.page(limit=limit, cursor=cursor, **filters)):
            yield tick
